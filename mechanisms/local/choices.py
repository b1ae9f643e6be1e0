"""The local mechanisms by name, and how one is fitted to a region.

They are no entries of `mechanisms.catalogue`: that lists what can be released from a stored dataset.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.interface import Target
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.optimal import Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.local.planar_laplace import PlanarLaplace
from mechanisms.local.reports import LocalMechanism, usual_cell_m


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEntry:
    """What people need to know to choose a local mechanism."""

    title: str
    summary: str
    mechanism: type[LocalMechanism]
    usual_a_side: int  # cells along the longer side of a region, at most, unless a cell's size is given

    @property
    def name(self) -> str:
        return self.mechanism.name


def entries() -> tuple[LocalEntry, ...]:
    """In the order they are offered."""
    return _ENTRIES


def names() -> str:
    """Of all of them, for messages."""
    return ", ".join(entry.name for entry in _ENTRIES)


def get(name: str) -> LocalEntry:
    """Errors: `ParameterError` listing the names."""
    for entry in _ENTRIES:
        if entry.name == name:
            return entry
    raise ParameterError("mechanism", name, names())


def lattice_for(name: str, region: Region, *, radius_m: Fraction, cell_m: Fraction | None = None) -> Lattice:
    """Cells at most `cell_m` wide and high, or as small as is of use. Errors: `ParameterError`."""
    entry = get(name)
    if cell_m is None:
        cell_m = usual_cell_m(region, radius_m, most_a_side=entry.usual_a_side)
    return Lattice.of(region, cell_m, most_a_side=entry.mechanism.most_a_side)


def build(name: str, *, target: Target, lattice: Lattice, **parameters: Any) -> LocalMechanism:
    """What spends at most the target. Errors: `ParameterError`."""
    return get(name).mechanism.calibrate(target, lattice=lattice, **parameters)


_ENTRIES: Final = (
    LocalEntry(
        title="Planar geometric",
        summary="Moves each report by noise on the cells of the region that falls with straight distance. "
        "The right choice for most uses.",
        mechanism=PlanarGeometric,
        usual_a_side=1000,
    ),
    LocalEntry(
        title="Planar Laplace",
        summary="The usual noise of geo-indistinguishability, snapped to the cells of the region; a little "
        "more error than planar geometric on coarse cells, the same on fine ones.",
        mechanism=PlanarLaplace,
        usual_a_side=1000,
    ),
    LocalEntry(
        title="Geometric on each axis",
        summary="Moves column and row by themselves. More error in straight lines; works on finer cells.",
        mechanism=GeoLocal,
        usual_a_side=2000,
    ),
    LocalEntry(
        title="Least error for a prior",
        summary="The table with the least expected error, found by linear programming on a few large cells.",
        mechanism=Optimal,
        usual_a_side=5,
    ),
)
