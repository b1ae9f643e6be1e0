"""Reads a raster in a child: somebody's GeoTIFF comes in, shares of a region go out."""

import json
import os
import resource
import sys
import warnings
from typing import Any, Final

import numpy as np
from rasterio._err import CPLE_BaseError
from rasterio.crs import CRS
from rasterio.env import Env
from rasterio.errors import NotGeoreferencedWarning, RasterioError
from rasterio.io import MemoryFile
from rasterio.warp import transform

from heatmaps.guides import cell_sums
from heatmaps.guides.release_sheets import FileSheet
from mechanisms.check import ParameterError
from mechanisms.guide import Guide
from mechanisms.space.grid import Region

MOST_PIXELS: Final = 2**27
_CACHE_BYTES: Final = 2**26
_NOTHING_BESIDE: Final = {
    "GDAL_CACHEMAX": _CACHE_BYTES,
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_PAM_ENABLED": False,
    "GDAL_GEOREF_SOURCES": "INTERNAL",
    "GDAL_NUM_THREADS": 1,
}
# Of odd places and types of numbers the library raises whatever comes.
_LIBRARY_ERRORS: Final = (RasterioError, CPLE_BaseError, TypeError, ValueError, OverflowError)
UNREADABLE: Final = "a GeoTIFF that is whole, and that less memory can read"


def main() -> None:
    """Reads a raster as a guide, in a child.

    Input: a line with the descriptors and the region. Output, into the descriptor of the answer: a line of
    JSON, with the refusal or the release sheet, if there is one; 4,096 shares, little-endian.
    """
    request = json.loads(sys.stdin.buffer.readline())
    with os.fdopen(request["file"], "rb") as stream:
        content = stream.read()
    _open_no_more_files()
    with os.fdopen(request["answer"], "wb") as answer:
        try:
            guide, sheet = guide_of(content, Region(*request["region"]))
        except ParameterError as error:
            refusal = {"refused": [error.value.removeprefix("'").removesuffix("'"), error.allowed]}
            answer.write(json.dumps(refusal).encode() + b"\n")
        else:
            first_line = {"sheet": None if sheet is None else sheet.to_json()}
            answer.write(json.dumps(first_line).encode() + b"\n" + guide.shares.astype("<i8").tobytes())


def guide_of(content: bytes, region: Region) -> tuple[Guide, FileSheet | None]:
    """Reads a guide. Errors: `ParameterError` naming `guide`."""
    try:
        with warnings.catch_warnings(), Env(**_NOTHING_BESIDE), MemoryFile(content) as file:
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with file.open(driver="GTiff") as raster:
                _check(raster)
                sheet = FileSheet.of_tags(raster.tags())
                return Guide.of_values(cell_sums.of_raster(raster, region)), sheet
    except ParameterError:
        raise
    except _LIBRARY_ERRORS:
        raise ParameterError("guide", "this file", UNREADABLE) from None


def _check(raster: Any) -> None:
    """Refuses what can be refused without reading a pixel."""
    pixels, place = raster.width * raster.height, raster.transform
    if pixels > MOST_PIXELS:
        raise ParameterError(
            "guide", f"{raster.width} by {raster.height} pixels", f"at most {MOST_PIXELS} pixels"
        )
    if np.issubdtype(np.dtype(raster.dtypes[0]), np.complexfloating):
        raise ParameterError("guide", raster.dtypes[0], "whole or floating point numbers")
    if raster.crs is None or place.is_identity:
        raise ParameterError(
            "guide", "a raster without a place", "one with a coordinate system and a transform"
        )
    if not np.isfinite(place).all() or place.b or place.d or not (place.a and place.e):
        raise ParameterError("guide", "a rotated raster", "one whose rows and columns follow its coordinates")


def _open_no_more_files() -> None:
    """Forbids further files: a file can name others, or addresses.

    The data of projections are opened before.
    """
    transform(CRS.from_epsg(3857), CRS.from_epsg(4326), [0.0], [0.0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
