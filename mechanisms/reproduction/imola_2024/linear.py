"""Compares emd-linear with user-level privacy at equal ε: Table 2a of Imola et al. 2024 as curves."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.metric.frequency.gkrr import Floats, Integers
from mechanisms.metric.linear.queries import LinearQuery, MeanDistance, MeanLocation
from mechanisms.metric.linear.release import LinearRelease, record_answers
from mechanisms.randomness import RandomSource
from mechanisms.reproduction.check_ins import one_file, read_check_ins
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, panels
from mechanisms.space.grid import Region

EPSILON: Final = Fraction(1)
DELTA: Final = Fraction(1, 10**6)
PARTS: Final = (1, 4, 16, 64)  # of the region's diameter: the radius at which ε is the loss
PLACES: Final = 6
PERSONS: Final = 2_000
RUNS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSample:
    """Holds the records whose means are asked for, and how often."""

    region: Region
    records: tuple[Integers, Floats, Floats]
    runs: int
    rng: RandomSource


def run(request: ExhibitRequest) -> list[Path]:
    """Takes one file of check-ins; without it, records are made up."""
    path, runs = one_file(request.files), RUNS * (5 if request.full else 1)
    records = _records(path)
    region = _region(*records[1:])
    lat, lon = (
        np.linspace(low, high, PLACES + 2)[1:-1]
        for low, high in ((region.south, region.north), (region.west, region.east))
    )
    places = tuple((float(a), float(b)) for a, b in zip(lat, lon, strict=True))
    queries: dict[str, LinearQuery] = {
        "location": MeanLocation(region=region),
        "distances": MeanDistance(places=places),
    }
    crowd = RecordSample(region=region, records=records, runs=runs, rng=SeededSource(0))
    rows = [_row(name, query, part, crowd) for name, query in queries.items() for part in PARTS]
    figure = _figure(rows)
    table: list[Row] = [dict(row) for row in rows]
    return request.write(
        table,
        figure,
        persons=len(np.unique(records[0])),
        places=PLACES,
        epsilon=EPSILON,
        last=PARTS[-1],
        delta=float(DELTA),
        runs=runs,
        who=f"persons of {path.name}, clamped to the middle 98 %" if path else "made up",
    )


def _row(name: str, query: LinearQuery, part: int, crowd: RecordSample) -> dict[str, str | float]:
    answers, diameter_m = record_answers(query, *crowd.records), crowd.region.diameter_m
    whole_m, persons = Fraction(math.ceil(diameter_m)), len(answers)
    none = Fraction(0)
    kinds = {
        "user_level": (whole_m, none),
        "k_norm": (whole_m / part, none),
        "gaussian": (whole_m / part, DELTA),
    }
    row: dict[str, str | float] = {"query": name, "part": part}
    width = float(query.lipschitz_per_m) * diameter_m
    for kind, (radius, delta) in kinds.items():
        target = Target(relation=Relation.REPLACE, epsilon=EPSILON, delta=delta, radius_m=radius)
        central = LinearRelease.calibrate(target, query=query, persons=persons)
        local = LinearRelease.calibrate(target, query=query, persons=1, local=True)
        row[kind] = central.expected_error() / width
        row[f"{kind}_measured"] = _error(central, answers, crowd) / width
        # The mean of n independent draws, about Gaussian on each axis.
        row[f"{kind}_local"] = _local_error(local, persons) / width
    return row


def _error(mechanism: LinearRelease, answers: Floats, crowd: RecordSample) -> float:
    """Returns the mean length of what a release differs from the true mean by, rounding included."""
    step, true = float(mechanism.step), answers.mean(axis=0)
    rounded = mechanism.on_lattice(answers).sum(axis=0) + mechanism.draws(crowd.rng, size=crowd.runs)
    return float(np.linalg.norm(rounded * step / len(answers) - true, axis=1).mean())


def _local_error(mechanism: LinearRelease, persons: int) -> float:
    """Returns the error by the central limit theorem: K-norm noise of scale ω has E|z|² = d (d + 1) ω²."""
    d, omega = mechanism.query.dimensions, mechanism.scale
    deviation = omega * math.sqrt(d + 1) if mechanism.noise == "k-norm" else omega
    length = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    return deviation * length / math.sqrt(persons)


def _records(path: Path | None) -> tuple[Integers, Floats, Floats]:
    if path is not None:
        return read_check_ins(path)
    random = np.random.default_rng(0)
    persons = np.repeat(np.arange(PERSONS), 20)
    home = random.normal((30.3, -97.7), 0.1, (PERSONS, 2))[persons]
    lat, lon = (home + random.normal(0, 0.02, home.shape)).T
    return persons, lat, lon


def _region(lat: Floats, lon: Floats) -> Region:
    (south, north), (west, east) = (np.quantile(values, (0.01, 0.99)) for values in (lat, lon))
    return Region(float(west), float(south), float(east), float(north))


def _figure(rows: list[dict[str, str | float]]) -> Figure:
    figure, both = panels(2, width=12, height=5.5)
    for axes, name in zip(both, ("location", "distances"), strict=True):
        own = [row for row in rows if row["query"] == name]
        parts = [float(row["part"]) for row in own]
        for colour, kind in zip(COLOURS, ("user_level", "k_norm", "gaussian"), strict=False):
            label = kind.replace("_", " ")
            axes.plot(parts, [float(row[kind]) for row in own], color=colour, label=f"{label}, central")
            axes.plot(parts, [float(row[f"{kind}_measured"]) for row in own], "o", color=colour, markersize=4)
            axes.plot(
                parts,
                [float(row[f"{kind}_local"]) for row in own],
                "--",
                color=colour,
                label=f"{label}, local",
            )
        axes.set_xscale("log", base=2)
        axes.set_title(f"mean {name}", loc="left")
        framed(axes, "α / ε: diameter / radius", log="y")
    both[0].set_ylabel("error / range")
    both[0].legend(frameon=False, fontsize=8)
    return figure
