"""Every mechanism by the name it has in the database and in URLs; names are never reused."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mechanisms.central.adaptive import Adaptive
from mechanisms.central.dense_emd import DenseEmd
from mechanisms.central.guessed_persons import HIGHEST_RESOLUTION as HIGHEST_GUESSED_RESOLUTION
from mechanisms.central.guessed_persons import MOST_PERSONS
from mechanisms.central.k_median import HIGHEST_RESOLUTION as HIGHEST_AREAS_RESOLUTION
from mechanisms.central.k_median import MOST_CENTRES, KMedian
from mechanisms.central.laplace import Laplace
from mechanisms.central.laplace_top import LaplaceTop
from mechanisms.central.noisy_cells import HIGHEST_RESOLUTION as HIGHEST_DENSE_RESOLUTION
from mechanisms.central.privtree import PrivTree
from mechanisms.central.sparse_emd import HIGHEST_RESOLUTION, HIGHEST_WIDTH, SparseEmd
from mechanisms.check import ParameterError, power_of_two
from mechanisms.declared_entries import DECLARED
from mechanisms.entries import (
    LARGEST_DELTA,
    SMALLEST_DELTA,
    AnyEntry,
    CentroidEntry,
    DistancesEntry,
    Entry,
    HeatmapEntry,
    ItemsEntry,
    Kind,
    Parameter,
    ZonesEntry,
)
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from mechanisms.interface import CentroidMechanism, HeatmapMechanism, Target
from mechanisms.metric.frequency import HIGHEST_RESOLUTION as HIGHEST_SAMPLED_RESOLUTION
from mechanisms.metric.frequency import MOST_DISTRICT_LEVELS, Frequency
from mechanisms.metric.itemwise_map import EmdItemwise
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.metric.linear_zones import EmdZones
from mechanisms.shuffle.shuffle_emd import DEFAULT_PARTS, MOST_PARTS, ShuffleEmd
from mechanisms.shuffle.shuffle_emd import HIGHEST_RESOLUTION as HIGHEST_SHUFFLED_RESOLUTION

__all__ = [
    "LARGEST_DELTA",
    "SMALLEST_DELTA",
    "AnyEntry",
    "CentroidEntry",
    "DistancesEntry",
    "Entry",
    "HeatmapEntry",
    "ItemsEntry",
    "Kind",
    "Parameter",
    "ZonesEntry",
    "build",
    "build_answers",
    "build_centroid",
    "build_items",
    "entries",
    "get",
]


def entries(*, relation: Relation | None = None, kind: Kind | None = None) -> tuple[AnyEntry, ...]:
    """All entries in the order they are offered, or those for one relation or kind."""
    return tuple(
        entry for entry in _ENTRIES if relation in {None, *entry.relations} and kind in {None, entry.kind}
    )


def get(name: str) -> AnyEntry:
    """The entry of that name. Errors: `ParameterError` listing the names."""
    for entry in _ENTRIES:
        if entry.name == name:
            return entry
    raise ParameterError("mechanism", name, _names(_ENTRIES))


def build(
    name: str, *, target: Target, resolution: int, parameters: Mapping[str, object]
) -> HeatmapMechanism:
    """The calibrated mechanism of a map; everything that can be wrong without data is refused here.

    Parameters that are not given have their defaults. Errors: `ParameterError`.
    """
    entry = get(name)
    if not isinstance(entry, HeatmapEntry):
        raise ParameterError("mechanism", name, _names(e for e in _ENTRIES if isinstance(e, HeatmapEntry)))
    _check_relation(entry, target)
    power_of_two(2, entry.max_resolution, resolution=resolution)
    return entry.mechanism.calibrate(target, resolution=resolution, **entry.parsed(parameters))


def build_centroid(
    name: str, *, target: Target, region: Region, persons: int, parameters: Mapping[str, object]
) -> CentroidMechanism:
    """The calibrated mechanism of a central point, as `build`; `persons` is the declared number."""
    entry = get(name)
    if not isinstance(entry, CentroidEntry):
        raise ParameterError("mechanism", name, _names(entries(kind="centroid")))
    _check_relation(entry, target)
    return entry.mechanism.calibrate(target, region=region, persons=persons, **entry.parsed(parameters))


def build_items(
    name: str,
    *,
    target: Target,
    region: Region,
    persons: int,
    resolution: int,
    parameters: Mapping[str, object],
) -> EmdItemwise:
    """The calibrated mechanism of a map of whole records, as `build_centroid`."""
    entry = get(name)
    if not isinstance(entry, ItemsEntry):
        raise ParameterError("mechanism", name, _names(e for e in _ENTRIES if isinstance(e, ItemsEntry)))
    _check_relation(entry, target)
    power_of_two(2, entry.max_resolution, resolution=resolution)
    own: dict[str, Any] = {**entry.parsed(parameters)}
    return entry.mechanism.calibrate(target, region=region, persons=persons, resolution=resolution, **own)


def build_answers(
    name: str, *, target: Target, region: Region, persons: int, parameters: Mapping[str, object]
) -> EmdZones | EmdDistances:
    """The calibrated mechanism of shares in zones or of distances to places, as `build_centroid`."""
    entry = get(name)
    if not isinstance(entry, ZonesEntry | DistancesEntry):
        raise ParameterError("mechanism", name, _names(entries(kind="zones") + entries(kind="distances")))
    _check_relation(entry, target)
    return entry.mechanism.calibrate(target, region=region, persons=persons, **entry.parsed(parameters))


def _check_relation(entry: Entry, target: Target) -> None:
    if target.relation not in entry.relations:
        raise ParameterError("relation", target.relation, ", ".join(sorted(entry.relations)))


def _names(some: Iterable[Entry]) -> str:
    return ", ".join(entry.name for entry in some)


_BOTH: Final = frozenset(Relation)


_EXPECTED_PERSONS: Final = Parameter(
    name="expected_persons",
    title="Expected persons",
    help="A public guess of how many persons there are, not a count of them: it decides how fine "
    "squares get, never what is promised. Left empty: the number stated for the dataset.",
    kind="int",
    default="",
    low="1",
    high=str(MOST_PERSONS),
)

_ENTRIES: Final[tuple[AnyEntry, ...]] = (
    HeatmapEntry(
        name="adaptive",
        title="Adaptive squares",
        summary="Measures a plain grid first, then small squares where many persons were found and large "
        "ones elsewhere. The right choice for most maps; needs a public guess of how many persons there are.",
        mechanism=Adaptive,
        relations=_BOTH,
        max_resolution=HIGHEST_GUESSED_RESOLUTION,
        parameters=(_EXPECTED_PERSONS,),
    ),
    HeatmapEntry(
        name="sparse-emd",
        title="Sparse reconstruction",
        summary="Finds the busiest squares from coarse to fine and spends the budget on those only. "
        "For when the number of persons is unknown; its quality hardly depends on the resolution.",
        mechanism=SparseEmd,
        relations=_BOTH,
        max_resolution=HIGHEST_RESOLUTION,
        parameters=(
            Parameter(
                name="width",
                title="Squares kept a level",
                help="How many squares are followed to the next finer level (w in the paper). "
                "Larger finds more places, with more noise in each.",
                kind="int",
                default="20",
                low="1",
                high=str(HIGHEST_WIDTH),
            ),
            Parameter(
                name="decay",
                title="Budget of the next finer level",
                help="Part of a level's budget that the next finer level gets (γ in the paper, 1/√2). "
                "Smaller favours coarse levels; no unit.",
                kind="decimal",
                default="0.70710678118654752440",
                low="0.5",
                high="1",
            ),
        ),
    ),
    HeatmapEntry(
        name="privtree",
        aside=True,
        title="Noisy tree of squares",
        summary="Splits squares while they seem to hold persons, then measures those that are left. "
        "A baseline for comparison that needs no guess of the number of persons.",
        mechanism=PrivTree,
        relations=_BOTH,
        max_resolution=HIGHEST_GUESSED_RESOLUTION,
        parameters=(
            Parameter(
                name="tree_percent",
                title="Budget of the tree",
                help="Percentage of epsilon that decides which squares are split; the rest measures them. "
                "Larger finds finer squares, with more noise in each.",
                kind="decimal",
                default="30",
                low="1",
                high="99",
            ),
        ),
    ),
    HeatmapEntry(
        name="dense-emd",
        aside=True,
        title="One grid as fine as the noise allows",
        summary="Measures one grid whose squares are as small as the number of persons allows, then finds "
        "the nearest map without negative values. For persons who are spread everywhere: its error does not "
        "depend on how they are.",
        mechanism=DenseEmd,
        relations=_BOTH,
        max_resolution=HIGHEST_GUESSED_RESOLUTION,
        parameters=(_EXPECTED_PERSONS,),
    ),
    HeatmapEntry(
        name="k-median",
        title="Centres and their areas",
        summary="Finds a few centres that persons are near to, and how many are nearer to each than to any "
        "other. For placing services; distances are counted along both axes of the map.",
        mechanism=KMedian,
        relations=_BOTH,
        max_resolution=HIGHEST_AREAS_RESOLUTION,
        parameters=(
            Parameter(
                name="centres",
                title="Centres",
                help="How many centres are sought (k in the paper). More are nearer to persons, with fewer "
                "persons and more noise in the area of each.",
                kind="int",
                default="8",
                low="1",
                high=str(MOST_CENTRES),
            ),
        ),
    ),
    HeatmapEntry(
        name="shuffle-emd",
        aside=True,
        title="Sparse reconstruction by shuffling, simulated",
        summary="What devices would release that each add a share of the noise and send shuffled shares of "
        "their numbers, so that nobody has to be trusted with them. Here the server, which has the "
        "check-ins, does it all: to see what such a round is worth.",
        mechanism=ShuffleEmd,
        relations=frozenset({Relation.REPLACE}),
        simulates_shuffling=True,
        flat=True,
        max_resolution=HIGHEST_SHUFFLED_RESOLUTION,
        parameters=(
            Parameter(
                name="parts",
                title="Parts of a person",
                help="What devices divide a person's mass into, a power of two (B in the paper). "
                "Fewer send less and lose more of persons with many places.",
                kind="int",
                default=str(DEFAULT_PARTS),
                low="2",
                high=str(MOST_PARTS),
            ),
        ),
    ),
    HeatmapEntry(
        name="laplace-top",
        aside=True,
        title="Noise in every square, largest kept",
        summary="Adds noise to every square of the grid and keeps only the largest values. "
        "A baseline for comparison: useful when very few squares hold nearly everybody.",
        mechanism=LaplaceTop,
        relations=_BOTH,
        max_resolution=HIGHEST_DENSE_RESOLUTION,
        parameters=(
            Parameter(
                name="keep_percent",
                title="Squares kept",
                help="Percentage of all squares of the grid that are kept, rounded up to a whole number "
                "of squares (0.01 % of a 256 by 256 grid are 7).",
                kind="decimal",
                default="0.01",
                low="0",
                low_open=True,
                high="100",
            ),
        ),
    ),
    HeatmapEntry(
        name="laplace",
        aside=True,
        title="Noise in every square",
        summary="Adds noise to every square of the grid. "
        "A baseline for comparison: good only when squares are few and persons many.",
        mechanism=Laplace,
        relations=_BOTH,
        max_resolution=HIGHEST_DENSE_RESOLUTION,
    ),
    HeatmapEntry(
        name="frequency",
        aside=True,
        title="Sampled check-ins, reported at random",
        summary="Draws check-ins of random persons and reports each as its own square, one of its district "
        "or any, by chance; how often squares really occur is reckoned back. Whoever runs this service is "
        "trusted with the check-ins; a person's whole record is protected, the same for every change of it. "
        "To be preferred where reports have to be plain squares, as devices could send them themselves: for "
        "few squares and very many persons. Other mechanisms give better maps.",
        mechanism=Frequency,
        relations=_BOTH,
        max_resolution=HIGHEST_SAMPLED_RESOLUTION,
        parameters=(
            _EXPECTED_PERSONS,
            Parameter(
                name="district_levels",
                title="Levels below a district",
                help="A district is a square that is quartered so often; squares of one district are told "
                "apart less well than districts. Left empty: as often as promises the least error.",
                kind="int",
                default="",
                low="0",
                high=str(MOST_DISTRICT_LEVELS),
            ),
        ),
    ),
    *DECLARED,
)
