"""Lists what is in `mechanisms/local/`: every device blurs its own reports, and one is fitted to a region.

`ENTRIES` is what can be released from a stored dataset, for `mechanisms.catalogue.registry`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from mechanisms.catalogue.entries import AnyEntry, CentroidEntry, entry_named, length_m, loaded
from mechanisms.local.lattice import Lattice
from mechanisms.local.reports import LocalMechanism, usual_cell_m
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEntry:
    """Says what people need to know to choose a mechanism that blurs one report at a time."""

    title: str
    summary: str
    name: str
    class_path: str  # dotted, of the mechanism's class
    usual_a_side: int  # cells along the longer side of a region, at most, unless a cell's size is given

    @property
    def mechanism(self) -> type[LocalMechanism]:
        """Returns the mechanism's class."""
        mechanism: type[LocalMechanism] = loaded(self.class_path)
        return mechanism


def entries() -> tuple[LocalEntry, ...]:
    """Returns the mechanisms that blur reports, in the order they are offered."""
    return _REPORTS


def names() -> str:
    """Returns the names of all of them, for messages."""
    return ", ".join(entry.name for entry in _REPORTS)


def get(name: str) -> LocalEntry:
    """Returns the entry of that name. Errors: `ParameterError` listing the names."""
    return entry_named(name, _REPORTS)


def lattice_for(name: str, region: Region, *, radius_m: Fraction, cell_m: Fraction | None = None) -> Lattice:
    """Returns a grid of cells at most `cell_m` wide and high, or as small as is of use.

    Errors: `ParameterError`.
    """
    entry = get(name)
    if cell_m is None:
        cell_m = usual_cell_m(region, radius_m, most_a_side=entry.usual_a_side)
    return Lattice.of(region, cell_m, most_a_side=entry.mechanism.most_a_side)


def build(name: str, *, target: Target, lattice: Lattice, **parameters: Any) -> LocalMechanism:
    """Builds a mechanism that spends at most the target. Errors: `ParameterError`."""
    return get(name).mechanism.calibrate(target, lattice=lattice, **parameters)


_REPORTS: Final = (
    LocalEntry(
        title="Planar geometric",
        summary="Moves each report by noise on the cells of the region that falls with straight distance. "
        "The right choice for most uses.",
        name="planar-geometric",
        class_path="mechanisms.local.planar_geometric.PlanarGeometric",
        usual_a_side=1000,
    ),
    LocalEntry(
        title="Planar Laplace",
        summary="The usual noise of geo-indistinguishability, snapped to the cells of the region; a little "
        "more error than planar geometric on coarse cells, the same on fine ones.",
        name="planar-laplace",
        class_path="mechanisms.local.planar_laplace.PlanarLaplace",
        usual_a_side=1000,
    ),
    LocalEntry(
        title="Geometric on each axis",
        summary="Moves column and row by themselves. More error in straight lines; works on finer cells.",
        name="geo-local",
        class_path="mechanisms.local.geo_local.GeoLocal",
        usual_a_side=2000,
    ),
    LocalEntry(
        title="Least error for a prior",
        summary="The table with the least expected error, found by linear programming on a few large cells.",
        name="optimal",
        class_path="mechanisms.local.optimal.Optimal",
        usual_a_side=5,
    ),
)
ENTRIES: Final[tuple[AnyEntry, ...]] = (
    CentroidEntry(
        aside=True,
        title="Central point of blurred reports, simulated",
        summary="What people's own devices would publish if each blurred its own place and nobody had to be "
        "trusted: the mean of all reports. Here the server, which has the check-ins, does it all: to see "
        "what that trust is worth. ε is what it costs when one person's record moves by the dataset's "
        "radius. Its error is that of a trusted server times the square root of the number of people.",
        name="geo-local",
        class_path="mechanisms.local.centroid.GeoLocalCentroid",
        simulates_devices=True,
        parameters=(
            length_m(
                name="cell_m",
                title="Squares that devices report in",
                help="Side in metres of the squares that positions are counted in. Left empty: a small part "
                "of the dataset's radius, or more where noise is wide; larger adds what rounding can add to "
                "a move.",
            ),
        ),
    ),
)
