"""Writes the map as a raster for geographic information systems."""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import rasterio
from rasterio.crs import CRS
from rasterio.transform import from_bounds

from heatmaps.exports.content import Released
from heatmaps.exports.sheet_words import headline

BAND: Final = "share of the map in a cell"
_WGS84: Final = 4326


def write_geotiff(released: Released, stream: BinaryIO) -> None:
    """One float64 band as in `Heatmap.dense`, north up, EPSG:4326; the release sheet is in the tags.

    A tag a key of the sheet: texts as they are, everything else as JSON.
    Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    values = released.heatmap.dense()
    height, width = values.shape
    with TemporaryDirectory() as folder:  # on disk: GDAL would hold a second raster in memory
        path = Path(folder) / "map.tif"
        with rasterio.open(
            path,
            "w",
            driver="GTiff",
            width=width,
            height=height,
            count=1,
            dtype="float64",
            crs=CRS.from_epsg(_WGS84),
            transform=from_bounds(*released.region, width, height),
            compress="deflate",
            predictor=3,  # for floating point numbers
            tiled=height >= 512,
        ) as raster:
            raster.update_tags(**_tags(released))
            raster.set_band_description(1, BAND)
            raster.write(values, 1)
        with path.open("rb") as written:
            shutil.copyfileobj(written, stream)


def _tags(released: Released) -> dict[str, str]:
    sheet = released.sheet
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in sheet.items()}
    day = str(sheet["released"]).replace("-", ":")
    return texts | {
        "TIFFTAG_IMAGEDESCRIPTION": f"{released.title}. {headline(sheet)}",
        "TIFFTAG_SOFTWARE": "Hazemap",
        "TIFFTAG_DATETIME": f"{day} 00:00:00",  # a day only, as everywhere
    }
