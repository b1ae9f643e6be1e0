"""Begins a session with a server."""

from collections.abc import Iterator
from typing import Unpack

from hazemap_client import calls
from hazemap_client.connection import Connection
from hazemap_client.datasets import Dataset, NewDataset
from hazemap_client.numbers import amounts
from hazemap_client.questions import Mechanism
from hazemap_client.releases import Release


class Client(Connection):
    """Opens a session with a Hazemap server; `with Client("https://…") as client`.

    token: without one that of the variable HAZEMAP_TOKEN; without either, public releases can be read.
    timeout_s: of a step on the network. allow_http: send the token unencrypted, to a server that is not this
    machine. ca_file: the authorities that your server's certificate comes from, instead of the usual ones.
    """

    def mechanisms(self) -> Iterator[Mechanism]:
        """Lists ways to make a release, in the order in which the pages offer them."""
        return self.rows(calls.LIST_MECHANISMS, Mechanism)

    def datasets(self, *, search: str | None = None) -> Iterator[Dataset]:
        """Lists your datasets. search: words of the title or the address."""
        return self.rows(calls.LIST_DATASETS, Dataset, query={"search": search})

    def dataset(self, slug: str) -> Dataset:
        """Returns one dataset, by the name in its address."""
        return self.load(calls.READ_DATASET, Dataset, slug=slug)

    def create_dataset(self, slug: str, **facts: Unpack[NewDataset]) -> Dataset:
        """Makes a dataset; you become its steward.

        bbox: west, south, east, north in degrees, chosen without looking at the data. relation: `add_remove`
        (limits: presence, delta) or `replace` (limits: record, radius, delta; `persons` and `radius_m`).
        """
        body = {"slug": slug, **facts, "limits": amounts(facts["limits"])}
        return self.load(calls.CREATE_DATASET, Dataset, body=body)

    def release(self, release_id: str) -> Release:
        """Returns one release; a public one needs no token."""
        return self.load(calls.READ_RELEASE, Release, release_id=release_id)
