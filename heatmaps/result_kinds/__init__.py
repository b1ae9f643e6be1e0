"""Lists every kind of result; the catalogue says which one a mechanism releases."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from heatmaps.result_kinds.distances import DISTANCES
from heatmaps.result_kinds.format import Format, Group
from heatmaps.result_kinds.heatmap import HEATMAP
from heatmaps.result_kinds.kind import ResultKind, SheetPart
from heatmaps.result_kinds.point import POINT
from heatmaps.result_kinds.zones import ZONES
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import StoredEntry
from mechanisms.catalogue.registry import Kind
from mechanisms.devices import catalogue
from mechanisms.devices.catalogue import DeviceEntry
from mechanisms.results.serialization import Result

__all__ = [
    "CATALOGUES",
    "RESULT_KINDS",
    "Format",
    "Group",
    "ResultKind",
    "SheetPart",
    "kind_of_mechanism",
    "kind_of_result",
    "kind_of_sheet",
    "names_of_kind",
]

# By what mechanisms draw from, as an origin names it (`Origin.runs_on`).
CATALOGUES: Final = MappingProxyType({StoredEntry.runs_on: registry, DeviceEntry.runs_on: catalogue})
RESULT_KINDS: Final[Mapping[Kind, ResultKind]] = MappingProxyType(
    {kind.name: kind for kind in (HEATMAP, POINT, ZONES, DISTANCES)}
)


def kind_of_mechanism(name: str, *, runs_on: str = "stored") -> ResultKind:
    """Returns a mechanism's kind of result, on stored check-ins or in a round: `geo-local` differs.

    Errors: `ParameterError` for an unknown name.
    """
    return RESULT_KINDS[CATALOGUES[runs_on].get(name).kind]


def names_of_kind(kind: Kind, *, runs_on: str) -> list[str]:
    """Returns the mechanisms that release a kind of result, on stored check-ins or on devices."""
    return [entry.name for entry in CATALOGUES[runs_on].entries() if entry.kind == kind]


def kind_of_result(result: Result) -> ResultKind:
    """Returns the kind of a released result."""
    return next(kind for kind in RESULT_KINDS.values() if isinstance(result, kind.result))


def kind_of_sheet(sheet: Mapping[str, Any]) -> ResultKind:
    """Returns the kind of result that a release sheet is about."""
    return next(kind for kind in RESULT_KINDS.values() if kind.digest in sheet)
