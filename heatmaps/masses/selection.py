"""Which check-ins count: those of a version, in what is asked about, of one share of the persons."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import CombinedExpression

from heatmaps import retention
from heatmaps.models import CheckIn, Dataset, DataVersion, Suppression, Upload, UploadState
from heatmaps.models.packed import SLOTS
from heatmaps.slices import Slice
from mechanisms.check import ParameterError, in_range, positive
from mechanisms.part import Part


@dataclass(frozen=True, slots=True)
class Share:
    """Some of the persons: each is in exactly one of `of` shares, by the hash.

    Whole slots of packed check-ins, or equal parts of one slot each: `of` is at most the number of slots, or
    a multiple of it.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        positive(of=self.of)
        in_range(0, self.of - 1, number=self.number)
        if self.of > SLOTS and self.of % SLOTS:
            raise ParameterError("of", self.of, f"at most {SLOTS}, or a multiple of it")

    def of_person(self, person: F) -> CombinedExpression:
        """The number of the share that a hash belongs to."""
        return person % max(self.of, SLOTS) % self.of


EVERYBODY: Final = Share(0, 1)


def uploads(dataset: Dataset, version: DataVersion) -> "QuerySet[Upload]":
    """What a version includes; it stays so from then on, and `retention.counted` says what is kept of it."""
    return Upload.objects.filter(
        dataset=dataset, state=UploadState.READY, version__number__lte=version.number
    )


def whole(dataset: Dataset, version: DataVersion) -> "list[UUID]":
    """The uploads of a version of which everything counts that is stored."""
    found: list[UUID] = []
    for step in retention.steps(version):
        included = step.among(uploads(dataset, version))
        if step.day is not None:
            included = included.filter(created_at__gte=retention.midnight(step.day), kept_from__gte=step.day)
        found += included.values_list("pk", flat=True)
    return found


def inside(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, without: Collection[UUID] = ()
) -> "QuerySet[CheckIn]":
    """The check-ins that count for maps, and those that lie only near the asked part."""
    return counting(dataset, version, asked, share, without=without).filter(outside=False)


def counting(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, without: Collection[UUID] = ()
) -> "QuerySet[CheckIn]":
    """The check-ins of a version in the asked period, points outside the region included.

    `without`: uploads that are left out.
    """
    read = uploads(dataset, version).exclude(pk__in=without)
    found = CheckIn.objects.filter(retention.counted(read, version))
    # Comparing with no time at all is not true: check-ins without one are in no period.
    if asked.since is not None:
        found = found.filter(time__gte=asked.since)
    if asked.until is not None:
        found = found.filter(time__lt=asked.until)
    if asked.part is not None:
        found = found.filter(_near(asked.part))
    if share.of > 1:
        found = found.alias(share=share.of_person(F("person"))).filter(share=share.number)
    opted_out = Suppression.in_effect(version)
    if opted_out.exists():
        found = found.exclude(Exists(opted_out.filter(person=OuterRef("person"))))
    return found


def _near(part: Part) -> Q:
    """In one of a few ranges of cells that cover the part."""
    near = Q()
    for bounds in part.ranges():
        near |= Q(cell__range=bounds)
    return near
