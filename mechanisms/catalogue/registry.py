"""Looks mechanisms up by their name in the database and in URLs, and calibrates them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from mechanisms.catalogue import central, local, metric, shuffle
from mechanisms.catalogue.entries import (
    LARGEST_DELTA,
    SMALLEST_DELTA,
    AnswersEntry,
    AnyEntry,
    CentroidEntry,
    DistancesEntry,
    HeatmapEntry,
    ItemsEntry,
    Kind,
    Parameter,
    ZonesEntry,
    entry_named,
)
from mechanisms.guarantee import Relation
from mechanisms.mechanism import CentroidMechanism, HeatmapMechanism, Target
from mechanisms.space.grid import Region

if TYPE_CHECKING:
    from mechanisms.metric.itemwise.mechanism import EmdItemwise
    from mechanisms.metric.linear.distances import EmdDistances
    from mechanisms.metric.linear.zones import EmdZones

__all__ = [
    "LARGEST_DELTA",
    "SMALLEST_DELTA",
    "AnyEntry",
    "CentroidEntry",
    "DistancesEntry",
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

_ENTRIES: Final[tuple[AnyEntry, ...]] = central.ENTRIES + metric.ENTRIES + shuffle.ENTRIES + local.ENTRIES
_EntryClass = TypeVar("_EntryClass", bound=AnyEntry)


def entries(*, relation: Relation | None = None, kind: Kind | None = None) -> tuple[AnyEntry, ...]:
    """Returns all entries in the order they are offered, or those for one relation or kind."""
    return tuple(
        entry for entry in _ENTRIES if relation in {None, *entry.relations} and kind in {None, entry.kind}
    )


def get(name: str) -> AnyEntry:
    """Returns the entry of that name. Errors: `ParameterError` listing the names."""
    return entry_named(name, _ENTRIES)


def build(
    name: str, *, target: Target, resolution: int, parameters: Mapping[str, object]
) -> HeatmapMechanism:
    """Returns the calibrated mechanism of a map; everything that can be wrong without data is refused here.

    Parameters that are not given have their defaults. Errors: `ParameterError`.
    """
    return _of(HeatmapEntry, name).calibrated(target, parameters, resolution=resolution)


def build_centroid(
    name: str, *, target: Target, region: Region, persons: int, parameters: Mapping[str, object]
) -> CentroidMechanism:
    """Returns the calibrated mechanism of a central point, as `build`; `persons` is the declared number."""
    return _of(CentroidEntry, name).calibrated(target, parameters, region=region, persons=persons)


def build_items(
    name: str,
    *,
    target: Target,
    region: Region,
    persons: int,
    resolution: int,
    parameters: Mapping[str, object],
) -> "EmdItemwise":
    """Returns the calibrated mechanism of a map of whole records, as `build_centroid`."""
    entry = _of(ItemsEntry, name)
    return entry.calibrated(target, parameters, region=region, persons=persons, resolution=resolution)


def build_answers(
    name: str, *, target: Target, region: Region, persons: int, parameters: Mapping[str, object]
) -> "EmdZones | EmdDistances":
    """Returns the calibrated mechanism of shares in zones or of distances to places, as `build_centroid`."""
    return _of(AnswersEntry, name).calibrated(target, parameters, region=region, persons=persons)


def _of(entry_class: type[_EntryClass], name: str) -> _EntryClass:
    get(name)
    return entry_named(name, [entry for entry in _ENTRIES if isinstance(entry, entry_class)])
