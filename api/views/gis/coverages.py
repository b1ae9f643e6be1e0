"""Serves a map's raster (OGC API – Coverages, draft 19-087)."""

import hashlib
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.throttles import PublicThrottle, TilesThrottle, TokenThrottle
from api.views.gis import parameters
from api.views.gis.ogc import has_coverage
from api.views.gis.shared import GisView, conditional_answer, json_answer, published
from heatmaps import queries
from heatmaps.children.turns import turn
from heatmaps.exports import coverage, release_files
from heatmaps.exports.geotiff import BAND
from heatmaps.http import byte_ranges, caching
from heatmaps.models import Release
from heatmaps.releases.question import data_slice_of
from mechanisms.check import ParameterError

_TIFF: Final = "image/tiff; application=geotiff"
_NAME: Final = "tif"


class CoverageView(GisView):
    """Serves the raster in whole, by byte ranges, or the cells that a box touches."""

    query: ClassVar = frozenset({"bbox", "subset", "datetime"})
    repeatable = frozenset({"subset"})

    def get_throttles(self) -> list[Any]:
        """Counts parts of the file with tiles; what is sent whole or made anew is as rare as files."""
        is_part = byte_ranges.asks_for_part(self.request) and not self.request.GET
        return [TokenThrottle(), TilesThrottle() if is_part else PublicThrottle()]

    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        release = _with_coverage(request, release_id)
        data_slice, region = data_slice_of(release), queries.released_region(release)
        if not parameters.meets(request.GET, data_slice.since, data_slice.until):
            return _nothing(request, release)
        box, file = parameters.subset(request.GET, region), release_files.download(release, _NAME)
        if box is None:
            return caching.answer(request, request.user, file, by="Authorization")
        key = hashlib.sha256(f"{file.key} {box}".encode()).hexdigest()
        answer, done = conditional_answer(request, release, f'"{key}"', _TIFF)
        if done:
            return answer
        try:
            with turn(), file.open() as stream:
                answer.content = coverage.part_of(stream, box)
        except ParameterError as error:
            raise ValidationError({error.parameter: f"{error.value}; allowed: {error.allowed}"}) from error
        return answer if answer.content else _nothing(request, release)

    get.query = query  # type: ignore[attr-defined]  # as `api.schema.operation` does


class RasterSchemaView(GisView):
    """Describes the values of a raster, as a JSON schema."""

    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        release = _with_coverage(request, release_id)
        values = release_files.kind_of(release).format_of(f".{_NAME}").values
        field = {"title": BAND, "description": values, "type": "number", "x-ogc-propertySeq": 1}
        content = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "title": release.dataset.title,
            "properties": {"share": field},
        }
        return json_answer(request, content, release=release, kind="application/schema+json")


def _nothing(request: Request, release: Release) -> HttpResponse:
    answer = HttpResponse(status=204)
    caching.mark(answer, request.user, release, by="Authorization")
    return answer


def _with_coverage(request: Request, release_id: UUID) -> Release:
    release = published(request, release_id)
    if not has_coverage(release):
        raise Http404("this release has no raster")
    return release
