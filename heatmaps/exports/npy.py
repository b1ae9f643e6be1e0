"""The map as a NumPy array file."""

from typing import BinaryIO

import numpy as np

from mechanisms.grid import Region
from mechanisms.interface import Heatmap


def write_npy(heatmap: Heatmap, region: Region, stream: BinaryIO) -> None:  # noqa: ARG001 - in the sheet
    """`(side, side)` float64, row 0 north, column 0 west, sum 1.

    Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    np.lib.format.write_array(stream, heatmap.dense(), allow_pickle=False)
