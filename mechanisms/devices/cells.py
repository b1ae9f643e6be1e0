"""Plans maps of devices that blur their own place: what the local mechanisms are to a round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from mechanisms.devices.estimates import map_of
from mechanisms.devices.laws import AxesLaw, CellLaw, DenseLaw, GkrrLaw, Integers
from mechanisms.devices.mirrored_law import MirroredLaw
from mechanisms.devices.plan import Influence, Json, Kind, Messages, big_endian, check_reports, number
from mechanisms.devices.several import several
from mechanisms.devices.tables import eight_bytes
from mechanisms.error_bounds import noise_in_every_cell
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.noise_table import NoiseTable, row_law
from mechanisms.local.optimal import TOTAL, Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.metric.frequency.gkrr import Gkrr
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, morton_encode

CELL_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan(ABC):
    """Plans a report of one cell, random given the true one; nobody has to be trusted. A base.

    Guarantee: LOCAL, measured on the integers of the table that devices get.
    Edge cases: what is no cell is left out, and counts as nobody.
    Error: values are unbiased before they are cut to 0 (`laws.py`); errors and squares with people as
    `estimates.py` says. `expected_error` is a bound that holds for all places.
    """

    trust: ClassVar[Trust] = Trust.LOCAL
    kind: ClassVar[Kind] = "heatmap"
    messages: ClassVar[int] = 1
    message_bytes: ClassVar[int] = CELL_BYTES
    region: Region
    resolution: int
    most_reports: int

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def encoding(self) -> dict[str, Json]: ...

    @property
    @abstractmethod
    def table(self) -> bytes: ...

    @property
    @abstractmethod
    def per_report(self) -> Guarantee: ...

    @property
    @abstractmethod
    def law(self) -> CellLaw: ...

    @property
    def level(self) -> int:
        return self.resolution.bit_length() - 1

    def guarantee(self, reports: int) -> Guarantee:
        return several(self.per_report, reports, diameter_m=self.region.diameter_m)

    def expected_error(self, reports: int) -> ErrorBound:
        """Bounds a cell's mean error by its deviation, and their sum by √(cells · sum of variances)."""
        check_reports(reports, self.most_reports)
        cells = self.resolution**2
        deviation = (reports * self.law.spread / cells) ** 0.5
        return noise_in_every_cell(deviation, cells=cells, persons=reports)

    def analyse(self, messages: Messages, reports: int) -> Heatmap:
        check_reports(reports, self.most_reports)
        cells = big_endian(messages)
        return map_of(self.law, np.bincount(self._morton(cells), minlength=self.resolution**2))

    def influence(self, dishonest: int, reports: int) -> Influence:
        check_reports(reports, self.most_reports)
        return Influence(
            number=dishonest * self.law.swing,
            unit="people",
            sentence="Devices that report a cell of their choice can add or take away at most so many people "
            "in a square of the map.",
        )

    def _morton(self, cells: Integers) -> Integers:
        """Returns Morton codes of reported cells that there are, numbered column · rows + row."""
        column, row = np.divmod(cells[cells < self.resolution**2], self.resolution)
        return morton_encode(column, row, self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPlan(CellPlan):
    """Plans `PlanarGeometric`: one table of offsets for all cells."""

    blur: PlanarGeometric

    @property
    def name(self) -> str:
        return self.blur.name

    @property
    def encoding(self) -> dict[str, Json]:
        return {"kind": "offsets", **_sides(self.resolution), **_totals(self.blur.table)}

    @property
    def table(self) -> bytes:
        return eight_bytes(self.blur.table.ends)

    @property
    def per_report(self) -> Guarantee:
        return self.blur.per_report

    @property
    def law(self) -> MirroredLaw:
        return _offsets_law(self.blur)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxesPlan(CellPlan):
    """Plans `GeoLocal`: a table for columns and one for rows."""

    blur: GeoLocal

    @property
    def name(self) -> str:
        return self.blur.name

    @property
    def encoding(self) -> dict[str, Json]:
        return axes_encoding("axes", self.blur)

    @property
    def table(self) -> bytes:
        return axes_table(self.blur)

    @property
    def per_report(self) -> Guarantee:
        return self.blur.per_report

    @property
    def law(self) -> AxesLaw:
        return _axes_law(self.blur)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPlan(CellPlan):
    """Plans `Optimal`: a table with a row for each true cell."""

    blur: Optimal

    @property
    def name(self) -> str:
        return self.blur.name

    @property
    def encoding(self) -> dict[str, Json]:
        return {"kind": "rows", **_sides(self.resolution), "total": number(TOTAL)}

    @property
    def table(self) -> bytes:
        return eight_bytes(self.blur.table.cumsum(axis=1).astype(np.uint64))

    @property
    def per_report(self) -> Guarantee:
        return self.blur.per_report

    @property
    def law(self) -> DenseLaw:
        return _rows_law(self.blur)


@dataclass(frozen=True, slots=True, kw_only=True)
class GkrrPlan(CellPlan):
    """Plans `Gkrr` on one cell a report.

    Guarantee: LOCAL, flat: the loss between districts, read off the integers, for every change of a place.
    """

    name: ClassVar[str] = "frequency"
    gkrr: Gkrr

    @property
    def encoding(self) -> dict[str, Json]:
        weights: dict[str, Json] = {key: number(getattr(self.gkrr, key)) for key in ("own", "near", "far")}
        return {
            "kind": "gkrr",
            "level": self.level,
            "districts": self.gkrr.districts,
            "district_cells": self.gkrr.district_cells,
            **weights,
        }

    @property
    def table(self) -> bytes:
        return b""

    @property
    def per_report(self) -> Guarantee:
        return Guarantee.flat(relation=Relation.REPLACE, epsilon=self.gkrr.loss, trust=Trust.LOCAL)

    @property
    def law(self) -> GkrrLaw:
        return GkrrLaw(level=self.level, gkrr=self.gkrr)

    def _morton(self, cells: Integers) -> Integers:
        return cells[cells < self.resolution**2]


def axes_encoding(kind: str, blur: GeoLocal) -> dict[str, Json]:
    """Returns the encoding of a blur of columns and rows by themselves."""
    across, along = blur.tables
    sides = _sides(blur.lattice.columns)
    return {"kind": kind, **sides, "across": _totals(across), "along": _totals(along)}


def axes_table(blur: GeoLocal) -> bytes:
    """Returns running sums of the columns' law, then of the rows'."""
    return b"".join(eight_bytes(table.ends) for table in blur.tables)


def _sides(resolution: int) -> dict[str, Json]:
    return {"columns": resolution, "rows": resolution}


def _totals(table: NoiseTable) -> dict[str, Json]:
    return {"uniform": number(table.uniform), "total": number(table.total)}


@lru_cache(maxsize=2)
def _offsets_law(blur: PlanarGeometric) -> MirroredLaw:
    table, side = blur.table, blur.lattice.columns
    rows = [table.weights(*divmod(cell, side // 2)) for cell in range((side // 2) ** 2)]
    quadrant = np.stack(rows).reshape(side // 2, side // 2, side, side) / table.total
    return MirroredLaw(level=side.bit_length() - 1, quadrant=quadrant)


@lru_cache(maxsize=8)
def _axes_law(blur: GeoLocal) -> AxesLaw:
    across, along = blur.tables
    return AxesLaw(level=blur.lattice.columns.bit_length() - 1, across=row_law(across), along=row_law(along))


@lru_cache(maxsize=8)
def _rows_law(blur: Optimal) -> DenseLaw:
    return DenseLaw.of_lattice(blur.lattice.columns.bit_length() - 1, blur.table / TOTAL)
