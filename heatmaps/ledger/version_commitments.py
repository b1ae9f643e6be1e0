"""Binds what a data version holds to its event, by a commitment that tells outsiders nothing.

A commitment is the SHA-256 of a salt of 128 random bits and of every row that decides which check-ins a draw
of the version reads: uploads, opt-outs, the days that versions up to it keep, and the state of a lake's
tables. Whoever draws computes it again from the rows and refuses where it is another one; `verify-ledger`
does the same. The salt is in the version's row, which only stewards' pages could show.

The lines that are hashed stay as they are: commitments of old are made of them.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from django.db.models import QuerySet

from heatmaps.ledger import facts
from heatmaps.ledger.events import microseconds
from heatmaps.ledger.transitions.moves import BOUND, OPEN, VERSION
from heatmaps.models import Dataset, DataVersion, Event, SourceState, Suppression, Upload

FACT: Final = "commitment"
_ROWS_AT_ONCE: Final = 2000

Line = list[int | str | None]


class VersionChanged(Exception):  # noqa: N818 - what happened
    """Says that a data version holds other rows than its event commits to, and nothing of the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """Names the tables of one dataset; a migration has models of its own."""

    versions: "QuerySet[Any]"
    uploads: "QuerySet[Any]"
    opt_outs: "QuerySet[Any]"
    states: "QuerySet[Any]"

    @classmethod
    def of(cls, dataset_id: int) -> Self:
        return cls(
            versions=DataVersion.objects.filter(dataset=dataset_id),
            uploads=Upload.objects.filter(dataset=dataset_id),
            opt_outs=Suppression.objects.filter(dataset=dataset_id),
            states=SourceState.objects.filter(dataset=dataset_id),
        )


def fact(version: DataVersion) -> dict[str, str]:
    """Returns the commitment that a version's event holds. The caller holds the ledger's lock."""
    return {FACT: commitment(Holdings.of(version.dataset_id), version.number)}


def commitment(holdings: Holdings, number: int) -> str:
    """Returns the commitment to what the version of that number holds, and so to what those before it hold.

    Errors: `VersionChanged` where it has no salt.
    """
    salt = holdings.versions.filter(number=number).values_list("salt", flat=True).first()
    if not salt:
        raise VersionChanged
    digest = hashlib.sha256(_written(["data version", salt]))
    for line in _lines(holdings, number):
        digest.update(_written(line))
    return digest.hexdigest()


def check(dataset: Dataset, version: DataVersion) -> None:
    """Refuses to draw from a version whose rows, or the dataset's facts, are not those of its events.

    Errors: `VersionChanged`, also for a version that no event binds.
    """
    first = Event.objects.filter(dataset=dataset.pk, sequence=1, kind=OPEN).values_list("after", flat=True)
    dataset_facts = [json.loads(after)["dataset"] for after in first]
    row = Dataset.objects.get(pk=dataset.pk)
    if version.dataset_id != dataset.pk or dataset_facts != [facts.dataset_facts(row)]:
        raise VersionChanged
    check_bound(dataset, version.number, _bound(dataset))


def check_bound(dataset: Dataset, number: int, bound: dict[int, str]) -> None:
    """Refuses where the rows are not those of the first commitment that covers a version.

    bound: commitments by the number of their version. Errors: `VersionChanged`.
    """
    covering_number = min((other for other in bound if other >= number), default=None)
    # A lake's tables are those of one version.
    if covering_number is None or (dataset.origin.has_tables_of_versions and covering_number != number):
        raise VersionChanged
    if not hmac.compare_digest(commitment(Holdings.of(dataset.pk), covering_number), bound[covering_number]):
        raise VersionChanged


def _bound(dataset: Dataset) -> dict[int, str]:
    """Returns commitments by the number of their version. Errors: `VersionChanged` where one has two."""
    bound: dict[int, str] = {}
    rows = Event.objects.filter(dataset=dataset.pk, kind__in=[VERSION, BOUND]).order_by("sequence")
    for text in rows.values_list("after", flat=True):
        after = json.loads(text)
        if FACT in after:
            if after["version"] in bound:
                raise VersionChanged
            bound[after["version"]] = after[FACT]
    return bound


def _lines(holdings: Holdings, number: int) -> Iterator[Line]:
    """Yields every row that decides what versions up to that number hold, in one order."""
    versions = holdings.versions.filter(number__lte=number).order_by("number")
    for version, kept_from in versions.values_list("number", "kept_from"):
        yield ["version", version, None if kept_from is None else kept_from.isoformat()]
    uploads = holdings.uploads.filter(version__number__lte=number).order_by("pk")
    columns = ("state", "content_digest", "size_bytes", "rows_accepted", "rows_outside", "rows_rejected")
    rows = uploads.values_list("pk", "created_at", "version__dataset", "version__number", *columns)
    for pk, created_at, *values in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        yield ["upload", str(pk), microseconds(created_at), *values]
    opt_outs = holdings.opt_outs.filter(since__lte=number).order_by("pk")
    acts = opt_outs.values_list("entry", "withdraws__entry", "person", "person_rest", "since")
    for entry, withdrawn, *numbers in acts.iterator(chunk_size=_ROWS_AT_ONCE):
        yield ["opt-out", str(entry), None if withdrawn is None else str(withdrawn), *numbers]
    for state in holdings.states.filter(version__number=number):
        digests = [hashlib.sha256(bytes(table)).hexdigest() for table in (state.checkins, state.opt_outs)]
        texts = [json.dumps(value, sort_keys=True) for value in (state.columns, state.invalid)]
        yield ["tables", state.snapshot, state.opt_outs_snapshot, state.rows, *digests, *texts]


def _written(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
