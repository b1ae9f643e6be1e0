"""Lists the addresses by which map programs read a published release, and what to do with each."""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from heatmaps.exports import release_files
from heatmaps.models import Release
from heatmaps.result_kinds import RESULT_KINDS

_MAP: Final = RESULT_KINDS["heatmap"]
_TILES: Final = "In QGIS, add it as an XYZ layer. In Leaflet, give it to L.tileLayer."
_TILEJSON: Final = "In MapLibre, make it the url of a raster source with a tileSize of 256."
_RASTER: Final = "In QGIS, add it as a raster layer by HTTP. In GDAL, put /vsicurl/ before it."
_OGC: Final = "In QGIS, add a WFS layer with the version “OGC API – Features”. In GDAL, put OAPIF: before it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Holds an address and what to do with it."""

    title: str
    text: str
    how: str


def uses_of(request: HttpRequest, release: Release) -> list[Use]:
    """Returns the uses of a published release, for whoever sees it; only maps have tiles and, unless very
    fine, a raster."""
    about, addresses = [release.pk], []
    if release_files.kind_of(release) is _MAP:
        tile = reverse("gis:tile", args=[*about, 0, 0, 0]).removesuffix("0/0/0.png") + "{z}/{x}/{y}.png"
        addresses += [("Tiles", tile, _TILES), ("TileJSON", reverse("gis:tilejson", args=about), _TILEJSON)]
    if any(file_format.in_parts for file_format in release_files.formats_for(release)):
        raster = reverse("api:" + _MAP.stem, args=[*about, "tif"])
        addresses.append(("Cloud-Optimized GeoTIFF", raster, _RASTER))
    addresses.append(("OGC API", reverse("gis:landing"), _OGC))
    place = request.build_absolute_uri("/").removesuffix("/")
    return [Use(title=title, text=place + path, how=how) for title, path, how in addresses]
