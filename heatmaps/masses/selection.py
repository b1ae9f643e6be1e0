"""Which check-ins count: those of a version, in what is asked about, of one share of the persons."""

from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from heatmaps import retention
from heatmaps.models import CheckIn, Dataset, DataVersion, Suppression, Upload, UploadState
from heatmaps.slices import Slice
from mechanisms.check import in_range, positive
from mechanisms.part import Part


@dataclass(frozen=True, slots=True)
class Share:
    """The persons whose hash leaves `number` when divided by `of`: each person is in exactly one share."""

    number: int
    of: int

    def __post_init__(self) -> None:
        positive(of=self.of)
        in_range(0, self.of - 1, number=self.number)


EVERYBODY: Final = Share(0, 1)


def uploads(dataset: Dataset, version: DataVersion) -> "QuerySet[Upload]":
    """What a version includes; it stays so from then on, and `retention.counted` says what is kept of it."""
    return Upload.objects.filter(
        dataset=dataset, state=UploadState.READY, version__number__lte=version.number
    )


def inside(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> "QuerySet[CheckIn]":
    """The check-ins that count for maps, and those that lie only near the asked part."""
    return counting(dataset, version, asked, share).filter(outside=False)


def counting(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> "QuerySet[CheckIn]":
    """The check-ins of a version in the asked period, points outside the region included."""
    found = CheckIn.objects.filter(retention.counted(uploads(dataset, version), version))
    # Comparing with no time at all is not true: check-ins without one are in no period.
    if asked.since is not None:
        found = found.filter(time__gte=asked.since)
    if asked.until is not None:
        found = found.filter(time__lt=asked.until)
    if asked.part is not None:
        found = found.filter(_near(asked.part))
    if share.of > 1:
        found = found.alias(share=F("person") % share.of).filter(share=share.number)
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
