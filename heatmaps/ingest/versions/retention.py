"""Computes how long check-ins are kept: a public number of whole days in UTC.

A data version leaves out every check-in of a day more than N days before the version's own day. A
check-in's day is that of its time, or the day its file came, whichever is earlier: one without a time has
the file's, and a clock that was ahead keeps nothing longer. Files that a version includes pass the rule of
each version from there on, so a longer time to keep brings nothing back, and what a later file brings is
judged by the versions from that file on alone.

Rows are deleted once no version that a queued release reads has them (`heatmaps.ingest.versions.deletion`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db.models import Q, QuerySet

from heatmaps.models import CheckIn, DataVersion, Upload
from heatmaps.models.check_in import GREATEST_KEY, of_uploads
from heatmaps.numbers import count
from mechanisms.check import ParameterError

MOST_DAYS: Final = 36_500  # a hundred years


@dataclass(frozen=True, slots=True)
class Step:
    """Describes uploads that a version after number `after` up to `up_to` included count from `day` on.

    Without a `day` they count whole.
    """

    after: int
    up_to: int
    day: date | None

    def among(self, uploads: "QuerySet[Upload]") -> "QuerySet[Upload]":
        """Selects the uploads that the step is about."""
        return uploads.filter(version__number__gt=self.after, version__number__lte=self.up_to)


def check(days: int | None) -> int | None:
    """Checks a number of days; None: for ever. Errors: `ParameterError`."""
    if days is None or (isinstance(days, int) and not isinstance(days, bool) and 1 <= days <= MOST_DAYS):
        return days
    raise ParameterError("retention_days", days, f"a whole number of days from 1 to {MOST_DAYS}, or nothing")


def words(days: int | None) -> str:
    """Writes days for people, such as "30 days"."""
    return "for ever" if days is None else f"{count(days)} day{'' if days == 1 else 's'}"


def first_day(moment: datetime, days: int) -> date:
    """Returns the first day that a version of that moment still has."""
    return moment.astimezone(UTC).date() - timedelta(days=days)


def midnight(day: date) -> datetime:
    """Returns when a day of UTC begins."""
    return datetime.combine(day, time(), UTC)


def steps(version: DataVersion) -> list[Step]:
    """Returns the parts of the uploads that the rules up to this version leave, by who included them.

    An upload passes the rule of each version from its own on, so the latest day among them counts.
    """
    earlier = DataVersion.objects.filter(dataset=version.dataset_id, number__lte=version.number)
    rules = earlier.filter(kept_from__isnull=False).order_by("-number").values_list("number", "kept_from")
    return list(_steps(version.number, [(number, day) for number, day in rules if day is not None]))


def counted(uploads: "QuerySet[Upload]", version: DataVersion) -> Q:
    """Selects the check-ins that a version, which includes these uploads, has of days that are kept."""
    condition = Q(pk__in=[])
    for step in steps(version):
        uploads_kept, days = step.among(uploads), Q()
        if step.day is not None:
            uploads_kept = uploads_kept.filter(created_at__gte=midnight(step.day))
            days = Q(time=None) | Q(time__gte=_seconds(step.day))
        condition |= of_uploads(uploads_kept) & days
    return condition


def expired(upload: Upload, day: date, *, first: int = 0, last: int = GREATEST_KEY) -> "QuerySet[CheckIn]":
    """Selects an upload's check-ins of earlier days, with these keys."""
    checkins = CheckIn.objects.filter(of_uploads([upload], first=first, last=last))
    return checkins if upload.created_at < midnight(day) else checkins.filter(time__lt=_seconds(day))


def _steps(up_to: int, rules: list[tuple[int, date]]) -> Iterator[Step]:
    """Yields steps. `rules`: (number, first day) of versions, the latest first."""
    day = None
    for number, first in rules:
        if day is None or first > day:
            if number < up_to:
                yield Step(number, up_to, day)
            up_to, day = number, first
    yield Step(0, up_to, day)


def _seconds(day: date) -> int:
    return int(midnight(day).timestamp())
