"""Rasters to be guides, and bytes that are none."""

import numpy as np
import rasterio
from rasterio.io import MemoryFile
from rasterio.transform import from_bounds

from mechanisms.space.grid import Region

CITY = Region(-98.3, 29.8, -97.3, 31.0)


def raster(values, *, bounds=tuple(CITY), crs="EPSG:4326", place=None, bands=1, tags=None, **options):
    """The bytes of a GeoTIFF; bounds or place: where it lies in its coordinates."""
    values = np.asarray(values)
    height, width = values.shape
    with MemoryFile() as file:
        with file.open(
            driver="GTiff",
            width=width,
            height=height,
            count=bands,
            dtype=values.dtype,
            crs=crs,
            transform=place or from_bounds(*bounds, width, height),
            **options,
        ) as opened:
            opened.write(values, 1)
            for namespace, named in (tags or {}).items():
                opened.update_tags(ns=namespace, **named)
        return file.read()


def sparse(path, side, **options):
    """A small file that claims a large square of pixels."""
    rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=side,
        height=side,
        count=1,
        crs="EPSG:4326",
        transform=from_bounds(*CITY, side, side),
        SPARSE_OK=True,
        **options,
    ).close()
    return path
