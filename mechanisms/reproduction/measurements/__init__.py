"""Keeps tables that experiments wrote for the product's pages: derived figures, no check-ins.

Each CSV file beside this one is what its command wrote, unchanged; to renew one, run the command and copy the
file here, with a new date in `experiments.toml`.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from mechanisms.reproduction.descriptions import DESCRIPTIONS

Row: TypeAlias = Mapping[str, str]
FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource:
    """Names the origin of a table: the experiment of the registry that wrote it, on what, and when."""

    experiment: str
    data: str
    measured_on: date
    takes_files: bool = False

    @property
    def command(self) -> str:
        return f"manage.py reproduce {self.experiment}{' FILE…' if self.takes_files else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTable:
    """Holds rows that were kept, and where they come from."""

    source: TableSource
    rows: tuple[Row, ...] = field(repr=False)


SOURCES: Final[Mapping[str, TableSource]] = MappingProxyType(
    {
        name: TableSource(
            experiment=name,
            data=described["measured_on"],
            measured_on=described["measured"],
            takes_files="files" in described,
        )
        for name, described in DESCRIPTIONS.items()
        if "measured" in described
    }
)


@cache
def table(name: str) -> MeasuredTable:
    """Returns the kept table of that experiment. Errors: KeyError, OSError."""
    source = SOURCES[name]
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return MeasuredTable(source=source, rows=tuple(MappingProxyType(row) for row in csv.DictReader(file)))
