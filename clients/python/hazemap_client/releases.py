"""Releases: from the question to what was published of it."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, Final, Self

from hazemap_client import calls, markup
from hazemap_client.areas import Areas, DistrictFile
from hazemap_client.connection import Connection
from hazemap_client.decoding import LOCAL
from hazemap_client.errors import HazemapError, NotPublished, WaitedTooLong
from hazemap_client.numbers import Exact
from hazemap_client.questions import Charge, ExpectedError
from hazemap_client.results import Results

_POLLS_S: Final = (0.25, 10.0)  # past its moment: from one to the other, twice as long each time
_LONGEST_SLEEP_S: Final = 3600.0  # a clock may be set meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of a published release by suffix, under the name of its kind of result."""

    component: ClassVar = "ReleaseLinksOut"
    heatmap: Mapping[str, str] | None = None
    point: Mapping[str, str] | None = None
    zones: Mapping[str, str] | None = None
    distances: Mapping[str, str] | None = None

    @property
    def stem(self) -> str | None:
        """The kind's name; nothing before it is published."""
        return next((one.name for one in fields(self) if getattr(self, one.name) is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Results):
    """What was asked for, what it cost, and when its result appears."""

    component: ClassVar = "ReleaseOut"
    id: str
    state: str
    title: str
    name: str
    note: str
    mechanism: str
    epsilon: Exact
    delta: Exact
    resolution: int | None
    parameters: Mapping[str, Any]
    data_slice: Mapping[str, Any]  # since, until, rectangle
    version: int
    guarantee: Mapping[str, Any]  # exact numbers as texts, "p/q" or "inf"
    distance: str
    charges: tuple[Charge, ...]
    expected_error: ExpectedError | None
    public: bool
    requested_at: datetime
    starts_at: datetime
    visible_at: datetime
    late: int
    expires_at: datetime | None
    links: Files
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)

    def refresh(self) -> Self:
        """The release as it is now."""
        return self._asked(calls.READ_RELEASE)

    def wait(self, *, timeout_s: float | None = None) -> Self:
        """The release, once its outcome is public: published, cancelled or no_result.

        Sleeps until `visible_at`, which is known from the start; asks from then on.
        Errors: `WaitedTooLong`.
        """
        found, began, (pause, longest) = self, time.monotonic(), _POLLS_S
        while found.state == "queued":
            ahead = self.connection.seconds_until(found.visible_at)
            left = None if timeout_s is None else timeout_s - (time.monotonic() - began)
            if left is not None and left <= 0:
                raise WaitedTooLong(
                    f"Not visible after {timeout_s:g} s; due at {found.visible_at.isoformat()}."
                )
            time.sleep(min(max(ahead, pause), _LONGEST_SLEEP_S, left or _LONGEST_SLEEP_S))
            pause, found = _POLLS_S[0] if ahead > pause else min(2 * pause, longest), found.refresh()
        return found

    def cancel(self) -> Self:
        """Cancel it before `starts_at`: its charge comes back."""
        return self._asked(calls.CANCEL_RELEASE)

    def rename(self, *, name: str | None = None, note: str | None = None) -> Self:
        """Give it another name or note, which members read; what is left out stays."""
        given = {"name": name, "note": note}
        return self._asked(calls.NAME_RELEASE, {key: text for key, text in given.items() if text is not None})

    def publish(self, *, public: bool = True) -> Self:
        """Show it to everybody, or hide it again. For stewards."""
        return self._asked(calls.CHANGE_RELEASE, {"public": public})

    def district_files(self) -> Iterator[DistrictFile]:
        """The stored districts in which a map can be added up."""
        return self.connection.rows(calls.LIST_DISTRICTS, DistrictFile, release_id=self.id)

    def people_in(self, areas: Any) -> Areas:
        """Add a published map up, free of charge, in a `DistrictFile` or in polygons of your own: GeoJSON, or
        what has a `__geo_interface__`. Every number has its error."""
        if isinstance(areas, DistrictFile):
            query = {"districts": areas.id}
            return self.connection.one(calls.SUM_DISTRICTS, Areas, query=query, release_id=self.id)
        shape = getattr(areas, "__geo_interface__", areas)
        return self.connection.one(calls.SUM_AREAS, Areas, body=shape, release_id=self.id)

    @property
    def stem(self) -> str:
        """How its files begin: heatmap, point, zones or distances. Errors: `NotPublished`."""
        if self.links.stem is None:
            raise NotPublished(self._why_not())
        return self.links.stem

    def sentence(self) -> str:
        """What it costs, and how far it may be off."""
        costs = ", ".join(f"{one.account} {markup.bound(one.amount)}" for one in self.charges)
        charged = f" (charged: {costs})" if costs else ""
        error = f"; expected error {self.expected_error}" if self.expected_error else ""
        return f"ε = {self.epsilon}, δ = {self.delta}{charged}{error}."

    def _repr_html_(self) -> str:
        if self.links.stem is None:
            return markup.paragraphs((self.title, self.sentence(), self._why_not()))
        try:
            drawn = markup.picture(self.png(), alt=f"{self.title}. {self.sentence()}")
            said = self._first_statement()
        except HazemapError as error:
            drawn, said = "", [str(error)]
        return drawn + markup.paragraphs((self.title, self.sentence(), *map(str, said)))

    def _first_statement(self) -> list[str]:
        found = self.sheet().get("statements")
        return found[:1] if isinstance(found, list) else []

    def _why_not(self) -> str:
        if self.state == "queued":
            return f"Queued: its outcome is public at {self.visible_at.isoformat(timespec='seconds')}."
        return f"It has no result: {self.state}."

    def _asked(self, call: calls.Call, body: object = None) -> Self:
        return self.connection.one(call, type(self), body=body, release_id=self.id)
