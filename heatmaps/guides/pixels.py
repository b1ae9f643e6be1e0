"""Reads the pixels of a raster in parts that fit into memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rasterio.windows import Window

from mechanisms.check import ParameterError
from mechanisms.guide import SIDE

AT_ONCE: Final = 2**20  # pixels, or points of them, in memory

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelBox:
    """Pixels, half-open."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def is_empty(self) -> bool:
        return self.left >= self.right or self.top >= self.bottom


def values_of(raster: Any, part: PixelBox) -> Floats:
    """Reads the values. Errors: `ParameterError` where one is below 0 or infinite."""
    window = Window(part.left, part.top, part.right - part.left, part.bottom - part.top)
    values: Floats = raster.read(1, window=window, out_dtype=np.float64)
    values *= raster.scales[0]
    values += raster.offsets[0]
    values[(raster.read_masks(1, window=window) == 0) | np.isnan(values)] = 0
    if (values < 0).any() or np.isinf(values).any():
        raise ParameterError(
            "guide", "a value below 0 or infinite", "finite values of at least 0, and no data"
        )
    return values


def box_of(raster: Any, columns: Floats, rows: Floats) -> PixelBox:
    """Returns the box of the raster's pixels between the first and last of these."""
    return PixelBox(
        left=max(0, math.floor(columns.min())),
        top=max(0, math.floor(rows.min())),
        right=min(raster.width, math.ceil(columns.max())),
        bottom=min(raster.height, math.ceil(rows.max())),
    )


def parts_of(raster: Any, box: PixelBox, most: int) -> Iterator[PixelBox]:
    """Cuts a box into parts of at most so many pixels, and of whole blocks of the file where these fit."""
    high, wide = raster.block_shapes[0]
    across = min(most, box.right - box.left + wide, max(wide, 2048 // wide * wide))
    down = max(1, most // max(across, SIDE))  # sums are as wide as a guide
    down = down // high * high or down
    for top in range(box.top // down * down, box.bottom, down):
        for left in range(box.left // across * across, box.right, across):
            yield PixelBox(
                left=max(left, box.left),
                top=max(top, box.top),
                right=min(left + across, box.right),
                bottom=min(top + down, box.bottom),
            )
