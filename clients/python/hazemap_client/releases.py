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
    """Links the files of a published release by suffix, under the name of its kind of result."""

    heatmap: Mapping[str, str] | None = None
    point: Mapping[str, str] | None = None
    zones: Mapping[str, str] | None = None
    distances: Mapping[str, str] | None = None


class Area(Component):
    """Holds the sum of one area. Twice the standard error to either side holds the truth 19 times in 20."""

    area: str
    people: float
    standard_error: float
    share: float
    covered: float


class Areas(Component):
    """Adds a map up in the order of the polygons, without those that do not lie on it."""

    areas: tuple[Area, ...]
    is_bound: bool
    outside: int

    def _repr_html_(self) -> str:
        heads = ("area", "people", "± (19 of 20)", "share", "covered")
        caption = f"{self.outside} areas do not lie on the map." if self.outside else ""
        return markup.table(map(_line, self.areas), heads=heads, caption=caption)


class Release(Awaited):
    """Says what was asked for, what it cost, when its result appears, and what that can be read as.

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
        """Returns when its outcome is public (published, cancelled or no_result): known from the start."""
        return self.visible_at

    def cancel(self) -> Self:
        """Cancels it before `starts_at`: its charge comes back."""
        return self._load(calls.CANCEL_RELEASE)

    def publish(self, *, public: bool = True) -> Self:
        """Shows it to everybody, or hides it again. For stewards."""
        return self._load(calls.CHANGE_RELEASE, {"public": public})

    def file(self, suffix: str, **options: str) -> bytes:
        """Returns a file, such as "png", "csv", "cells.csv" or "geojson".

        options: the look of a picture (light or dark), and the layer of a map's picture (heat or squares).
        """
        return self.connection.ask(self._file(), query=options, release_id=self.id, suffix=suffix).body

    def save(self, path: File, **options: str) -> Path:
        """Saves the file that the path's suffix names, of any size; `options` as of `file`."""
        return self.connection.save(self._file(), path, query=options, release_id=self.id)

    def array(self) -> "NDArray[np.float64]":
        """Reads a map as shares of 1: `(rows, columns)`, row 0 in the north. Needs numpy."""
        return self._read("npy", _needed("numpy.lib.format", extra="array").read_array)  # loads no pickle

    def geodataframe(self) -> "geopandas.GeoDataFrame":
        """Reads any result as shapes in EPSG:4326; `attrs` has the release sheet. Needs geopandas.

        Squares of a map with the same number `rectangle` were measured together: `dissolve("rectangle")`.
        """
        geopandas, collection = _needed("geopandas", extra="geo"), self.geojson()
        table = geopandas.GeoDataFrame.from_features(collection["features"], crs="EPSG:4326")
        table.attrs["release_sheet"] = collection.get("release_sheet", {})
        return table

    def raster(self) -> "rasterio.DatasetReader":
        """Opens a map as a GeoTIFF, north up; `with release.raster() as raster`. Needs rasterio."""
        rasters = _needed("rasterio", extra="raster")
        # Files of other kinds may name further ones, of this machine too, that would be opened.
        return self._read("tif", lambda file: rasters.open(file, driver="GTiff"))

    def picture(self, **options: str) -> "Image.Image":
        """Returns a picture with its legend, to draw on; `options` as of `file`. Needs pillow."""
        images = _needed("PIL.Image", extra="picture")
        image: Image.Image = self._read("png", lambda file: images.open(file, formats=["PNG"]), **options)
        return image

    def geojson(self) -> dict[str, Any]:
        """Returns a FeatureCollection, with the release sheet as its member `release_sheet`."""
        collection = parsed(self.file("geojson"))
        if not isinstance(collection, dict) or not isinstance(collection.get("features"), list):
            raise BadAnswer("The server's file is not a GeoJSON collection.")
        return collection

    def sheet(self) -> dict[str, Any]:
        """Returns the release sheet: what is promised, how it was made, and what is not protected."""
        sheet = parsed(self.file("json"))
        return sheet if isinstance(sheet, dict) else {}

    def rows(self) -> list[dict[str, str]]:
        """Returns the lines of its table by column: squares of a map, zones, distances, or the point."""
        return self._read("csv", lambda file: list(csv.DictReader(io.TextIOWrapper(file, "utf-8"))))

    def people_in(self, areas: Any) -> Areas:
        """Adds a published map up, free of charge, in polygons: GeoJSON, or what has a `__geo_interface__`.
        Every number has its error."""
        return self.connection.load(calls.SUM_AREAS, Areas, body=areas, release_id=self.id)

    @property
    def sentence(self) -> str:
        """Says what it costs, and how far it may be off."""
        costs = ", ".join(f"{charge.account} {markup.bound(charge.amount)}" for charge in self.charges)
        charged = f" (charged: {costs})" if costs else ""
        error = f"; expected error {self.expected_error}" if self.expected_error else ""
        return f"ε = {self.epsilon}, δ = {self.delta}{charged}{error}."

    def _repr_html_(self) -> str:
        try:
            picture = markup.picture(self.file("png"), alt=f"{self.title}. {self.sentence}")
            statements = self.sheet().get("statements")
            sentences = statements[:1] if isinstance(statements, list) else []
        except HazemapError as error:
            picture, sentences = "", [error]
        return picture + markup.paragraphs((self.title, self.sentence, *map(str, sentences)))

    def _read(self, suffix: str, read: Callable[[io.BytesIO], T], **options: str) -> T:
        file = io.BytesIO(self.file(suffix, **options))
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
