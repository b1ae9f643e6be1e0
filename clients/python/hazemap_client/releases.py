"""Releases: from the question to what was published of it."""

import csv
import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from hazemap_client import calls, markup
from hazemap_client.components import Awaited, Component
from hazemap_client.connection import File
from hazemap_client.decoding import parsed
from hazemap_client.errors import BadAnswer, HazemapError, MissingExtra, NotPublished
from hazemap_client.numbers import Exact
from hazemap_client.questions import Charge, ErrorBound

if TYPE_CHECKING:
    import geopandas
    import numpy as np
    import rasterio
    from numpy.typing import NDArray
    from PIL import Image

T = TypeVar("T")


class ReleaseLinks(Component):
    """The files of a published release by suffix, under the name of its kind of result."""

    heatmap: Mapping[str, str] | None = None
    point: Mapping[str, str] | None = None
    zones: Mapping[str, str] | None = None
    distances: Mapping[str, str] | None = None


class Area(Component):
    """Twice the standard error to either side holds the truth 19 times in 20."""

    area: str
    people: float
    standard_error: float
    share: float
    covered: float


class Areas(Component):
    """A map added up: in the order of the polygons, without those that do not lie on it."""

    areas: tuple[Area, ...]
    is_bound: bool
    outside: int

    def _repr_html_(self) -> str:
        heads = ("area", "people", "± (19 of 20)", "share", "covered")
        caption = f"{self.outside} areas do not lie on the map." if self.outside else ""
        return markup.table(map(_line, self.areas), heads=heads, caption=caption)


class Release(Awaited):
    """What was asked for, what it cost, when its result appears, and what that can be read as.

    Errors of all that read results: `NotPublished`, `Refusal`.
    """

    reading: ClassVar = calls.READ_RELEASE
    title: str
    name: str
    note: str
    mechanism: str
    epsilon: Exact
    delta: Exact
    resolution: int | None
    parameters: Mapping[str, Any]
    data_slice: Mapping[str, Any]  # since, until, rectangle
    version: int
    guarantee: Mapping[str, Any]  # exact numbers as texts, "p/q" or "inf"
    distance: str
    charges: tuple[Charge, ...]
    expected_error: ErrorBound | None
    public: bool
    requested_at: datetime
    starts_at: datetime
    visible_at: datetime
    late: int
    expires_at: datetime | None
    links: ReleaseLinks

    def due(self) -> datetime:
        """When its outcome is public (published, cancelled or no_result): known from the start."""
        return self.visible_at

    def cancel(self) -> Self:
        """Cancel it before `starts_at`: its charge comes back."""
        return self._asked(calls.CANCEL_RELEASE)

    def publish(self, *, public: bool = True) -> Self:
        """Show it to everybody, or hide it again. For stewards."""
        return self._asked(calls.CHANGE_RELEASE, {"public": public})

    def file(self, suffix: str, **drawn: str) -> bytes:
        """A file, such as "png", "csv" or "geojson".

        drawn: the look of a picture (light or dark), and the layer of a map's picture (heat or squares).
        """
        return self.connection.ask(self._file(), query=drawn, release_id=self.id, suffix=suffix).body

    def save(self, path: File, **drawn: str) -> Path:
        """Save the file that the path's suffix names, of any size; `drawn` as of `file`."""
        return self.connection.save(self._file(), path, query=drawn, release_id=self.id)

    def array(self) -> "NDArray[np.float64]":
        """A map as shares of 1: `(rows, columns)`, row 0 in the north. Needs numpy."""
        return self._read("npy", _needed("numpy.lib.format", extra="array").read_array)  # loads no pickle

    def geodataframe(self) -> "geopandas.GeoDataFrame":
        """Any result as a table with shapes in EPSG:4326; `attrs` has the release sheet. Needs geopandas.

        Squares of a map with the same number `rectangle` were measured together: `dissolve("rectangle")`.
        """
        geopandas, found = _needed("geopandas", extra="geo"), self.geojson()
        table = geopandas.GeoDataFrame.from_features(found["features"], crs="EPSG:4326")
        table.attrs["release_sheet"] = found.get("release_sheet", {})
        return table

    def raster(self) -> "rasterio.DatasetReader":
        """A map as a GeoTIFF that is open, north up; `with release.raster() as raster`. Needs rasterio."""
        rasters = _needed("rasterio", extra="raster")
        # Files of other kinds may name further ones, of this machine too, that would be opened.
        return self._read("tif", lambda file: rasters.open(file, driver="GTiff"))

    def picture(self, **drawn: str) -> "Image.Image":
        """A picture with its legend, to draw on; `drawn` as of `file`. Needs pillow."""
        images = _needed("PIL.Image", extra="picture")
        image: Image.Image = self._read("png", lambda file: images.open(file, formats=["PNG"]), **drawn)
        return image

    def geojson(self) -> dict[str, Any]:
        """A FeatureCollection, with the release sheet as its member `release_sheet`."""
        found = parsed(self.file("geojson"))
        if not isinstance(found, dict) or not isinstance(found.get("features"), list):
            raise BadAnswer("The server's file is not a GeoJSON collection.")
        return found

    def sheet(self) -> dict[str, Any]:
        """The release sheet: what is promised, how it was made, and what is not protected."""
        found = parsed(self.file("json"))
        return found if isinstance(found, dict) else {}

    def rows(self) -> list[dict[str, str]]:
        """The lines of its table by column: squares of a map, zones, distances, or the point."""
        return self._read("csv", lambda file: list(csv.DictReader(io.TextIOWrapper(file, "utf-8"))))

    def people_in(self, areas: Any) -> Areas:
        """Add a published map up, free of charge, in polygons: GeoJSON, or what has a `__geo_interface__`.
        Every number has its error."""
        return self.connection.one(calls.SUM_AREAS, Areas, body=areas, release_id=self.id)

    @property
    def sentence(self) -> str:
        """What it costs, and how far it may be off."""
        costs = ", ".join(f"{one.account} {markup.bound(one.amount)}" for one in self.charges)
        charged = f" (charged: {costs})" if costs else ""
        error = f"; expected error {self.expected_error}" if self.expected_error else ""
        return f"ε = {self.epsilon}, δ = {self.delta}{charged}{error}."

    def _repr_html_(self) -> str:
        try:
            drawn = markup.picture(self.file("png"), alt=f"{self.title}. {self.sentence}")
            statements = self.sheet().get("statements")
            said = statements[:1] if isinstance(statements, list) else []
        except HazemapError as error:
            drawn, said = "", [error]
        return drawn + markup.paragraphs((self.title, self.sentence, *map(str, said)))

    def _read(self, suffix: str, read: Callable[[io.BytesIO], T], **drawn: str) -> T:
        file = io.BytesIO(self.file(suffix, **drawn))
        with suppress(OSError, ValueError, EOFError, csv.Error):
            return read(file)
        raise BadAnswer(f"The server's file is not one of the kind {suffix}.")

    def _file(self) -> calls.Call:
        for stem, call in calls.FILES.items():
            if getattr(self.links, stem) is not None:
                return call
        moment = self.visible_at.isoformat(timespec="seconds")
        raise NotPublished(f"It has no result: it is {self.state}; its outcome is public at {moment}.")


def _line(area: Area) -> tuple[object, ...]:
    numbers = (f"{area.people:,.1f}", f"{2 * area.standard_error:,.1f}")
    return area.area, *numbers, f"{area.share:.1%}", f"{area.covered:.0%}"


def _needed(module: str, *, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f"{module} is missing: pip install 'hazemap-client[{extra}]'") from None
