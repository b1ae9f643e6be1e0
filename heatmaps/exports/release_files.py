"""Serves a published release as a file: alone, with its release sheet, or the sheet alone.

A file is named by all that it is made from, so that it is made once, and not at all for who has it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final

from django.conf import settings

from heatmaps import queries
from heatmaps.children import process
from heatmaps.children.turns import turn
from heatmaps.exports import Format, file_cache
from heatmaps.exports.content import HEAT, LAYERS
from heatmaps.exports.file_cache import NotRendered
from heatmaps.exports.job import (
    FEATURES,
    OG_IMAGE,
    PARTS,
    PICTURE,
    SHEET,
    SHEETS,
    SURFACE,
    TABLE,
    THUMBNAIL,
    ZIP,
    Job,
)
from heatmaps.exports.renderer import TOO_LARGE
from heatmaps.exports.version import version
from heatmaps.guides import choices
from heatmaps.guides.chain import together_or_none
from heatmaps.maps.document import MapParts
from heatmaps.maps.looks import LIGHT, LOOKS
from heatmaps.models import Release
from heatmaps.regions import region_of
from heatmaps.releases import lifecycle
from heatmaps.result_kinds import ResultKind
from heatmaps.result_kinds.entries import kind_of_release
from heatmaps.wording.collection import title_of
from heatmaps.wording.guides import file_facts
from heatmaps.wording.release import for_release
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee

__all__ = [
    "PREVIEWS",
    "SHEET",
    "SHEETS",
    "Download",
    "check_kind",
    "download",
    "features",
    "formats_for",
    "heat_of",
    "kind_of",
    "parts_of",
    "picture",
    "preview",
    "sheet_of",
    "table_of",
]

# Small pictures: how their names end, and what they are.
PREVIEWS: Final = {THUMBNAIL: (".webp", "image/webp"), OG_IMAGE: (".png", "image/png")}
_PICTURE: Final = "png"

# What is smaller is made at once, where it was asked for: a child takes longer to start.
_SMALL_SIDE: Final = 512  # cells
_SMALL_BYTES: Final = 1 << 19  # of a stored result
# For which a request waits for another one that makes the same file.
_SMALL_SECONDS, _LARGE_SECONDS = 20.0, 2.0
_MEMORY_BYTES: Final = 1 << 31
_CPU_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """Names a file that is made when it is opened, unless it is there already."""

    name: str
    content_type: str
    key: str  # of all that it is made from: files of one key are the same
    job: Job
    release: Release
    in_parts: bool = False  # as `Format.in_parts`

    @property
    def etag(self) -> str:
        return f'"{self.key}"'

    @property
    def size_bytes(self) -> int | None:
        """Returns the size of the file; None where it is not made yet."""
        return file_cache.size_of(self.key)

    def open(self) -> BinaryIO:
        """Opens the file at its start; whoever sends it closes it. Errors: Busy, NotRendered."""
        return _opened(self.release, self.job, self.key)


def formats_for(release: Release) -> tuple[Format, ...]:
    """Returns the formats of a release: very fine grids have no file with every cell."""
    formats = kind_of(release).formats.values()
    return tuple(file_format for file_format in formats if file_format.fits(release.resolution))


def check_kind(release: Release, kind: ResultKind) -> None:
    """Checks the kind.

    Errors: `ParameterError` naming the files there are, where a release is of another kind.
    """
    own = kind_of(release)
    if own is not kind:
        files = ", ".join(f"{own.stem}{suffix}" for suffix in own.formats)
        raise ParameterError("output", f"a {kind.stem}", f"the files of this release: {files}")


def kind_of(release: Release) -> ResultKind:
    """Returns the kind of a release's result."""
    return kind_of_release(release)


def download(release: Release, suffix: str, *, look: str = LIGHT.name, layer: str = HEAT) -> Download:
    """Returns a published release as a file.

    `suffix`: that of a format without its dot ("tif"); with ".zip" behind it, together with the release
    sheet; "json" or "yaml" for the sheet alone. look, layer: of a PNG; other files have no others than these.
    Errors: `ParameterError` naming `output` for a suffix that the release's kind has not, `resolution` for
    too fine a grid, `look` or `layer`.
    """
    _check_looks(suffix, look=(look, [*LOOKS]), layer=(layer, LAYERS))
    if suffix in SHEETS:
        return _download(release, suffix, f".{suffix}", SHEETS[suffix])
    file_format = kind_of(release).format_of("." + suffix.removesuffix(ZIP))
    file_format.check(release.resolution)
    name, ending, content_type = file_format.name, file_format.suffix, file_format.content_type
    if suffix.endswith(ZIP):
        name, ending, content_type = f"{name}{ZIP}", f"{ending}{ZIP}", "application/zip"
    file = _download(release, name, ending, content_type, look=look, layer=layer)
    return replace(file, in_parts=file_format.in_parts and not suffix.endswith(ZIP))


def preview(release: Release, name: str, *, look: str = LIGHT.name) -> Download:
    """Returns a small picture of a published release. name: one of `PREVIEWS`. Errors: `ParameterError`."""
    _check_looks(_PICTURE, look=(look, [*LOOKS]))
    suffix, content_type = PREVIEWS[name]
    return _download(release, name, f"-{name}{suffix}", content_type, look=look)


