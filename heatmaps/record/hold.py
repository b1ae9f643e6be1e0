"""Puts the installation on hold, and says whether it is."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import structlog
from django.utils import timezone

from heatmaps.models import HoldCause, Installation, Release, Restoration

_log = structlog.stdlib.get_logger(__name__)


class OnHold(Exception):  # noqa: N818 - reads as the other domain errors do
    """Refuses whatever would begin or be asked before an operator, or a dataset's steward, said so."""

    code: Final = "on_hold"

    def __init__(self, reason: str = "") -> None:
        super().__init__(
            reason or "this server is on hold until its operator says what happened; nothing can be asked now"
        )


def installation() -> Installation:
    """Returns the installation's row, made where it is missing."""
    return Installation.objects.get_or_create(pk=Installation.ONLY)[0]


def cause() -> HoldCause | None:
    """Returns the reason why the installation is on hold; None: it is not."""
    row = Installation.objects.filter(held_since__isnull=False).values_list("hold_cause", flat=True).first()
    return None if row is None else HoldCause(row)


def put(reason: HoldCause) -> None:
    """Begins the hold, unless there is one; what it began with stays."""
    installation()
    rows = Installation.objects.filter(pk=Installation.ONLY, held_since=None)
    if rows.update(held_since=timezone.now(), hold_cause=reason):
        _log.error("installation.on_hold", cause=str(reason), resume="manage.py resume")


def check_dataset(dataset_id: int) -> None:
    """Refuses a question while the installation, or the dataset, is on hold. Errors: OnHold."""
    if cause() is not None:
        raise OnHold
    if Restoration.objects.filter(dataset=dataset_id, confirmed_at=None).exists():
        raise OnHold(
            "this dataset was restored from a backup: nothing can be asked until a steward confirmed its "
            "members and opt-outs"
        )


def waits_since() -> datetime | None:
    """Returns the moment before which questions wait for an operator's yes; None: nothing waits."""
    return Installation.objects.values_list("confirm_before", flat=True).first()


def keeps_back(release: Release) -> bool:
    """Tells whether a queued release waits for an operator, as the machine was started anew since it was
    asked."""
    return not not_kept_back([release])


def not_kept_back(releases: Iterable[Release]) -> list[Release]:
    """Returns those of some queued releases that `keeps_back` is false for."""
    moment = waits_since()
    return [release for release in releases if moment is None or release.requested_at >= moment]
