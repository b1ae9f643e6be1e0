"""Stores, changes and deletes district files.

They are public, and no part of the ledger: nothing that was promised depends on them.
"""

import hashlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.districts import children, geojson
from heatmaps.models import Dataset, DistrictFile
from heatmaps.people.permissions import Act, Person, require
from mechanisms.check import ParameterError

MOST_FILES: Final = 20  # of a dataset
_LENGTHS: Final = {"title": 80, "source": 300, "licence": 120, "name_property": 80}
_NEEDED: Final = {"title": "what people call it", "source": "where it is from, as you would cite it"}

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistrictFileFacts:
    """Holds what a steward says of a file; public. Errors: `ParameterError` naming the field."""

    title: str
    source: str
    licence: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "source", "licence"):
            object.__setattr__(self, name, _text(name, getattr(self, name)))


def files_of(dataset: Dataset) -> QuerySet[DistrictFile]:
    """Selects the files by title, without their contents.

    Whoever may see a map of the dataset may see them.
    """
    return DistrictFile.objects.filter(dataset=dataset).defer("content").order_by("title")


def file_of(dataset: Dataset, file_id: UUID) -> DistrictFile:
    """Returns one of them. Errors: Http404."""
    file = files_of(dataset).select_related("dataset", "stored_by").filter(pk=file_id).first()
    if file is None:
        raise Http404("no such district file")
    return file


def geojson_of(file: DistrictFile) -> bytes:
    """Returns its names and polygons as GeoJSON."""
    return geojson.unpacked(bytes(file.content))


def store(
    person: Person, dataset: Dataset, body: bytes, facts: DistrictFileFacts, *, name_property: str = ""
) -> DistrictFile:
    """Keeps a file. Errors: as `require`; `ParameterError` naming the field; Busy."""
    steward = require(person, dataset, Act.KEEP_DISTRICTS)
    name_property = _text("name_property", name_property)
    with transaction.atomic():
        _check_room(dataset, facts)
    polygons = _read(body, name_property)
    with transaction.atomic():
        _check_room(dataset, facts)
        file = DistrictFile(dataset=dataset, title=facts.title, source=facts.source, licence=facts.licence)
        _save(file, polygons, steward, name_property)
    _log.info("districts.stored", by=steward.pk, dataset=dataset.pk, file=file.pk)
    return file


def change(
    person: Person,
    file: DistrictFile,
    facts: DistrictFileFacts,
    body: bytes | None = None,
    *,
    name_property: str = "",
) -> DistrictFile:
    """Stores other facts, and with `body` other polygons. Errors: as `store`."""
    steward = require(person, file.dataset, Act.KEEP_DISTRICTS)
    name_property = _text("name_property", name_property)
    polygons = None if body is None else _read(body, name_property)
    with transaction.atomic():
        _check_title(file.dataset, facts, but=file)
        row = DistrictFile.objects.select_for_update().filter(pk=file.pk).first()
        if row is None:
            raise Http404("no such district file")
        row.title, row.source, row.licence = facts.title, facts.source, facts.licence
        if polygons is None:
            row.save(update_fields=["title", "source", "licence"])
        else:
            _save(row, polygons, steward, name_property)
    _log.info("districts.changed", by=steward.pk, dataset=file.dataset_id, file=file.pk)
    return row


def delete(person: Person, file: DistrictFile) -> None:
    """Forgets a file for good; maps stay as they are. Errors: as `require`."""
    steward = require(person, file.dataset, Act.KEEP_DISTRICTS)
    DistrictFile.objects.filter(pk=file.pk).delete()
    _log.info("districts.deleted", by=steward.pk, dataset=file.dataset_id, file=file.pk)


def _read(body: bytes, name_property: str) -> children.ReadFile:
    most = settings.MAX_DISTRICT_BYTES
    if len(body) > most:
        raise ParameterError("file", f"{len(body)} bytes", f"at most {most} bytes")
    return children.read(body, name_property=name_property)


def _save(file: DistrictFile, polygons: children.ReadFile, steward: User, name_property: str) -> None:
    file.name_property, file.areas, file.corners = name_property, polygons.areas, polygons.corners
    file.content, file.sha256 = polygons.content, hashlib.sha256(polygons.content).hexdigest()
    file.stored_by, file.stored_at = steward, timezone.now()
    file.save()


def _check_room(dataset: Dataset, facts: DistrictFileFacts) -> None:
    """Refuses a file too many or a title twice: before the file is read, and again when it is stored."""
    _check_title(dataset, facts)
    if files_of(dataset).count() >= MOST_FILES:
        raise ParameterError("file", "one more file", f"{MOST_FILES} files a dataset; delete one first")


def _check_title(dataset: Dataset, facts: DistrictFileFacts, *, but: DistrictFile | None = None) -> None:
    """Locks the dataset until the transaction ends, so that no two of its files take one title at once."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    same_title = files_of(dataset).filter(title=facts.title)
    if (same_title.exclude(pk=but.pk) if but else same_title).exists():
        raise ParameterError("title", facts.title, "a title that no other district file of this dataset has")


def _text(name: str, value: str) -> str:
    text = " ".join(value.split())
    least, most = int(name in _NEEDED), _LENGTHS[name]
    if not (least <= len(text) <= most and text.isprintable()):
        requirement = f": {_NEEDED[name]}" if name in _NEEDED else ""
        raise ParameterError(name, value, f"{least} to {most} characters that print{requirement}")
    return text
