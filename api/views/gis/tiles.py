"""Serves published maps as tiles of web maps."""

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponseBase
from django.utils.html import escape
from rest_framework.request import Request

from api.views.gis.shared import GisView, address, conditional_answer, json_answer, published
from api.views.shared import one_of
from heatmaps.exports import release_files
from heatmaps.exports.content import HEAT, LAYERS
from heatmaps.exports.sheet_words import headline
from heatmaps.exports.tiles import MapTiles, tiles_of
from heatmaps.maps.looks import LIGHT, LOOKS
from heatmaps.maps.tile_drawing import Tile
from heatmaps.models import Release

_DRAWN: Final = frozenset({"look", "layer"})


class MapTileView(GisView):
    """Serves one tile."""

    def get(
        self, request: Request, *, release_id: UUID, zoom: int, x: int, y: int, scale: int
    ) -> HttpResponseBase:
        release, tile = published(request, release_id), Tile(zoom=zoom, x=x, y=y)
        tiles = _tiles(request, release)
        if not tiles.has(tile):
            raise Http404(
                f"no such tile: this map has zooms from 0 to {tiles.largest_zoom}, and columns and rows "
                "below 2 to the power of the zoom"
            )
        answer, done = conditional_answer(request, release, tiles.etag(tile, scale), "image/png")
        if not done:
            answer.content = tiles.png(tile, scale)
        return answer

    get.query = _DRAWN  # type: ignore[attr-defined]  # as `api.schema.operation` does


class TileJsonView(GisView):
    """Tells programs what they need to know of a map's tiles (TileJSON 3.0)."""

    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        release = published(request, release_id)
        return json_answer(request, _tile_json(request, release, _tiles(request, release)), release=release)

    get.query = _DRAWN  # type: ignore[attr-defined]  # as above


def _tiles(request: Request, release: Release) -> MapTiles:
    look = one_of(request, "look", LOOKS, default=LIGHT.name)
    layer = one_of(request, "layer", LAYERS, default=HEAT)
    return tiles_of(release, look=look, layer=layer)


def _tile_json(request: Request, release: Release, tiles: MapTiles) -> dict[str, Any]:
    sheet, (west, south, east, north) = release_files.sheet_of(release), tiles.region
    about = f"{sheet['title']}. {headline(sheet)}"
    sample = address(request, "tile", release.pk, 0, 0, 0).removesuffix("0/0/0.png")
    query = request.GET.urlencode()
    return {
        "tilejson": "3.0.0",
        "name": sheet["title"],
        "description": about,
        "attribution": escape(about),  # programs show it as HTML
        "scheme": "xyz",
        "tiles": [f"{sample}{{z}}/{{x}}/{{y}}.png{'?' if query else ''}{query}"],
        "bounds": [west, south, east, north],
        "center": [(west + east) / 2, (south + north) / 2, max(tiles.largest_zoom - 5, 0)],
        "minzoom": 0,
        "maxzoom": tiles.largest_zoom,
    }
