"""Check-ins of a gzip CSV file with the columns user, lat and lon, as experiments read them."""

import csv
import gzip
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.experiments.places import Place, Split, densest

CELLS_A_FILE: Final = 20
CheckIns = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def read_check_ins(path: Path) -> CheckIns:
    """(persons, lat, lon), one row a check-in; persons are numbered from 0.

    Errors: KeyError, ValueError, OSError.
    """
    with gzip.open(path, "rt", newline="") as lines:
        rows = [(row["user"], float(row["lat"]), float(row["lon"])) for row in csv.DictReader(lines)]
    users, lat, lon = (np.array(column) for column in zip(*rows, strict=True))
    return np.unique(users, return_inverse=True)[1].astype(np.int64), lat, lon


def dealt_places(
    paths: Sequence[Path], *, persons: Sequence[int], split: Split
) -> dict[int, tuple[Place, ...]]:
    """For each number of persons the densest cells of each file, dealt in turn: few trials see all files."""
    files = [read_check_ins(path) for path in paths]
    return {number: _dealt([_cells(file, number, split) for file in files]) for number in persons}


def _cells(file: CheckIns, persons: int, split: Split) -> tuple[Place, ...]:
    return densest(*file, count=CELLS_A_FILE, least_persons=persons, split=split)


def _dealt(hands: Sequence[tuple[Place, ...]]) -> tuple[Place, ...]:
    rows = zip_longest(*hands)
    return tuple(place for row in rows for place in row if place is not None)
