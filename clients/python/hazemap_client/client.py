"""The client: where a session with a server begins."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Self, Unpack

from hazemap_client import calls, datasets
from hazemap_client.connection import Connection, File, token_of
from hazemap_client.datasets import Dataset, NewDataset
from hazemap_client.numbers import Number
from hazemap_client.releases import Release
from hazemap_client.uploads import Upload


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A way to make a release."""

    component: ClassVar = "MechanismOut"
    name: str
    title: str
    summary: str
    kind: str
    relations: tuple[str, ...]
    trust: str
    max_resolution: int
    usual_delta: str
    parameters: tuple[Mapping[str, Any], ...]


class Client:
    """A session with a Hazemap server; `with Client("https://…") as client`.

    token: without one that of the variable HAZEMAP_TOKEN; without either, public releases can be read.
    timeout_s: of a step on the network. allow_http: send the token unencrypted, to a server that is not this
    machine. ca_file: the authorities that your server's certificate comes from, instead of the usual ones.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60.0,
        allow_http: bool = False,
        ca_file: File | None = None,
    ) -> None:
        hidden = token_of(token)
        del token  # a traceback may show what a frame holds
        if hidden is not None and not hidden.is_plain:
            raise ValueError("token is not allowed; allowed: the letters and digits that were shown once")
        self._connection = Connection(
            url, hidden, timeout_s=timeout_s, allow_http=allow_http, ca_file=ca_file
        )

    def __repr__(self) -> str:
        # A traceback may show one that could not be made.
        return f"Client({getattr(self, '_connection', None)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def mechanisms(self) -> Iterator[Mechanism]:
        """Ways to make a release, in the order in which the pages offer them."""
        return self._connection.rows(calls.LIST_MECHANISMS, Mechanism)

    def datasets(self, *, search: str | None = None) -> Iterator[Dataset]:
        """Your datasets. search: words of the title or the address."""
        return self._connection.rows(calls.LIST_DATASETS, Dataset, query={"search": search})

    def dataset(self, slug: str) -> Dataset:
        """One dataset, by the name in its address."""
        return self._connection.one(calls.READ_DATASET, Dataset, slug=slug)

    def create_dataset(
        self,
        slug: str,
        *,
        title: str,
        bbox: tuple[float, float, float, float],
        relation: str,
        limits: Mapping[str, Number | None],
        **more: Unpack[NewDataset],
    ) -> Dataset:
        """Make a dataset; you become its steward. Region, relation and radius stay as they are for good.

        bbox: west, south, east, north in degrees, chosen without looking at the data. relation: `add_remove`
        (limits: presence, delta) or `replace` (limits: record, radius, delta; `persons` and `radius_m`).
        """
        facts = {"slug": slug, "title": title, "bbox": list(bbox), "relation": relation, **more}
        return datasets.created(self._connection, limits, facts)

    def release(self, release_id: str) -> Release:
        """One release; a public one needs no token."""
        return self._connection.one(calls.READ_RELEASE, Release, release_id=release_id)

    def upload(self, upload_id: str) -> Upload:
        """One upload. For stewards."""
        return self._connection.one(calls.READ_UPLOAD, Upload, upload_id=upload_id)
