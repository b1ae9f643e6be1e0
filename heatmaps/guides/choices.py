"""Finds the public maps that a question may begin from, and those that stored releases began from.

A guide covers exactly what the question covers. It is a published map of the same dataset, a public map of
another one, or a guide file of the dataset, which covers all of its region. Whoever may ask may see them all.
Maps are read as they were published: nothing is spent.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final, Literal
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet

from heatmaps.data_slice import DataSlice
from heatmaps.models import Dataset, DataVersion, GuideFile, Release, ReleaseState, Result
from heatmaps.models.release import IS_PUBLIC
from heatmaps.regions import region_of, text_of
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.guide import Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import result_from_bytes
from mechanisms.space.grid import Region

MOST_OFFERED: Final = 20  # of each kind
_REMEMBERED: Final = 64  # guides: 32 KiB each, and what was measured for them
_MAPS: Final = tuple(entry.name for entry in registry.entries() if entry.kind == "heatmap")
# Maps of noise in every square are read whole while somebody waits; those of `adaptive` are always small.
MOST_CELLS_A_SIDE: Final = 1024
_SPARSE: Final = "adaptive"
_ALLOWED: Final = (
    "the id of a published map of this dataset, of a public map of another one, or of a guide file of this "
    "dataset, that covers exactly the same part of the world, with at most 1,024 squares a side unless "
    "adaptive made it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Names a release or a guide file that a question may begin from."""

    release: Release | None = None
    file: GuideFile | None = None
    # Drawn from the same data version and slice as the answer will be.
    same_people: bool = False
    version_id: int | None = None  # the data version that this was decided for

    @property
    def id(self) -> UUID:
        row = self.release or self.file
        if row is None:
            raise ValueError("a guide is a release or a file")
        return row.pk

    @property
    def kind(self) -> Literal["release", "file"]:
        return "file" if self.release is None else "release"

    @property
    def guide(self) -> Guide:
        """Returns the guide for a mechanism. Errors: `ParameterError` for a stored map that was changed."""
        if self.release is None:
            return _of_file(self.file)
        digest = Result.objects.values_list("sha256", flat=True).filter(pk=self.release.pk).first()
        return _of_release(self.release.pk, digest, self.same_people)


def resolved(dataset: Dataset, guide_id: str, data_slice: DataSlice) -> Chosen:
    """Returns the guide of that id, for a question about a slice of the latest data version.

    Errors: `ParameterError`, the same one whether there is no such map, none that fits, or none to be seen.
    """
    try:
        pk = UUID(guide_id)
    except (AttributeError, TypeError, ValueError):
        raise _refusal(guide_id) from None
    visible = _maps().filter(Q(dataset=dataset) | IS_PUBLIC, pk=pk)
    guide = next(_releases(dataset, visible, data_slice), None)
    guide = guide or next(_files(dataset, data_slice, pk=pk), None)
    if guide is None:
        raise _refusal(guide_id)
    return guide


def fitting(dataset: Dataset, data_slice: DataSlice) -> list[Chosen]:
    """Lists guides for a question about the latest data version, the newest first: the dataset's own maps,
    its files, public maps of other datasets; `MOST_OFFERED` of each."""
    place = text_of(_covered(dataset, data_slice))
    own = _maps().filter(dataset=dataset, covered=place)[:MOST_OFFERED]
    public_maps = _maps().exclude(dataset=dataset).filter(IS_PUBLIC, covered=place)[:MOST_OFFERED]
    return [
        *_releases(dataset, own, data_slice),
        *islice(_files(dataset, data_slice), MOST_OFFERED),
        *_releases(dataset, public_maps, data_slice),
    ]


def bound(release: Release) -> Chosen | None:
    """Returns the guide that a stored release names, whoever may see it by now; None where it names none."""
    if release.guide_file is not None:
        return Chosen(file=release.guide_file, version_id=release.version_id)
    if release.guide_release is None:
        return None
    return _choice(release.dataset, release.version_id, _slice_of(release), release.guide_release)


def bound_guide(release: Release) -> Guide | None:
    """Returns the guide that a stored release is drawn with.

    Errors: `ParameterError` where it is not the one it names.
    """
    choice = bound(release)
    if choice is None:
        return None
    guide = choice.guide
    if guide.sha256 != release.guide_sha256:
        raise ParameterError("guide", guide.sha256, f"the guide that was reserved: {release.guide_sha256}")
    return guide


def _maps() -> QuerySet[Release]:
    """Selects published maps that are small enough, the newest first."""
    rows = Release.objects.filter(
        Q(mechanism=_SPARSE) | Q(resolution__lte=MOST_CELLS_A_SIDE),
        state=ReleaseState.PUBLISHED,
        mechanism__in=_MAPS,
    )
    return rows.select_related("dataset").order_by("-visible_at", "-requested_at", "pk")


def _releases(dataset: Dataset, rows: Iterable[Release], data_slice: DataSlice) -> Iterator[Chosen]:
    """Yields those of these rows that cover the same."""
    version_id = DataVersion.objects.filter(dataset=dataset).order_by("-number").values_list("pk", flat=True)
    latest = version_id.first()
    covered = _covered(dataset, data_slice)
    for release in rows:
        if _covered(release.dataset, _slice_of(release)) == covered:
            yield _choice(dataset, latest, data_slice, release)


def _files(dataset: Dataset, data_slice: DataSlice, **filters: UUID) -> Iterator[Chosen]:
    if data_slice.rectangle is None:
        rows = GuideFile.objects.filter(dataset=dataset, **filters).order_by("-stored_at")
        yield from (Chosen(file=file) for file in rows)


def _choice(dataset: Dataset, version_id: int | None, data_slice: DataSlice, release: Release) -> Chosen:
    same_data = (release.dataset_id, release.version_id) == (dataset.pk, version_id)
    return Chosen(
        release=release,
        same_people=same_data and _slice_of(release) == data_slice,
        version_id=version_id,
    )


def _covered(dataset: Dataset, data_slice: DataSlice) -> Region:
    return data_slice.region(region_of(dataset))


def _slice_of(release: Release) -> DataSlice:
    return DataSlice.stored(release.since, release.until, release.rectangle)


def _refusal(guide_id: object) -> ParameterError:
    return ParameterError("guide", guide_id, _ALLOWED)


def _of_file(file: GuideFile | None) -> Guide:
    if file is None:
        raise ValueError("a guide is a release or a file")
    guide = Guide(shares=np.frombuffer(bytes(file.shares), dtype="<i8"))
    if guide.sha256 != file.sha256:
        raise ParameterError("guide", file.pk, "a guide file as it was stored")
    return guide


@lru_cache(_REMEMBERED)
def _of_release(release_id: UUID, digest: str | None, same_people: bool) -> Guide:
    content = Result.objects.values_list("content", flat=True).filter(pk=release_id).first() or b""
    try:
        result = result_from_bytes(bytes(content)) if hashlib.sha256(content).hexdigest() == digest else None
    except ValueError:
        result = None
    if not isinstance(result, Heatmap):
        raise ParameterError("guide", release_id, "a map as it was published")
    return Guide.of_map(result, same_people=same_people)
