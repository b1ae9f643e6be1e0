"""A published release as a file to hand out: alone, with its release sheet, or the sheet alone."""

import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from typing import Any, BinaryIO, Final, cast

import yaml

from heatmaps import queries, releases
from heatmaps.exports import FORMATS_OF, Format, Released, format_of, release_sheet
from heatmaps.models import Release
from heatmaps.quotes import asked_of
from heatmaps.wording.release import for_release
from mechanisms import catalogue
from mechanisms.catalogue import Kind
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee

ZIP: Final = ".zip"
SHEET: Final = "json"
# How the files of a kind begin in addresses.
RESULT_NAMES: Final[Mapping[Kind, str]] = {
    "heatmap": "heatmap",
    "centroid": "point",
    "zones": "zones",
    "distances": "distances",
}
SHEETS: Final = {SHEET: "application/json", "yaml": "application/yaml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """An open file at its start; whoever sends it closes it."""

    name: str
    content_type: str
    stream: BinaryIO


def formats_for(release: Release) -> tuple[Format, ...]:
    """What a release can be had as: very fine grids have no file with every cell."""
    known = FORMATS_OF[kind_of(release)].values()
    return tuple(one for one in known if one.fits(release.resolution))


def check_kind(release: Release, kind: Kind) -> None:
    """Errors: `ParameterError` naming the files there are, where a release is of another kind."""
    own = kind_of(release)
    if own != kind:
        files = ", ".join(f"{RESULT_NAMES[own]}{suffix}" for suffix in FORMATS_OF[own])
        raise ParameterError("output", f"a {RESULT_NAMES[kind]}", f"the files of this release: {files}")


def kind_of(release: Release) -> Kind:
    return catalogue.get(release.mechanism).kind


def download(release: Release, suffix: str) -> Download:
    """A published release as a file.

    `suffix`: that of a format without its dot ("tif"); with ".zip" behind it, together with the release
    sheet; "json" or "yaml" for the sheet alone. Errors: `ParameterError` naming `output` for a suffix that
    the release's kind has not, `resolution` for too fine a grid.
    """
    if suffix in SHEETS:
        return _sheet_file(release, suffix)
    chosen = format_of("." + suffix.removesuffix(ZIP), kind_of(release))
    chosen.check(release.resolution)
    released = _released(release, chosen)
    name = f"{_stem(release)}{chosen.suffix}"
    if suffix.endswith(ZIP):
        content = _temporary(lambda stream: _zip(released, chosen, name, _day(release), stream))
        return Download(name=name + ZIP, content_type="application/zip", stream=content)
    content = _temporary(lambda stream: chosen.write(released, stream))
    return Download(name=name, content_type=chosen.content_type, stream=content)


def sheet_of(release: Release, *, values: str = "") -> dict[str, Any]:
    """The release sheet. values: what a number in the file beside it means."""
    return release_sheet(
        title=f"{release.dataset.title}, {catalogue.get(release.mechanism).title}",
        result=releases.result_of(release),
        mechanism=release.mechanism,
        parameters=release.parameters,
        guarantee=Guarantee.from_json(release.guarantee),
        region=queries.released_region(release),
        released=_day(release),
        radius_m=release.dataset.radius_m,
        asked=asked_of(release),
        whole_region=queries.region_of(release.dataset),
        statements=for_release(release),
        values=values,
    )


def _released(release: Release, chosen: Format) -> Released:
    return Released(
        result=releases.result_of(release),
        region=queries.released_region(release),
        sheet=sheet_of(release, values=chosen.values),
    )


def _sheet_file(release: Release, suffix: str) -> Download:
    sheet = sheet_of(release)
    text = _json(sheet) if suffix == SHEET else yaml.safe_dump(sheet, sort_keys=False, allow_unicode=True)
    return Download(
        name=f"{_stem(release)}.{suffix}", content_type=SHEETS[suffix], stream=BytesIO(text.encode())
    )


def _zip(released: Released, chosen: Format, name: str, day: date, stream: BinaryIO) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        with archive.open(_member(name, day), "w", force_zip64=True) as member:
            chosen.write(released, cast(BinaryIO, member))
        archive.writestr(_member(f"{name.removesuffix(chosen.suffix)}.json", day), _json(released.sheet))


def _member(name: str, day: date) -> zipfile.ZipInfo:
    """Dated by the day of the release, not by the clock."""
    member = zipfile.ZipInfo(name, date_time=(day.year, day.month, day.day, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _json(sheet: object) -> str:
    return json.dumps(sheet, indent=2, ensure_ascii=False) + "\n"


def _day(release: Release) -> date:
    return release.result.created_at.date()


def _stem(release: Release) -> str:
    return f"{release.dataset.slug}-{_day(release).isoformat()}-{release.mechanism}"


def _temporary(write: Callable[[BinaryIO], object]) -> BinaryIO:
    """On disk: a grid of 4,096 cells a side is 128 MB. The file is gone once it is closed."""
    stream = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - whoever sends it closes it
    write(stream)
    stream.seek(0)
    return stream
