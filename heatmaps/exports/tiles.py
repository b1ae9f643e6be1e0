"""Keeps the picture that the tiles of a published map are cut from."""

from dataclasses import dataclass

from heatmaps import queries
from heatmaps.exports import release_files
from heatmaps.exports.content import HEAT
from heatmaps.exports.release_files import Download
from heatmaps.maps import tile_drawing
from heatmaps.maps.looks import LIGHT
from heatmaps.maps.tile_drawing import Tile
from heatmaps.models import Release
from heatmaps.result_kinds import RESULT_KINDS
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTiles:
    """Draws the tiles of one map in one look; nothing is made before one of them is drawn."""

    region: Region
    largest_zoom: int
    picture: Download

    def has(self, tile: Tile) -> bool:
        """Tells whether it is one of a web map's, at a zoom that shows more than the one before."""
        return tile.exists and tile.zoom <= self.largest_zoom

    def etag(self, tile: Tile, scale: int) -> str:
        return f'"{self.picture.key}-{tile.zoom}-{tile.x}-{tile.y}-{scale}"'

    def png(self, tile: Tile, scale: int) -> bytes:
        """Returns a tile as PNG. Errors: Busy, NotRendered."""
        with self.picture.open() as stream:
            return tile_drawing.tile_png(stream, self.region, tile, scale=scale)


def tiles_of(release: Release, *, look: str = LIGHT.name, layer: str = HEAT) -> MapTiles:
    """Returns the tiles of a published map. Errors: `ParameterError` where something else was released."""
    release_files.check_kind(release, RESULT_KINDS["heatmap"])
    region = queries.released_region(release)
    return MapTiles(
        region=region,
        largest_zoom=tile_drawing.largest_zoom(region, release.resolution or 1),
        picture=release_files.picture(release, look=look, layer=layer),
    )
