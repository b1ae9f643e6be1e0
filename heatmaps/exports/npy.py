"""Writes the map as a NumPy array file."""

from typing import BinaryIO

import numpy as np

from heatmaps.exports.content import Released


def write_npy(released: Released, stream: BinaryIO) -> None:
    """Writes `(side, side)` float64, row 0 north, column 0 west, sum 1.

    Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    np.lib.format.write_array(stream, released.heatmap.dense(), allow_pickle=False)
