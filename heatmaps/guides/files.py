"""Stores guide files: public maps from elsewhere, from which maps of a dataset can begin.

They are chosen without looking at the data, so before the first upload, and never changed or deleted: the
ledger says by an event where each is from.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import structlog
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps.guides import raster
from heatmaps.ledger import facts as ledger_facts
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import LedgerError
from heatmaps.ledger.transitions.moves import GUIDE
from heatmaps.models import Dataset, DataVersion, GuideFile, SourceState, SourceSurvey, Upload
from heatmaps.people.permissions import Act, Person, require
from heatmaps.regions import region_of
from mechanisms.check import ParameterError, printable

MOST_FILES: Final = 20  # of a dataset
_LENGTHS: Final = {"title": 80, "source": 300, "licence": 120}
_NEEDED: Final = {"title": "what people call it", "source": "where it is from, as you would cite it"}

_log = structlog.stdlib.get_logger(__name__)


class TooLateForGuides(LedgerError):  # noqa: N818 - as the other domain errors
    """Says that the dataset has had an upload; that it has is known to whoever may store."""

    code: ClassVar[str] = "too_late_for_guides"

    def __init__(self) -> None:
        super().__init__(
            "guide files are stored before a dataset's first upload, or its first look at a lake, and "
            "this one has had an upload or a look: "
            "its published maps can guide others"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideFileFacts:
    """Holds what a steward says of a file; public. Errors: `ParameterError` naming the field."""

    title: str
    source: str
    licence: str = ""

    def __post_init__(self) -> None:
        for name in _LENGTHS:
            object.__setattr__(self, name, _text(name, getattr(self, name)))


def files_of(dataset: Dataset) -> QuerySet[GuideFile]:
    """Selects the files, the newest first."""
    rows = GuideFile.objects.filter(dataset=dataset).defer("shares").select_related("stored_by")
    return rows.order_by("-stored_at", "pk")


def may_store(dataset: Dataset) -> bool:
    """Tells whether there was no upload yet, nor a look at a lake: for stewards only."""
    tables = (Upload, SourceSurvey, SourceState)  # what tells stewards of the data
    had_data = any(kind.objects.filter(dataset=dataset).exists() for kind in tables)
    return not (had_data or DataVersion.objects.filter(dataset=dataset).exists())


def store(person: Person, dataset: Dataset, path: Path, facts: GuideFileFacts) -> GuideFile:
    """Keeps the map of a GeoTIFF. Errors: as `require`; `ParameterError` naming the field; TooLateForGuides;
    Busy."""
    steward = require(person, dataset, Act.KEEP_GUIDES)
    _check(dataset, facts)
    raster_guide = _read(path, dataset)
    with transitions.locked(dataset.pk):
        _check(dataset, facts)
        file = GuideFile.objects.create(
            dataset=dataset,
            title=facts.title,
            source=facts.source,
            licence=facts.licence,
            file_sha256=raster_guide.file_sha256,
            shares=raster_guide.guide.shares.astype("<i8").tobytes(),
            sha256=raster_guide.guide.sha256,
            sheet=None if raster_guide.sheet is None else raster_guide.sheet.to_json(),
            stored_by=steward,
            stored_at=timezone.now(),
        )
        after = ledger_facts.guide_facts(file)
        transitions.record(dataset, GUIDE, actor=steward, before={}, after=after)
    _log.info("guides.stored", by=steward.pk, dataset=dataset.pk, file=file.pk)
    return file


def _read(path: Path, dataset: Dataset) -> raster.RasterGuide:
    """Reads the raster. Errors: `ParameterError` naming `file`, without the server's path."""
    try:
        raster_guide = raster.read(path, region_of(dataset))
    except ParameterError as error:
        value = "this file" if error.value in {printable(path), printable(path.name)} else error.value
        raise ParameterError("file", value.strip("'"), error.allowed) from None
    if raster_guide.sheet is not None:
        raster_guide.sheet.check(dataset.relation, parameter="file")
    return raster_guide


def _check(dataset: Dataset, facts: GuideFileFacts) -> None:
    """Refuses what may not be stored: before the file is read, and again when it is stored."""
    if not may_store(dataset):
        raise TooLateForGuides
    files = GuideFile.objects.filter(dataset=dataset)
    if files.filter(title=facts.title).exists():
        raise ParameterError("title", facts.title, "a title that no other guide file of this dataset has")
    if files.count() >= MOST_FILES:
        raise ParameterError("file", "one more file", f"{MOST_FILES} guide files a dataset")


def _text(name: str, value: str) -> str:
    text = " ".join(value.split())
    least, most = int(name in _NEEDED), _LENGTHS[name]
    if not (least <= len(text) <= most and text.isprintable()):
        requirement = f": {_NEEDED[name]}" if name in _NEEDED else ""
        raise ParameterError(name, value, f"{least} to {most} characters that print{requirement}")
    return text
