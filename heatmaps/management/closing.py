"""Closes the ledger of a dataset that does not verify; other datasets go on."""

from django.db import transaction

from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset
from heatmaps.people import after_restore


class CannotClose(Exception):  # noqa: N818 - reads as what it says
    """Gives the reason, in one line; nothing was written."""


def close(dataset: Dataset, *, reason: str) -> int:
    """Closes a ledger for good and hides it from strangers; returns the sequence of the event that says so.

    Errors: CannotClose where it verifies or is closed; InvalidLimit without a reason.
    """
    report = verify(dataset)
    if report.ok or report.closed:
        raise CannotClose("this ledger is closed already" if report.closed else "this ledger verifies")
    with transaction.atomic():
        last = transitions.take_up(dataset)
        after_restore.hide(dataset)
        return transitions.close(dataset, last=last, first_bad=report.first_bad_sequence, reason=reason)
