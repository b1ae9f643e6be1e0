"""Reads a public map as the prior of a local mechanism, on the cells of a lattice."""

from pathlib import Path
from typing import Final

import numpy as np

from mechanisms.check import ParameterError
from mechanisms.local.lattice import Lattice
from mechanisms.local.optimal import LARGEST_PRIOR

MOST_BYTES: Final = 2**28
_ALLOWED: Final = "an NPY file of a map of the bbox: numbers of at least 0, (rows, columns), row 0 north"


def prior_of(path: Path, lattice: Lattice) -> tuple[int, ...]:
    """Returns the weight of each cell, column · rows + row: the sum of the map's squares whose centre it
    holds.

    Such maps are what `manage.py heatmap` and releases are saved as. Errors: `ParameterError` naming `prior`.
    """
    values = _read(path)
    rows, columns = (
        ((2 * np.arange(count) + 1) * cells) // (2 * count)
        for count, cells in zip(values.shape, (lattice.rows, lattice.columns), strict=True)
    )
    sums = np.zeros((lattice.columns, lattice.rows))
    np.add.at(sums, (columns[np.newaxis, :], rows[:, np.newaxis]), values[::-1])
    weights = np.rint(sums / sums.max() * LARGEST_PRIOR).astype(np.int64)
    return tuple(weights.ravel().tolist())


def _read(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ParameterError("prior", str(path), f"{_ALLOWED}, up to {MOST_BYTES} bytes")
        values = np.load(path, allow_pickle=False)
    except OSError as error:
        raise ParameterError(
            "prior", str(path), f"{_ALLOWED} ({error.strerror or 'cannot be read'})"
        ) from error
    except (ValueError, EOFError) as error:
        raise ParameterError("prior", str(path), _ALLOWED) from error
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "fiu":
        raise ParameterError("prior", str(path), _ALLOWED)
    numbers = values.astype(np.float64)
    if not (np.isfinite(numbers) & (numbers >= 0)).all() or not numbers.any():
        raise ParameterError("prior", str(path), f"{_ALLOWED}, not all 0")
    return numbers
