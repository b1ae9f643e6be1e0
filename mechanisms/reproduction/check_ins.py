"""Reads check-ins of a gzip CSV file with the columns user, lat and lon for experiments."""

import csv
import gzip
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError
from mechanisms.evaluation.places import CheckInPlace, Split, densest

CELLS_A_FILE: Final = 20
CheckIns = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def read_check_ins(path: Path) -> CheckIns:
    """Returns (persons, lat, lon), one row a check-in; persons are numbered from 0.

    Errors: KeyError, ValueError, OSError.
    """
    with gzip.open(path, "rt", newline="") as lines:
        rows = [(row["user"], float(row["lat"]), float(row["lon"])) for row in csv.DictReader(lines)]
    users, lat, lon = (np.array(column) for column in zip(*rows, strict=True))
    return np.unique(users, return_inverse=True)[1].astype(np.int64), lat, lon


def dealt_places(
    paths: Sequence[Path],
    *,
    persons: Sequence[int],
    split: Split,
    spare: Mapping[int, int] | None = None,
) -> dict[int, tuple[CheckInPlace, ...]]:
    """Returns for each number of persons the densest cells of each file,
    dealt in turn: few trials see all files.

    spare: how many more a cell must have, by number of persons.
    """
    least = {number: number + (spare or {}).get(number, 0) for number in persons}
    files = [read_check_ins(path) for path in paths]
    return {
        number: _dealt(
            [densest(*file, count=CELLS_A_FILE, least_persons=least[number], split=split) for file in files]
        )
        for number in persons
    }


def one_file(files: Sequence[Path]) -> Path | None:
    """Returns the file that was given, if any. Errors: `ParameterError` for several."""
    if len(files) > 1:
        raise ParameterError("FILE", len(files), "at most one file")
    return files[0] if files else None


def places_with(
    paths: Sequence[Path], *, persons: Sequence[int], split: Split = Split.ALL
) -> dict[int, tuple[CheckInPlace, ...]]:
    """Deals as `dealt_places` does. Errors: `ParameterError` without files,
    or where no cell has so many persons.
    """
    if not paths:
        raise ParameterError("FILE", "missing", "one or more gzip CSV files of check-ins")
    dealt = dealt_places(paths, persons=persons, split=split)
    for number, places in dealt.items():
        if not places:
            raise ParameterError("FILE", paths[0].name, f"files with {number} persons in a cell")
    return dealt


def _dealt(hands: Sequence[tuple[CheckInPlace, ...]]) -> tuple[CheckInPlace, ...]:
    rows = zip_longest(*hands)
    return tuple(place for row in rows for place in row if place is not None)
