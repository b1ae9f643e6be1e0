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
from mechanisms.catalogue.entries import Kind
from mechanisms.results.serialization import Result

__all__ = [
    "RESULT_KINDS",
    "Format",
    "Group",
    "ResultKind",
    "SheetPart",
    "kind_of_result",
    "kind_of_sheet",
]

RESULT_KINDS: Final[Mapping[Kind, ResultKind]] = MappingProxyType(
    {kind.name: kind for kind in (HEATMAP, POINT, ZONES, DISTANCES)}
)


def kind_of_result(result: Result) -> ResultKind:
    """Returns the kind of a released result."""
    return next(kind for kind in RESULT_KINDS.values() if isinstance(result, kind.result))


def kind_of_sheet(sheet: Mapping[str, Any]) -> ResultKind:
    """Returns the kind of result that a release sheet is about."""
    return next(kind for kind in RESULT_KINDS.values() if kind.digest in sheet)
