"""Reads the gazetteer that `manage.py ground` packed: cities of GeoNames (CC BY 4.0)."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

ATTRIBUTION: Final = "Place names: GeoNames (CC BY 4.0)"
MISSING: Final = "Place names are not installed; `make setup` adds them."
KM_PER_DEGREE: Final = 111.2
PLACES: Final = "places.npz"
SPELLINGS: Final = "place-names.npz"  # what a search by name needs


@dataclass(frozen=True, slots=True, kw_only=True)
class GazetteerEntry:
    name: str
    country: str  # two letters, ISO 3166
    area: str  # the country, and of the United States the state, in words
    lat: float
    lon: float
    population: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Texts:
    """Holds texts in UTF-8, one behind the other."""

    content: bytes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, content: NDArray[np.uint8], ends: NDArray[np.int64]) -> "Texts":
        return cls(content=content.tobytes(), ends=ends)

    def __getitem__(self, index: int) -> str:
        start = int(self.ends[index - 1]) if index else 0
        return self.content[start : int(self.ends[index])].decode()

    def all(self) -> list[str]:
        ends = self.ends.tolist()
        return [self.content[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Gazetteer:
    """Holds places in columns, the most populous first; a place becomes an object when it is asked for."""

    lats: NDArray[np.float64]
    lons: NDArray[np.float64]
    populations: NDArray[np.int64]
    countries: NDArray[np.bytes_]
    area_numbers: NDArray[np.int32]
    names: Texts
    areas: Texts

    def __len__(self) -> int:
        return len(self.lats)

    def __getitem__(self, index: int) -> GazetteerEntry:
        """Returns a place by its number, from 0."""
        return GazetteerEntry(
            name=self.names[index],
            country=self.countries[index].decode(),
            area=self.areas[int(self.area_numbers[index])],
            lat=float(self.lats[index]),
            lon=float(self.lons[index]),
            population=int(self.populations[index]),
        )

    def ways_from(
        self, lat: float, lon: float, *, first: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns km east and north from the `first` places to a point, on a plane that touches there."""
        north = (lat - self.lats[:first]) * KM_PER_DEGREE
        turns = (lon - self.lons[:first] + 180) % 360 - 180
        return turns * KM_PER_DEGREE * np.cos(np.radians(lat)), north


_NO_TEXTS: Final = Texts(content=b"", ends=np.zeros(0, np.int64))
_EMPTY: Final = Gazetteer(
    lats=np.zeros(0),
    lons=np.zeros(0),
    populations=np.zeros(0, np.int64),
    countries=np.zeros(0, "S2"),
    area_numbers=np.zeros(0, np.int32),
    names=_NO_TEXTS,
    areas=_NO_TEXTS,
)


def gazetteer() -> Gazetteer:
    """Returns every place of 15,000 people or more; none where the gazetteer is not installed."""
    try:
        return _read(Path(settings.PLACES_DIR) / PLACES)
    except FileNotFoundError:
        return _EMPTY


def spellings() -> list[list[str]]:
    """Reads the names of each place of `gazetteer`, its own one first; much, and read anew."""
    try:
        arrays = _arrays(Path(settings.PLACES_DIR) / SPELLINGS)
    except FileNotFoundError:
        return []
    if len(arrays["counts"]) != len(gazetteer()):
        return []  # of another pack: a set-up ended between the two files
    names = iter(Texts.of(arrays["text"], arrays["ends"]).all())
    return [[next(names) for _ in range(count)] for count in arrays["counts"].tolist()]


def attribution() -> str:
    """Names the owner of place names, as a picture says it; empty where they are not installed."""
    return ATTRIBUTION if len(gazetteer()) else ""


@lru_cache(maxsize=1)
def _read(path: Path) -> Gazetteer:
    arrays = _arrays(path)
    return Gazetteer(
        lats=arrays["lats"],
        lons=arrays["lons"],
        populations=arrays["populations"],
        countries=arrays["countries"],
        area_numbers=arrays["area_numbers"],
        names=Texts.of(arrays["names"], arrays["name_ends"]),
        areas=Texts.of(arrays["areas"], arrays["area_ends"]),
    )


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}
