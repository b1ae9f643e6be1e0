"""Datasets: what is sent to them, asked of them and kept about them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self, TypedDict, Unpack

from hazemap_client import budget, calls, markup, uploads
from hazemap_client.budget import Budget, Event
from hazemap_client.connection import Connection, File
from hazemap_client.decoding import LOCAL
from hazemap_client.errors import HazemapError, Refusal
from hazemap_client.numbers import Number, written
from hazemap_client.progress import Progress
from hazemap_client.questions import Question, Quote, body_of
from hazemap_client.releases import Release
from hazemap_client.uploads import Upload


class NewDataset(TypedDict, total=False):
    """Public facts that may be left out when a dataset is made."""

    persons: int  # `replace`: everyone enrolled
    radius_m: int  # `replace`: of the radius account
    expected_persons: int  # `add_remove`: a public guess
    schedule: Mapping[str, str | int]
    retention_days: int
    row_capacity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A data version; a release reads the one that was the latest when it was asked for."""

    component: ClassVar = "VersionOut"
    number: int
    created_at: datetime
    scheduled: bool
    kept_from: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Public facts of a dataset that you are a member of."""

    component: ClassVar = "DatasetOut"
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
    slot_seconds: float
    roles: tuple[str, ...]
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)

    def refresh(self) -> Self:
        """The dataset as it is now."""
        return self.connection.one(calls.READ_DATASET, type(self), slug=self.slug)

    def upload(
        self,
        source: File | BinaryIO | Iterable[Mapping[str, object]],
        *,
        advance: bool = True,
        progress: Progress | None = None,
        columns: str | None = None,
        time_zone: str | None = None,
        max_rejected: Number | None = None,
    ) -> Upload:
        """Send a file (CSV, NDJSON, Parquet or SNAP, gzip or not), a binary stream, or check-ins as mappings.

        advance: make them available in a new data version once they are stored. progress: a function of the
        bytes sent and of all; without one, terminals and notebooks show a line.
        """
        is_file = isinstance(source, str | os.PathLike) or hasattr(source, "read")
        if not is_file:
            return uploads.send_rows(self.connection, self.slug, source, advance=advance)  # type: ignore[arg-type]
        return uploads.send_file(
            self.connection, self.slug, source,  # type: ignore[arg-type]
            progress=progress, advance=advance, columns=columns, time_zone=time_zone,
            max_rejected=None if max_rejected is None else written(max_rejected),
        )  # fmt: skip

    def uploads(self, *, state: str | None = None) -> Iterator[Upload]:
        """Your uploads, latest first. For stewards."""
        return self.connection.rows(calls.LIST_UPLOADS, Upload, query={"state": state}, slug=self.slug)

    def versions(self) -> Iterator[Version]:
        """Data versions, latest first."""
        return self._rows(calls.LIST_VERSIONS, Version)

    def advance(self) -> Version:
        """Make a new data version of every upload that is ready. For stewards."""
        return self.connection.one(calls.ADVANCE_VERSION, Version, slug=self.slug)

    def quote(self, *, error_m: Number | None = None, **question: Unpack[Question]) -> Quote:
        """What a release would cost, and how good it would be. Free: nothing is spent or read.

        error_m: instead of `epsilon`, the error in metres that is wished; the least ε for it is quoted.
        """
        body = body_of({**question, "error_m": error_m})
        return self.connection.one(calls.QUOTE, Quote, body=body, slug=self.slug)

    def release(
        self,
        *,
        name: str | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
        **question: Unpack[Question],
    ) -> Release:
        """Ask for a release: its cost is taken at once. The same key and question never pay twice, so that
        a lost answer is asked for again by itself; without one, a new key is made.

        Errors have the key as `idempotency_key`.
        """
        key = idempotency_key or uploads.new_key()
        body = body_of({**question, "name": name, "note": note})
        headers = {"Idempotency-Key": key}
        try:
            return self.connection.one(calls.ASK_RELEASE, Release, body=body, headers=headers, slug=self.slug)
        except HazemapError as error:
            error.idempotency_key = key
            if not isinstance(error, Refusal) or error.is_passing:
                error.add_note(
                    f"It may exist. Ask again with idempotency_key={key!r}: that never pays twice."
                )
            raise

    def releases(self) -> Iterator[Release]:
        """Its releases, latest first."""
        return self._rows(calls.LIST_RELEASES, Release)

    def budget(self) -> Budget:
        """Limit, spent and left of each account."""
        return budget.read(self.connection, self.slug)

    def events(
        self, *, kind: str | None = None, person: str | None = None, day: str | None = None
    ) -> Iterator[Event]:
        """Events of its ledger, oldest first."""
        query = {"kind": kind, "person": person, "day": day}
        return self.connection.rows(calls.LIST_EVENTS, Event, query=query, slug=self.slug)

    def save_ledger(self, path: File) -> Path:
        """Save the whole ledger as the path's suffix says: json or csv."""
        to = Path(path)
        suffix = to.suffix.removeprefix(".")
        return self.connection.save(calls.READ_LEDGER, to, slug=self.slug, suffix=suffix)

    def _rows(self, call: calls.Call, kind: Any) -> Iterator[Any]:
        return self.connection.rows(call, kind, slug=self.slug)

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
        return markup.card(self.title, {name: value for name, value in facts.items() if value is not None})


def created(
    connection: Connection,
    limits: Mapping[str, Number | None],
    facts: Mapping[str, Any],
) -> Dataset:
    """Makes a dataset. Errors: `InvalidRequest`."""
    exact = {name: None if value is None else written(value) for name, value in limits.items()}
    return connection.one(calls.CREATE_DATASET, Dataset, body={**facts, "limits": exact})
