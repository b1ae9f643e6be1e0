"""A published map as a file: alone, or in a ZIP with its release sheet beside it."""

import json
import tempfile
import zipfile
from dataclasses import dataclass
from typing import Any, BinaryIO, Final
from uuid import UUID

from django.http import FileResponse, Http404, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from heatmaps import queries, releases
from heatmaps.exports import Format, format_of, release_sheet
from heatmaps.models import Release
from heatmaps.views.releases import published_for
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release import for_release
from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.guarantee import Guarantee
from mechanisms.interface import Heatmap

ZIP: Final = ".zip"
SHEET: Final = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    release: Release
    heatmap: Heatmap
    region: Region
    stem: str  # of the file's name


@require_safe
def download(request: PersonRequest, release_id: UUID, suffix: str) -> HttpResponseBase:
    """`suffix`: "npy", "csv"; "npy.zip", "csv.zip" with the release sheet; "json" for the sheet alone."""
    found = _read(published_for(request, release_id))
    if suffix == SHEET:
        return _sheet_alone(found)
    chosen = _format(suffix.removesuffix(ZIP))
    if suffix.endswith(ZIP):
        return _file(f"{found.stem}{chosen.suffix}{ZIP}", "application/zip", _zipped(found, chosen))
    return _file(f"{found.stem}{chosen.suffix}", chosen.content_type, _plain(found, chosen))


def _read(release: Release) -> _Published:
    day = release.result.created_at.date()
    return _Published(
        release=release,
        heatmap=releases.heatmap_of(release),
        region=queries.region_of(release.dataset),
        stem=f"{release.dataset.slug}-{day.isoformat()}-{release.mechanism}",
    )


def _format(suffix: str) -> Format:
    try:
        return format_of(f".{suffix}")
    except ParameterError as error:
        raise Http404(str(error)) from error


def _sheet_alone(found: _Published) -> JsonResponse:
    response = JsonResponse(_sheet(found, values=""), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{found.stem}.json"'
    return response


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


def _temporary(write: Any) -> BinaryIO:
    """On disk: a grid of 4,096 cells a side is 128 MB. The file is gone once it is sent."""
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    write(stream)
    stream.seek(0)
    return stream


def _file(name: str, content_type: str, stream: BinaryIO) -> FileResponse:
    return FileResponse(stream, as_attachment=True, filename=name, content_type=content_type)
