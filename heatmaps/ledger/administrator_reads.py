"""Records for stewards what administrators open of datasets they are not members of.

A row says who, when, which dataset and which page or address of the API by the name of its pattern: no data,
no query. Opening the same again within 60 seconds adds no row, so a page that refreshes itself costs one a
minute. `heatmaps.people.permissions` asks for the row where it grants an administrator what only members may
see; if it cannot be written, nothing is shown. Each row is hashed with the one before it in its dataset.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse

from heatmaps.models import AdministratorRead, Dataset

SECONDS_BETWEEN: Final = 60  # of the same reader, dataset and page
NO_REQUEST: Final = "command"  # stands for the page where nothing is asked for over HTTP
TRIES: Final = 20  # others may append to the same chain meanwhile

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def know_request(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Notes, as middleware, which address a row is about."""

    def answer(request: HttpRequest) -> HttpResponse:
        token = _request.set(request)
        try:
            return get_response(request)
        finally:
            _request.reset(token)

    return answer


def record(reader: User, dataset_ids: Iterable[int]) -> None:
    """Appends a row for each dataset whose page `reader` did not open in the last minute."""
    wanted_ids, page, now = set(dataset_ids), _page(), int(time.time())
    if not wanted_ids:
        return
    lately = AdministratorRead.objects.filter(
        dataset__in=wanted_ids, at_seconds__gt=now - SECONDS_BETWEEN, reader=reader, page=page
    )
    new_ids = sorted(wanted_ids - set(lately.values_list("dataset", flat=True)))
    if new_ids:
        _append(
            [
                AdministratorRead(dataset_id=dataset_id, at_seconds=now, reader=reader, page=page)
                for dataset_id in new_ids
            ]
        )


def reads_of(dataset: Dataset) -> QuerySet[AdministratorRead]:
    """Returns reads, for stewards only: the latest first."""
    rows = AdministratorRead.objects.filter(dataset=dataset).select_related("reader")
    return rows.order_by("-sequence")


def first_problem(dataset: Dataset) -> str:
    """Says what is wrong with the first row that is not as it was written; empty: nothing.

    Rows that were taken away at the end are not missed: for that keep the last hash elsewhere.
    """
    previous = _genesis(dataset.pk)
    rows = AdministratorRead.objects.filter(dataset=dataset).order_by("sequence")
    for number, row in enumerate(rows.iterator(), start=1):
        if row.sequence != number:
            return f"read {number} by an administrator is missing"
        if (row.previous_hash, row.hash) != (previous, _hash(row)):
            return f"read {number} by an administrator was changed"
        previous = row.hash
    return ""


def _append(rows: Sequence[AdministratorRead]) -> None:
    """Appends a row to the chain of each dataset: all of them or none. In the order of the datasets, so that
    nobody waits for each other."""
    chain = AdministratorRead.objects.filter(dataset=OuterRef("pk")).order_by("-sequence")
    ends = Dataset.objects.filter(pk__in=[row.dataset_id for row in rows]).values_list(
        "pk", Subquery(chain.values("sequence")[:1]), Subquery(chain.values("hash")[:1])
    )
    for _ in range(TRIES):
        last = {dataset_id: (sequence, digest) for dataset_id, sequence, digest in ends.all()}
        for row in rows:
            sequence, digest = last[row.dataset_id]
            row.sequence = 1 + (sequence or 0)
            row.previous_hash = digest or _genesis(row.dataset_id)
            row.hash = _hash(row)
        try:
            with transaction.atomic():
                AdministratorRead.objects.bulk_create(rows)
        except IntegrityError:
            for row in rows:
                row.pk = None
        else:
            return
    named = ", ".join(str(row.dataset_id) for row in rows)
    raise RuntimeError(f"a read by an administrator could not be recorded, of the datasets {named}")


def _page() -> str:
    request = _request.get()
    if request is None:
        return NO_REQUEST
    match = request.resolver_match
    return (match and match.view_name) or "unnamed"


def _genesis(dataset_id: int) -> str:
    return _sha256({"administrator_reads_of": dataset_id})


def _hash(row: AdministratorRead) -> str:
    return _sha256(
        {
            "dataset": row.dataset_id,
            "sequence": row.sequence,
            "at_seconds": row.at_seconds,
            "reader": row.reader_id,
            "page": row.page,
            "previous_hash": row.previous_hash,
        }
    )


def _sha256(facts: dict[str, int | str]) -> str:
    return hashlib.sha256(
        json.dumps(facts, sort_keys=True, separators=(",", ":")).encode("ascii")
    ).hexdigest()
