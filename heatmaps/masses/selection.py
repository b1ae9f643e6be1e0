"""Selects the check-ins that count: those of a version, in a data slice."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import BigIntegerField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable, CombinedExpression

from heatmaps.data_slice import DataSlice
from heatmaps.ingest.versions import retention
from heatmaps.models import CheckIn, Dataset, DataVersion, Suppression, Upload, UploadState
from heatmaps.models.packed import SLOTS
from heatmaps.pseudonyms.person_hashes import PERSON, WITHOUT_SIGN
from mechanisms.records.row_key import RowKey
from mechanisms.space.subregion import Rectangle


def uploads(dataset: Dataset, version: DataVersion) -> "QuerySet[Upload]":
    """Returns the uploads of a version; `retention.counted` says what is kept of them.

    The uploads of a version stay the same from then on.
    """
    return Upload.objects.filter(
        dataset=dataset, state=UploadState.READY, version__number__lte=version.number
    )


def whole(dataset: Dataset, version: DataVersion) -> "list[UUID]":
    """Returns the uploads of a version of which everything counts that is stored."""
    upload_ids: list[UUID] = []
    for step in retention.steps(version):
        included = step.among(uploads(dataset, version))
        if step.day is not None:
            included = included.filter(created_at__gte=retention.midnight(step.day), kept_from__gte=step.day)
        upload_ids += included.values_list("pk", flat=True)
    return upload_ids


def inside(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    key: RowKey,
    *,
    without: Collection[UUID] = (),
) -> "QuerySet[CheckIn]":
    """Returns the check-ins that have a key, and those that lie only near the rectangle."""
    checkins = counting(dataset, version, data_slice, without=without).filter(outside=False)
    return checkins if key.bins is None else checkins.filter(time__isnull=False)


def counting(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, *, without: Collection[UUID] = ()
) -> "QuerySet[CheckIn]":
    """Returns the check-ins of a version in the period, points outside the region included.

    `without`: uploads that are left out.
    """
    read = uploads(dataset, version).exclude(pk__in=without)
    checkins = CheckIn.objects.filter(retention.counted(read, version))
    # Comparing with no time at all is not true: check-ins without one are in no period.
    if data_slice.since is not None:
        checkins = checkins.filter(time__gte=data_slice.since)
    if data_slice.until is not None:
        checkins = checkins.filter(time__lt=data_slice.until)
    if data_slice.rectangle is not None:
        checkins = checkins.filter(_near(data_slice.rectangle))
    opted_out = Suppression.in_effect(version)
    if opted_out.exists():
        same = {name: OuterRef(name) for name in PERSON.names or ()}
        checkins = checkins.exclude(Exists(opted_out.filter(**same)))
    return checkins


def of_slots(checkins: "QuerySet[CheckIn]", slots: range) -> "QuerySet[CheckIn]":
    """Returns those of the persons of consecutive slots (`heatmaps.models.packed.SLOTS`)."""
    bits = CombinedExpression(F("person"), Combinable.BITAND, _WITHOUT_SIGN)
    return checkins.alias(slot=bits % SLOTS).filter(slot__range=(slots[0], slots[-1]))


# As what it is: else Django would send it as an integer of 32 bits.
_WITHOUT_SIGN: Final = Value(WITHOUT_SIGN, output_field=BigIntegerField())


def _near(rectangle: Rectangle) -> Q:
    """Returns whether a cell is in one of a few ranges that cover the rectangle."""
    near = Q()
    for bounds in rectangle.ranges():
        near |= Q(cell__range=bounds)
    return near
