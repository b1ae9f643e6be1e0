"""Formats many numbers as text at once, by columns, without a Python object for each."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def texts(numbers: NDArray[np.float64], *, missing: str) -> Any:
    """Returns the shortest decimals that are the same numbers again; `missing` for nan."""
    return pc.fill_null(pc.cast(pa.array(numbers, from_pandas=True), pa.string()), missing)


def decimals(numbers: NDArray[np.float64], *, missing: str) -> Any:
    """Writes numbers as `texts` does, also whole ones with a point: programs guess a column's kind by its
    first rows."""
    plain = texts(numbers, missing=missing)
    whole = pc.match_substring_regex(plain, r"^-?\d+$")
    return pc.if_else(whole, pc.binary_join_element_wise(plain, ".0", ""), plain)


def lines(*parts: Any, between: str, after: str) -> bytes:
    """Joins texts of one length, or one text for all, element by element; `after` ends each."""
    columns = [pa.scalar(part) if isinstance(part, str) else part for part in parts]
    rows = pc.binary_join_element_wise(*columns, between)
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows), after)
    return bytes(whole[0].as_buffer()) + after.encode() if len(rows) else b""
