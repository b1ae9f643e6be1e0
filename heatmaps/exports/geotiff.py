"""Writes the map as a Cloud-Optimized GeoTIFF: a raster whose parts can be read over HTTP."""

import json
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Final

import rasterio
import rasterio.shutil
from rasterio.crs import CRS
from rasterio.transform import from_bounds

from heatmaps.exports.content import Released
from heatmaps.exports.sheet_words import headline

BAND: Final = "share of the map in a cell"
_WGS84: Final = 4326
_BLOCK: Final = 256  # cells a side of what is read at once
_COG: Final = {
    "blocksize": _BLOCK,
    "compress": "deflate",
    "predictor": "floating_point",
    # A mean keeps the unit, so that colours do not change with the zoom, as those of a sum would.
    "overview_resampling": "average",
}


def write_geotiff(released: Released, stream: BinaryIO) -> None:
    """Writes one float64 band as in `Heatmap.dense`, north up, EPSG:4326; the release sheet is in the tags.

    A tag a key of the sheet: texts as they are, everything else as JSON. Overviews have the mean of the cells
    under a pixel. Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written
    then.
    """
    values = released.heatmap.dense()
    height, width = values.shape
    # On disk: GDAL would hold a second raster in memory. In no folder of its own: the child makes none.
    with NamedTemporaryFile(suffix=".tif") as plain, NamedTemporaryFile(suffix=".tif") as cog:
        with rasterio.open(
            plain.name,
            "w",
            driver="GTiff",
            width=width,
            height=height,
            count=1,
            dtype="float64",
            crs=CRS.from_epsg(_WGS84),
            transform=from_bounds(*released.region, width, height),
        ) as raster:
            raster.update_tags(**_tags(released))
            raster.set_band_description(1, BAND)
            raster.write(values, 1)
        rasterio.shutil.copy(plain.name, cog.name, driver="COG", **_COG)
        with Path(cog.name).open("rb") as cog_stream:
            shutil.copyfileobj(cog_stream, stream)


def _tags(released: Released) -> dict[str, str]:
    sheet = released.sheet
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in sheet.items()}
    day = str(sheet["released"]).replace("-", ":")
    return texts | {
        "TIFFTAG_IMAGEDESCRIPTION": f"{released.title}. {headline(sheet)}",
        "TIFFTAG_SOFTWARE": "Hazemap",
        "TIFFTAG_DATETIME": f"{day} 00:00:00",  # a day only, as everywhere
    }
