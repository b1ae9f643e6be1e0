"""A published map as a file to hand out: alone, with its release sheet, or the sheet alone."""

import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO, Final

from heatmaps import queries, releases
from heatmaps.exports import Format, format_of, release_sheet
from heatmaps.models import Release
from heatmaps.wording.release import for_release
from mechanisms.grid import Region
from mechanisms.guarantee import Guarantee
from mechanisms.interface import Heatmap

ZIP: Final = ".zip"
SHEET: Final = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """An open file at its start; whoever sends it closes it."""

    name: str
    content_type: str
    stream: BinaryIO


def download(release: Release, suffix: str) -> Download:
    """A published release as a file.

    `suffix`: that of a format without its dot ("npy"); with ".zip" behind it, together with the release
    sheet; "json" for the sheet alone. Errors: `ParameterError` for another suffix, or naming `resolution`.
    """
    found = _read(release)
    if suffix == SHEET:
        content = json.dumps(_sheet(found, values=""), indent=2, ensure_ascii=False).encode()
        return Download(name=f"{found.stem}.json", content_type="application/json", stream=BytesIO(content))
    chosen = format_of("." + suffix.removesuffix(ZIP))
    name = f"{found.stem}{chosen.suffix}"
    if suffix.endswith(ZIP):
        return Download(name=name + ZIP, content_type="application/zip", stream=_zipped(found, chosen))
    return Download(name=name, content_type=chosen.content_type, stream=_plain(found, chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    release: Release
    heatmap: Heatmap
    region: Region
    stem: str  # of the file's name


def _read(release: Release) -> _Published:
    day = release.result.created_at.date()
    return _Published(
        release=release,
        heatmap=releases.heatmap_of(release),
        region=queries.region_of(release.dataset),
        stem=f"{release.dataset.slug}-{day.isoformat()}-{release.mechanism}",
    )


def _sheet(found: _Published, *, values: str) -> dict[str, Any]:
    release = found.release
    return release_sheet(
        heatmap=found.heatmap,
        mechanism=release.mechanism,
        parameters=release.parameters,
        guarantee=Guarantee.from_json(release.guarantee),
        region=found.region,
        released=release.result.created_at.date(),
        radius_m=release.dataset.radius_m,
        statements=for_release(release),
        values=values,
    )


def _plain(found: _Published, chosen: Format) -> BinaryIO:
    return _temporary(lambda stream: chosen.write(found.heatmap, found.region, stream))


def _zipped(found: _Published, chosen: Format) -> BinaryIO:
    def write(stream: BinaryIO) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            with archive.open(f"{found.stem}{chosen.suffix}", "w", force_zip64=True) as member:
                chosen.write(found.heatmap, found.region, member)  # type: ignore[arg-type]  # IO[bytes]
            sheet = json.dumps(_sheet(found, values=chosen.values), indent=2, ensure_ascii=False)
            archive.writestr(f"{found.stem}.json", sheet)

    return _temporary(write)


def _temporary(write: Callable[[BinaryIO], None]) -> BinaryIO:
    """On disk: a grid of 4,096 cells a side is 128 MB. The file is gone once it is sent."""
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    write(stream)
    stream.seek(0)
    return stream
