"""Serves the start of OGC API: landing page, conformance, description, collections."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import reverse
from rest_framework.request import Request

from api.throttles import PublicThrottle, TokenThrottle
from api.views.gis import parameters
from api.views.gis.description import openapi_of
from api.views.gis.shared import GisView, Links, address, json_answer, published
from heatmaps import queries
from heatmaps.data_slice import moment_or_none
from heatmaps.exports import release_files
from heatmaps.models import Release
from heatmaps.people.permissions import note_reads
from heatmaps.releases.question import data_slice_of
from heatmaps.wording.release import promise_of
from heatmaps.wording.release_line import made_title

CRS84: Final = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
OPENAPI: Final = "application/vnd.oai.openapi+json;version=3.0"
GEOJSON: Final = "application/geo+json"
TIFF: Final = "image/tiff; application=geotiff; profile=cloud-optimized"
COVERAGE: Final = "http://www.opengis.net/def/rel/ogc/1.0/coverage"
_GREGORIAN: Final = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"
_CLASSES: Final = (
    "ogcapi-common-1/1.0/conf/core",
    "ogcapi-common-2/1.0/conf/collections",
    *(f"ogcapi-features-1/1.0/conf/{name}" for name in ("core", "geojson", "oas30")),
    *(f"ogcapi-coverages-1/1.0/conf/{name}" for name in ("core", "subsetting", "geotiff")),
)
_USUAL_PAGE, _MOST_ON_PAGE = 50, 200
_ABOUT: Final = (
    "Published maps, points, zones and distances with their privacy loss. Each release is a collection."
)


class LandingView(GisView):
    def get(self, request: Request) -> HttpResponseBase:
        links = Links(request)
        links.add("self", "landing", title="This document")
        links.add("service-desc", "ogc-api", kind=OPENAPI, title="The description of this API")
        links.add("conformance", "conformance", title="The standards that it follows")
        links.add("data", "collections", title="The releases that you may see")
        return json_answer(request, {"title": "Hazemap", "description": _ABOUT, "links": links.made})


class ConformanceView(GisView):
    def get(self, request: Request) -> HttpResponseBase:
        return json_answer(
            request, {"conformsTo": [f"http://www.opengis.net/spec/{name}" for name in _CLASSES]}
        )


class DescriptionView(GisView):
    def get(self, request: Request) -> HttpResponseBase:
        return json_answer(request, openapi_of(address(request, "landing").rstrip("/")), kind=OPENAPI)


class CollectionsView(GisView):
    """Lists the published releases that whoever asks may see, the latest first."""

    query: ClassVar = frozenset({"limit", "offset"})
    throttle_classes = [TokenThrottle, PublicThrottle]  # a page of it is as much work as a file

    def get(self, request: Request) -> HttpResponseBase:
        limit = parameters.whole(request.GET, "limit", usual=_USUAL_PAGE, least=1, most=_MOST_ON_PAGE)
        offset = parameters.whole(request.GET, "offset", usual=0, least=0, most=10**9)
        rows = queries.readable_releases(request.user)
        releases = list(rows[offset : offset + limit])
        note_reads(request.user, {release.dataset_id for release in releases if not release.is_public})
        links = Links(request)
        links.add_pages("collections", offset=offset, limit=limit, count=rows.count())
        content = {"links": links.made, "collections": [collection(request, release) for release in releases]}
        return json_answer(request, content)

    get.query = query  # type: ignore[attr-defined]  # as `api.schema.operation` does


class CollectionView(GisView):
    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        release = published(request, release_id)
        return json_answer(request, collection(request, release), release=release)


def collection(request: Request, release: Release) -> dict[str, Any]:
    """Describes a release as a collection: public facts alone."""
    data_slice, promise = data_slice_of(release), promise_of(release)
    period = [moment_or_none(data_slice.since), moment_or_none(data_slice.until)]
    return {
        "id": str(release.pk),
        "title": f"{release.dataset.title}: {made_title(release)}",
        "description": promise,
        "attribution": promise,
        "extent": {
            "spatial": {"bbox": [list(queries.released_region(release))], "crs": CRS84, **_grid(release)},
            "temporal": {"interval": [period], "trs": _GREGORIAN},
        },
        "itemType": "feature",
        "crs": [CRS84],
        "links": _links(request, release),
    }


def has_coverage(release: Release) -> bool:
    """Tells whether every cell of it is in a raster."""
    return any(file_format.in_parts for file_format in release_files.formats_for(release))


def _grid(release: Release) -> Mapping[str, Any]:
    if not has_coverage(release):
        return {}
    west, south, east, north = queries.released_region(release)
    cells = release.resolution or 1
    steps = ((east - west) / cells, (north - south) / cells)
    return {"grid": [{"cellsCount": cells, "resolution": step} for step in steps]}


def _links(request: Request, release: Release) -> list[dict[str, str]]:
    links, own = Links(request), (release.pk,)
    links.add("self", "collection", own, title="This collection")
    links.add("items", "items", own, kind=GEOJSON, title="Its features")
    if has_coverage(release):
        links.add(COVERAGE, "coverage", own, kind=TIFF, title="Its raster, the share of the map in each cell")
        links.add("http://www.opengis.net/def/rel/ogc/1.0/schema", "schema", own, title="What its values are")
        links.add("alternate", "tilejson", own, title="Its tiles (TileJSON)")
    sheet = request.build_absolute_uri(reverse("release-sheet", args=own))
    links.made.append(
        {
            "href": sheet,
            "rel": "describedby",
            "type": "text/html",
            "title": "Its release sheet: what is promised",
        }
    )
    return links.made
