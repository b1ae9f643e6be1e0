"""Datasets: what is sent to them, asked of them and kept about them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Required, TypedDict, Unpack
from uuid import uuid4

from hazemap_client import calls, markup, uploads
from hazemap_client.budget import Budget, Event
from hazemap_client.components import Component, Resource
from hazemap_client.connection import File
from hazemap_client.errors import HazemapError
from hazemap_client.numbers import Number
from hazemap_client.questions import NamedQuestion, Quote, QuotedQuestion, body_of
from hazemap_client.releases import Release
from hazemap_client.uploads import Progress, Reading, Rows, Upload


class NewDataset(TypedDict, total=False):
    """Holds public facts of a dataset. Region, relation and radius stay as they are for good."""

    title: Required[str]
    bbox: Required[tuple[float, float, float, float]]  # west, south, east, north, in degrees
    relation: Required[str]  # add_remove or replace
    limits: Required[Mapping[str, Number | None]]  # presence or record, radius; delta
    persons: int  # `replace`: everyone enrolled
    radius_m: int  # `replace`: of the radius account
    expected_persons: int  # `add_remove`: a public guess
    schedule: Mapping[str, str | int]
    retention_days: int
    row_capacity: int
    source: str  # a table in a lake, where check-ins stay


class Version(Component):
    """Describes a data version; a release reads the one that was the latest when it was asked for."""

    number: int
    created_at: datetime
    scheduled: bool
    kept_from: str | None


class Survey(Component):
    """Follows a data version of check-ins that stay in a lake: a worker looks at the table first."""

    state: str
    appears_at: datetime | None  # nothing: it failed
    failure: str


class Dataset(Resource):
    """Holds public facts of a dataset that you are a member of."""

    slug: str
    title: str
    bbox: tuple[float, ...]
    relation: str
    persons: int | None
    radius_m: int | None
    expected_persons: int | None
    is_demo: bool
    version: int | None
    next_version_at: datetime | None
    retention_days: int | None
    row_capacity: int
    source: str | None
    slot_seconds: float
    roles: tuple[str, ...]

    def upload(
        self, source: File | BinaryIO | Rows, *, progress: Progress = uploads.show, **reading: Unpack[Reading]
    ) -> Upload:
        """Sends a file (CSV, NDJSON, Parquet, SNAP; gzip or not), a binary stream, or check-ins as mappings.

        progress: a function of the bytes sent and of all; without one, terminals and notebooks show a line.
        """
        return uploads.send(self.connection, self.slug, source, progress=progress, reading=reading)

    def uploads(self, *, state: str | None = None) -> Iterator[Upload]:
        """Lists its uploads, latest first. For stewards."""
        return self.connection.rows(calls.LIST_UPLOADS, Upload, query={"state": state}, slug=self.slug)

    def versions(self) -> Iterator[Version]:
        """Lists data versions, latest first."""
        return self.connection.rows(calls.LIST_VERSIONS, Version, slug=self.slug)

    def advance(self) -> Version | Survey:
        """Makes a new data version of every upload that is ready, or in a while of a table in a lake.

        For stewards.
        """
        kind: type[Version | Survey] = Survey if self.source else Version
        return self.connection.load(calls.ADVANCE_VERSION, kind, slug=self.slug)

    def quote(self, **question: Unpack[QuotedQuestion]) -> Quote:
        """Returns what a release would cost, and how good it would be. Free: nothing is spent or read."""
        return self.connection.load(calls.QUOTE, Quote, body=body_of(question), slug=self.slug)

    def release(self, *, idempotency_key: str | None = None, **question: Unpack[NamedQuestion]) -> Release:
        """Asks for a release: its cost is taken at once. The same key and question never pay twice, so that
        a lost answer is asked for again by itself; without one, a new key is made.

        Errors have the key as `idempotency_key`.
        """
        key = idempotency_key or uuid4().hex
        body, headers, slug = body_of(question), {"Idempotency-Key": key}, self.slug
        try:
            return self.connection.load(calls.ASK_RELEASE, Release, body=body, headers=headers, slug=slug)
        except HazemapError as error:
            error.idempotency_key = key
            if error.is_passing:
                error.add_note(f"Ask again with idempotency_key={key!r}: it is never paid twice.")
            raise

    def releases(self) -> Iterator[Release]:
        """Lists its releases, latest first."""
        return self.connection.rows(calls.LIST_RELEASES, Release, slug=self.slug)

    def budget(self) -> Budget:
        """Returns limit, spent and left of each account."""
        return self.connection.load(calls.READ_BUDGET, Budget, slug=self.slug)

    def events(self, **only: str) -> Iterator[Event]:
        """Lists events of its ledger, oldest first. only: of a kind, person or day."""
        return self.connection.rows(calls.LIST_EVENTS, Event, query=only, slug=self.slug)

    def save_ledger(self, path: File) -> Path:
        """Saves the whole ledger as the path's suffix says: json or csv."""
        return self.connection.save(calls.READ_LEDGER, path, slug=self.slug)

    def _repr_html_(self) -> str:
        facts = {
            "address": self.slug,
            "west, south, east, north": self.bbox,
            "relation": self.relation,
            "people enrolled": self.persons,
            "people expected, a public guess": self.expected_persons,
            "radius in metres": self.radius_m,
            "data version": self.version,
            "your roles": self.roles,
        }
        return markup.table([fact for fact in facts.items() if fact[1] is not None], caption=self.title)
