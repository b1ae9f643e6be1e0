"""Generates the synthetic city: persons with home, work and favourite venues, and their check-ins.

How it is made, from one seeded generator (this is no noise and protects nobody: there is nobody in it):

1. Every person has a home in one of the residential clusters and a work place in one of the work clusters
   of `places`, three favourite leisure venues and two of the night, out of 120 and 40 venues of the city.
2. The number of check-ins is 1 for everybody, and the rest is dealt out by log-normal activity: most
   persons have a handful, a few have hundreds, as in real check-in services. Totals are exact.
3. A check-in is at home (30 %), at work (25 %), out in the daytime (22 %), on an avenue (10 %), in the
   night life (10 %) or away on a trip outside the region (3 %), at a time of day and week that fits.
4. Positions scatter by some tens of metres; what falls into the sea is put back on land.
"""

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.demo.places import AVENUES, AWAY, COAST, HOMES, LEISURE, NIGHT, WORK, Cluster

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FIRST_DAY: Final = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
WEEKS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    """Holds public parameters of one synthetic city; equal ones give equal check-ins."""

    persons: int
    checkins: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CheckIns:
    """Holds columns of shape `(checkins,)`, ordered by time."""

    persons: Integers  # 0 to persons - 1
    times: Integers  # epoch seconds
    lat: Floats  # degrees
    lon: Floats  # degrees


def check_ins(city: City) -> CheckIns:
    """Makes all check-ins of the city."""
    rng = np.random.default_rng(city.seed)
    person = np.repeat(np.arange(city.persons), _activity(rng, city))
    kind = rng.choice(len(_KINDS), size=person.size, p=[share for share, *_ in _KINDS])
    lat, lon = _positions(rng, city, person, kind)
    times = _times(rng, kind)
    order = np.lexsort((person, times))
    return CheckIns(persons=person[order], times=times[order], lat=lat[order], lon=lon[order])


def write_csv(city: City, path: Path) -> None:
    """Writes the check-ins as `user,time,lat,lon` in a gzip CSV file; equal cities give equal bytes."""
    rows = check_ins(city)
    moments = np.datetime_as_string(rows.times.astype("datetime64[s]"), timezone="UTC")
    names = [f"resident-{number:04d}" for number in rows.persons.tolist()]
    with path.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as zipped:
        text = io.TextIOWrapper(zipped, encoding="ascii", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("user", "time", "lat", "lon"))
        places = (np.char.mod("%.6f", column) for column in (rows.lat, rows.lon))
        lines.writerows(zip(names, moments.tolist(), *(column.tolist() for column in places), strict=True))
        text.flush()
        text.detach()


# Share of all check-ins, hours of the day (first, last; beyond 24 is after midnight), days of the week
# (0 is Monday) and the scatter in metres.
_KINDS: Final = (
    (0.30, (18, 24), (0, 1, 2, 3, 4, 5, 6), 25),  # home
    (0.25, (8, 18), (0, 1, 2, 3, 4), 40),  # work
    (0.22, (10, 21), (2, 4, 5, 5, 6, 6), 35),  # out
    (0.10, (7, 20), (0, 1, 2, 3, 4, 5), 20),  # on an avenue
    (0.10, (22, 28), (3, 4, 4, 5, 5, 5), 25),  # night life
    (0.03, (9, 19), (4, 5, 6), 200),  # away
)
_METRES_A_DEGREE: Final = 111_100.0


def _activity(rng: np.random.Generator, city: City) -> Integers:
    weights = rng.lognormal(sigma=1.1, size=city.persons)
    more = rng.multinomial(city.checkins - city.persons, weights / weights.sum())
    return 1 + more.astype(np.int64)


def _positions(
    rng: np.random.Generator, city: City, person: Integers, kind: Integers
) -> tuple[Floats, Floats]:
    """Returns (lat, lon) of every check-in."""
    homes, work = _sampled(rng, HOMES, city.persons), _sampled(rng, WORK, city.persons)
    out = _favourites(rng, _sampled(rng, LEISURE, 120), city.persons, count=3)
    night = _favourites(rng, _sampled(rng, NIGHT, 40), city.persons, count=2)
    options = (
        homes[person],
        work[person],
        out[person, rng.integers(3, size=person.size)],
        _on_avenues(rng, person.size),
        night[person, rng.integers(2, size=person.size)],
        _sampled(rng, AWAY, person.size),
    )
    middle = np.stack(options)[kind, np.arange(person.size)]
    scatter_m = np.array([metres for *_, metres in _KINDS], np.float64)[kind]
    points = _scattered(rng, middle, scatter_m)
    return _on_land(points[:, 0], points[:, 1])


def _sampled(rng: np.random.Generator, places: Sequence[Cluster], count: int) -> Floats:
    """Draws `(count, 2)` points of the clusters, as (lat, lon)."""
    weights = np.array([place.weight for place in places])
    indices = rng.choice(len(places), size=count, p=weights / weights.sum())
    middle = np.array([(place.lat, place.lon) for place in places])[indices]
    spread_m = np.array([place.spread_m for place in places], np.float64)[indices]
    return _scattered(rng, middle, spread_m)


def _favourites(rng: np.random.Generator, venues: Floats, persons: int, *, count: int) -> Floats:
    """Draws `(persons, count, 2)`: everybody's venues; a few venues are everybody's."""
    popularity = 1 / np.arange(1, len(venues) + 1)
    indices = rng.choice(len(venues), size=(persons, count), p=popularity / popularity.sum())
    favourites: Floats = venues[indices]
    return favourites


def _on_avenues(rng: np.random.Generator, count: int) -> Floats:
    weights = np.array([avenue.weight for avenue in AVENUES])
    indices = rng.choice(len(AVENUES), size=count, p=weights / weights.sum())
    start: Floats = np.array([avenue.start for avenue in AVENUES])[indices]
    end: Floats = np.array([avenue.end for avenue in AVENUES])[indices]
    return start + (end - start) * rng.random((count, 1))


def _scattered(rng: np.random.Generator, middle: Floats, metres: Floats) -> Floats:
    degrees = rng.normal(size=middle.shape) * metres[:, np.newaxis] / _METRES_A_DEGREE
    degrees[:, 1] /= np.cos(np.radians(middle[:, 0]))
    return middle + degrees


def _on_land(lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
    """Mirrors points in the sea at the shore; outside the coast's longitudes none."""
    shore_lon, shore_lat = np.array(COAST).T
    shore = np.interp(lon, shore_lon, shore_lat, left=-90, right=-90)
    return np.where(lat < shore, 2 * shore - lat, lat), lon


def _times(rng: np.random.Generator, kind: Integers) -> Integers:
    """Draws epoch seconds: a day of the week and an hour that fit the kind, in one of the weeks."""
    week = rng.integers(WEEKS, size=kind.size)
    seconds = np.zeros(kind.size, np.int64)
    for number, (_, (first, last), days, _) in enumerate(_KINDS):
        indices = np.flatnonzero(kind == number)
        day = rng.choice(days, size=indices.size)
        hour = rng.triangular(first, (first + last) / 2, last, size=indices.size)
        seconds[indices] = day * 86_400 + (hour * 3600).astype(np.int64)
    return int(FIRST_DAY.timestamp()) + week * 7 * 86_400 + seconds
