"""Reads what was published: arrays, tables with shapes, rasters, pictures and files."""

import csv
import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hazemap_client import calls
from hazemap_client.connection import Connection, File, parsed
from hazemap_client.errors import BadAnswer, NotPublished
from hazemap_client.extras import needed

if TYPE_CHECKING:
    import geopandas
    import numpy as np
    import rasterio
    from numpy.typing import NDArray
    from PIL import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A released central point; within `within_m` metres with probability 95 %."""

    lat: float
    lon: float
    expected_m: float
    within_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneShare:
    """The share of one zone, and its standard error."""

    zone: int
    name: str
    share: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceDistance:
    """How far people are from a place on average, in metres."""

    place: int
    name: str
    lat: float
    lon: float
    distance_m: float
    standard_error_m: float


Row = TypeVar("Row", Point, ZoneShare, PlaceDistance)


class Results(ABC):
    """What a published release can be read as. Errors of all: `NotPublished`, `Refusal`."""

    __slots__ = ()
    id: str
    connection: Connection

    @property
    @abstractmethod
    def stem(self) -> str:
        """How the names of its files begin."""

    def file(self, suffix: str, *, look: str | None = None, layer: str | None = None) -> bytes:
        """A file, such as "png" or "geojson". look: light or dark; layer of a map's PNG: heat or squares."""
        query = {"look": look, "layer": layer}
        call = calls.FILES[self.stem]
        return self.connection.ask(call, query=query, release_id=self.id, suffix=suffix).body

    def save(self, path: File, *, look: str | None = None) -> Path:
        """Save the file that the path's suffix names, of any size."""
        to, call = Path(path), calls.FILES[self.stem]
        suffix = "".join(to.suffixes[-2:] if to.suffix == ".zip" else [to.suffix]).removeprefix(".")
        return self.connection.save(call, to, query={"look": look}, release_id=self.id, suffix=suffix)

    def array(self) -> "NDArray[np.float64]":
        """A map as shares of 1: `(rows, columns)`, row 0 in the north. Needs numpy."""
        numpy = needed("numpy", extra="array")
        try:
            read: NDArray[np.float64] = numpy.lib.format.read_array(
                io.BytesIO(self.file("npy")), allow_pickle=False
            )
        except (ValueError, EOFError):
            raise BadAnswer("The server's file is not a NumPy array.") from None
        return read

    def geodataframe(self) -> "geopandas.GeoDataFrame":
        """Any result as a table with shapes in EPSG:4326; `attrs` has the release sheet. Needs geopandas."""
        geopandas, found = needed("geopandas", extra="geo"), self.geojson()
        table = geopandas.GeoDataFrame.from_features(found["features"], crs="EPSG:4326")
        table.attrs["release_sheet"] = found.get("release_sheet", {})
        return table

    def raster(self) -> "rasterio.DatasetReader":
        """A map as a GeoTIFF that is open, north up; `with release.raster() as raster`. Needs rasterio."""
        raster, file = needed("rasterio", extra="raster"), io.BytesIO(self.file("tif"))
        try:
            # Files of other kinds may name further ones, of this machine too, that would be opened.
            opened: rasterio.DatasetReader = raster.open(file, driver="GTiff")
        except raster.errors.RasterioError:
            raise BadAnswer("The server's file is not a GeoTIFF.") from None
        return opened

    def png(self, *, look: str = "light", layer: str | None = None) -> bytes:
        """A picture with its legend."""
        return self.file("png", look=look, layer=layer)

    def picture(self, *, look: str = "light", layer: str | None = None) -> "Image.Image":
        """The same to draw on. Needs pillow."""
        images, file = needed("PIL.Image", extra="picture"), io.BytesIO(self.png(look=look, layer=layer))
        try:
            image: Image.Image = images.open(file, formats=["PNG"])
        except OSError:
            raise BadAnswer("The server's file is not a PNG picture.") from None
        return image

    def geojson(self) -> dict[str, Any]:
        """A FeatureCollection, with the release sheet as its member `release_sheet`."""
        return _collection(self.file("geojson"))

    def csv(self) -> str:
        """A table as text."""
        try:
            return self.file("csv").decode()
        except UnicodeDecodeError:
            pass
        raise BadAnswer("The server's table is not text.")

    def sheet(self) -> dict[str, Any]:
        """The release sheet: what is promised, how it was made, and what is not protected."""
        found = parsed(self.file("json"))
        return found if isinstance(found, dict) else {}

    def point(self) -> Point:
        """The central point of a release that has one."""
        return next(iter(self._rows(Point, "point")))

    def zones(self) -> list[ZoneShare]:
        """The shares of a release of zones."""
        return self._rows(ZoneShare, "zones")

    def distances(self) -> list[PlaceDistance]:
        """The mean distances of a release of places."""
        return self._rows(PlaceDistance, "distances")

    def _rows(self, kind: type[Row], stem: str) -> list[Row]:
        if self.stem != stem:
            raise NotPublished(f"This release has files of {self.stem}, not of {stem}.")
        casts = kind.__annotations__
        rows = csv.DictReader(io.StringIO(self.csv()))
        try:
            return [kind(**{name: cast(row[name]) for name, cast in casts.items()}) for row in rows]
        except (KeyError, TypeError, ValueError):
            raise BadAnswer(f"The server's table of {stem} has other columns.") from None


def _collection(body: bytes) -> dict[str, Any]:
    found = parsed(body)
    if not isinstance(found, dict) or not isinstance(found.get("features"), list):
        raise BadAnswer("The server's file is not a GeoJSON collection.")
    return found