def picture(release: Release, *, look: str = LIGHT.name, layer: str = HEAT) -> Download:
    """Returns the picture that a published map's tiles are cut from. Errors: `ParameterError`."""
    _check_looks(_PICTURE, look=(look, [*LOOKS]), layer=(layer, LAYERS))
    return _download(release, PICTURE, "", "application/octet-stream", look=look, layer=layer)


def features(release: Release) -> Download:
    """Returns a file of the released features, as `heatmaps.exports.features` reads it."""
    return _download(release, FEATURES, "", "application/octet-stream")


def sheet_of(release: Release) -> dict[str, Any]:
    """Returns the release sheet. Errors: Busy, NotRendered."""
    return _part(release, SHEET)


def parts_of(release: Release) -> MapParts:
    """Returns the released parts before they become a document. Errors: as `sheet_of`."""
    return MapParts.from_json(_part(release, PARTS))


def heat_of(release: Release) -> dict[str, Any] | None:
    """Returns the parts of a map's heat; None where it has none. Errors: as `sheet_of`."""
    heat: dict[str, Any] | None = _part(release, SURFACE)["heat"]
    return heat


def table_of(release: Release) -> dict[str, Any]:
    """Returns the numbers beside the map, as the kind's table shows them. Errors: as `sheet_of`."""
    return _part(release, TABLE)


def _part(release: Release, name: str) -> dict[str, Any]:
    job = _job(release, name)
    with _opened(release, job, job.key(version())) as stream:
        facts: dict[str, Any] = json.load(stream)
    return facts


def _check_looks(suffix: str, **words: tuple[str, Sequence[str]]) -> None:
    """Checks words against those there are, the first of which is usual. Errors: `ParameterError`."""
    for name, (word, allowed) in words.items():
        if word not in allowed:
            raise ParameterError(name, word, " or ".join(allowed))
        if word != allowed[0] and suffix.removesuffix(ZIP) != _PICTURE:
            raise ParameterError(name, word, "left out: only a PNG has one")


def _download(
    release: Release,
    name: str,
    ending: str,
    content_type: str,
    *,
    look: str = LIGHT.name,
    layer: str = HEAT,
) -> Download:
    job = replace(_job(release, name), look=look, layer=layer)
    return Download(
        name=f"{job.stem}{ending}",
        content_type=content_type,
        key=job.key(version()),
        job=job,
        release=release,
    )


def _job(release: Release, name: str) -> Job:
    digest, day = lifecycle.facts_of_result(release)
    return Job(
        wanted=name,
        kind=kind_of(release).name,
        stem=f"{release.dataset.slug}-{day.isoformat()}-{release.mechanism}",
        result_sha256=digest,
        title=f"{release.dataset.title}, {title_of(release)}",
        mechanism=release.mechanism,
        parameters=release.parameters,
        guarantee=release.guarantee,
        region=list(queries.released_region(release)),
        whole_region=list(region_of(release.dataset)),
        released=day.isoformat(),
        radius_m=release.dataset.radius_m,
        data_slice=[release.since, release.until, release.rectangle],
        statements=list(for_release(release)),
        users=release.dataset.origin.users(release.dataset),
        collection=release.dataset.origin.sheet(release),
        mechanism_version=release.mechanism_version,
        guide=file_facts(release),
        together=_together(release),
    )


def _together(release: Release) -> dict[str, Any] | None:
    own = Guarantee.from_json(release.guarantee)
    together = together_or_none(release.dataset, own, choices.bound(release))
    return None if together is None else together.to_json()


def _opened(release: Release, job: Job, key: str) -> BinaryIO:
    small = (release.resolution or 0) <= _SMALL_SIDE

    def make(stream: BinaryIO) -> None:
        content = lifecycle.content_of_result(release)
        if small and len(content) <= _SMALL_BYTES:
            job.write(content, stream)
        else:
            with turn():
                _make_in_child(job, content, stream)

    return file_cache.opened(key, make, seconds=_SMALL_SECONDS if small else _LARGE_SECONDS)


def _make_in_child(job: Job, content: bytes, stream: BinaryIO) -> None:
    """Has a child make the file.

    Errors: NotRendered where the child took more than it may, RuntimeError where it broke.
    """
    limits = process.Limits(
        memory_bytes=_MEMORY_BYTES, cpu_seconds=_CPU_SECONDS, file_bytes=settings.RENDERED_BYTES
    )
    about = {"descriptor": stream.fileno(), "settings": _child_settings()}
    message = b"\n".join([json.dumps(about).encode(), job.to_json().encode(), content])
    with TemporaryDirectory() as folder:
        status = process.finished(
            "heatmaps.exports.renderer", message, limits, files=[stream.fileno()], folder=Path(folder)
        )
    if status in (TOO_LARGE, process.OUT_OF_MEMORY) or status < 0:
        raise NotRendered
    if status:
        raise RuntimeError(f"the {job.wanted} of a release could not be made")


def _child_settings() -> dict[str, object]:
    """Returns the settings that templates, static files and the ground need: no database, no keys."""
    templates: list[dict[str, Any]] = settings.TEMPLATES
    return {
        "TEMPLATES": [
            {"BACKEND": backend["BACKEND"], "DIRS": [*map(str, backend["DIRS"])]} for backend in templates
        ],
        "STATIC_URL": settings.STATIC_URL,
        "STATICFILES_DIRS": [str(folder) for folder in settings.STATICFILES_DIRS],
        "GROUND_DIR": str(settings.GROUND_DIR),
        "PLACES_DIR": str(settings.PLACES_DIR),
        "USE_I18N": False,
    }
