"""Tables that experiments wrote, kept for the product's pages: derived figures, no check-ins.

Each CSV file beside this one is what its command wrote, unchanged; to renew one, run the command and copy the
file here, with a new date.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

Row: TypeAlias = Mapping[str, str]
FOLDER: Final = Path(__file__).parent
_FOUR_FILES: Final = "public check-ins of Gowalla (two files) and Foursquare (two files)"
_GOWALLA: Final = "public check-ins of Gowalla"
_SYNTHETIC: Final = "synthetic persons"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a table comes from: the experiment of the registry that wrote it, on what, and when."""

    experiment: str
    data: str
    made: date
    takes_files: bool = False

    @property
    def command(self) -> str:
        return f"manage.py reproduce {self.experiment}{' FILE…' if self.takes_files else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What was kept, and where it comes from."""

    source: Source
    rows: tuple[Row, ...] = field(repr=False)


def _kept(made: date, data: str, *names: str, takes_files: bool = True) -> dict[str, Source]:
    return {name: Source(experiment=name, data=data, made=made, takes_files=takes_files) for name in names}


_MADE: Final = date(2026, 11, 22)
SOURCES: Final[Mapping[str, Source]] = MappingProxyType(
    _kept(
        _MADE,
        _FOUR_FILES,
        "heatmap-choice",
        "heatmap-figure-1",
        *(f"heatmap-figure-{number}" for number in (4, 5, 6, 7, 13)),
        "k-median-costs",
    )
    | _kept(_MADE, _SYNTHETIC, "heatmap-figure-10", "heatmap-figure-11", "heatmap-slopes", takes_files=False)
    | _kept(_MADE, "no data, the formula alone", "heatmap-figure-12", takes_files=False)
    | _kept(_MADE, _GOWALLA, "metric-linear", "metric-frequency")
)


@cache
def table(name: str) -> Table:
    """The kept table of that experiment. Errors: KeyError, OSError."""
    source = SOURCES[name]
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return Table(source=source, rows=tuple(MappingProxyType(row) for row in csv.DictReader(file)))
