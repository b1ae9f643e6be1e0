"""Chooses a map's classes: round steps of density, spread evenly on a logarithmic scale.

Densities are shares of the total per unit of area, in the unit that keeps the numbers readable.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.maps import palette
from heatmaps.maps.grid import DrawnGrid
from heatmaps.numbers import number, share
from mechanisms.results.significance import RATE

MOST_CLASSES: Final = 7
ZERO: Final = 0  # class index of a cell without mass
UNCERTAIN: Final = 1  # class index of a cell whose value cannot be told from zero
FIRST: Final = 2  # class index of the faintest class
NOT_TOLD: Final = (
    "not distinguishable from zero (on average at most {share} of the coloured {places} are empty)"
)

# Square kilometres in each unit, finest first.
_UNITS: Final = ((1e-4, "100 m²"), (1e-2, "hectare"), (1.0, "km²"), (1e2, "100 km²"), (1e4, "10,000 km²"))
_USUAL: Final = 2
_KEY: Final = re.compile(r"[a-z][a-z0-9-]{0,30}")
_COLOUR: Final = re.compile(r"(#[0-9a-fA-F]{3,8})?")
_WIDE_RANGE: Final = 60.0  # greatest to least density above which half decades are fine enough


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendClass:
    """Holds one row of a legend; `light` and `dark` are its colours (empty: the ground shows through)."""

    key: str
    label: str
    light: str
    dark: str

    def __post_init__(self) -> None:
        """Checks key and colours.

        Errors: ValueError. Key and colours are written into a style sheet, also those of a kept legend.
        """
        colours = (self.light, self.dark)
        if not _KEY.fullmatch(self.key) or not all(_COLOUR.fullmatch(colour) for colour in colours):
            raise ValueError("a legend has names of classes and colours in hexadecimal digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """Explains the classes of a drawn map. `breaks` are the classes' lower bounds, ascending."""

    unit: str
    unit_km2: float
    breaks: tuple[float, ...]  # percent of the total per unit; the first is 0
    top: float  # percent of the total per unit, the greatest drawn
    has_zero: bool
    has_uncertain: bool
    is_in_rectangles: bool = False

    @property
    def title(self) -> str:
        return f"Share of the total per {self.unit}"

    def classes_of(self, grid: DrawnGrid) -> NDArray[np.uint8]:
        """Returns (side, side) class index of every cell: `ZERO`, `UNCERTAIN`, or `FIRST` and up."""
        percents = grid.densities * (100 * self.unit_km2)
        classes = np.digitize(percents, self.breaks[1:]) + FIRST
        if grid.uncertain is None:
            classes[percents == 0] = ZERO
        else:
            classes[grid.uncertain] = UNCERTAIN
        return classes.astype(np.uint8)

    @property
    def rows(self) -> tuple[LegendClass, ...]:
        """Returns the rows, strongest class first, then the two that carry no number."""
        rows = numbered_rows([self._label(index) for index in range(len(self.breaks) if self.top > 0 else 0)])
        if self.has_uncertain:
            places = "rectangles that were measured" if self.is_in_rectangles else "squares"
            label = NOT_TOLD.format(share=share(RATE), places=places)
            rows.append(LegendClass(key=f"class-{UNCERTAIN}", label=label, light="", dark=""))
        if self.has_zero:
            rows.append(LegendClass(key=f"class-{ZERO}", label="no mass released here", light="", dark=""))
        return tuple(rows)

    def _label(self, index: int) -> str:
        low = self.breaks[index]
        high = self.breaks[index + 1] if index + 1 < len(self.breaks) else self.top
        return f"up to {number(high)} %" if low == 0 else f"{number(low)} – {number(high)} %"


def numbered_rows(labels: Sequence[str]) -> list[LegendClass]:
    """Returns rows of the classes that stand for a range, strongest first. labels: the faintest class's
    first."""
    colours = zip(labels, palette.light(len(labels)), palette.dark(len(labels)), strict=True)
    return [
        LegendClass(key=f"class-{index}", label=label, light=light, dark=dark)
        for index, (label, light, dark) in enumerate(colours, start=FIRST)
    ][::-1]


def uncertain_row(label: str) -> LegendClass:
    """Returns the row of what is drawn although it cannot be told from zero."""
    light, dark = palette.UNCERTAIN_LIGHT, palette.UNCERTAIN_DARK
    return LegendClass(key=f"class-{UNCERTAIN}", label=label, light=light, dark=dark)


def legend(grid: DrawnGrid) -> Legend:
    """Returns the classes that fit a map's own values."""
    is_marked = grid.shares == 0 if grid.uncertain is None else grid.uncertain
    densities = grid.densities[~is_marked & (grid.shares > 0)]
    top_density = float(densities.max()) if densities.size else 0.0
    unit_km2, unit = _unit(top_density)
    percents = densities * (100 * unit_km2)
    return Legend(
        unit=unit,
        unit_km2=unit_km2,
        breaks=_breaks(percents),
        top=_round_up(top_density * 100 * unit_km2),
        has_zero=grid.uncertain is None and bool(is_marked.any()),
        has_uncertain=grid.uncertain is not None and bool(is_marked.any()),
        is_in_rectangles=grid.is_in_rectangles,
    )


def _unit(top_density: float) -> tuple[float, str]:
    """Chooses square kilometres where these give numbers from 0.1 % to 100 %, else the nearest unit."""
    usual = top_density * _UNITS[_USUAL][0]
    if usual > 1:
        candidates = _UNITS[_USUAL::-1]
        return next((unit for unit in candidates if top_density * unit[0] <= 1), candidates[-1])
    if usual < 1e-3:
        candidates = _UNITS[_USUAL:]
        return next((unit for unit in candidates if top_density * unit[0] >= 1e-3), candidates[-1])
    return _UNITS[_USUAL]


def _breaks(percents: NDArray[np.float64]) -> tuple[float, ...]:
    """Returns 0 and round numbers between the least and the greatest value; the strongest few of them."""
    if not percents.size:
        return (0.0,)
    least, greatest = float(percents.min()), float(percents.max())
    factors = (1.0, 3.0) if greatest > _WIDE_RANGE * least else (1.0, 2.0, 5.0)
    decades = range(math.floor(math.log10(greatest)) - MOST_CLASSES, math.floor(math.log10(greatest)) + 1)
    steps = [factor * 10.0**decade for decade in decades for factor in factors]
    inside = [step for step in steps if least < step < greatest]
    return (0.0, *inside[-(MOST_CLASSES - 1) :])


def _round_up(value: float) -> float:
    """Returns the next number of two significant digits."""
    if value == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step - 1e-9) * step
