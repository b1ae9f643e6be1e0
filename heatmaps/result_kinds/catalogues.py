"""Finds the kind of a mechanism's result, on stored check-ins and on devices.

Apart from the kinds themselves: who writes a file needs no catalogue, and that of devices loads much.
"""

from types import MappingProxyType
from typing import Final

from heatmaps.result_kinds import RESULT_KINDS
from heatmaps.result_kinds.kind import ResultKind
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import Kind, StoredEntry
from mechanisms.devices import catalogue
from mechanisms.devices.catalogue import DeviceEntry

# By what mechanisms draw from, as an origin names it (`Origin.runs_on`).
CATALOGUES: Final = MappingProxyType({StoredEntry.runs_on: registry, DeviceEntry.runs_on: catalogue})


def kind_of_mechanism(name: str, *, runs_on: str = "stored") -> ResultKind:
    """Returns a mechanism's kind of result, on stored check-ins or in a round: `geo-local` differs.

    Errors: `ParameterError` for an unknown name.
    """
    return RESULT_KINDS[CATALOGUES[runs_on].get(name).kind]


def names_of_kind(kind: Kind, *, runs_on: str) -> list[str]:
    """Returns the mechanisms that release a kind of result, on stored check-ins or on devices."""
    return [entry.name for entry in CATALOGUES[runs_on].entries() if entry.kind == kind]
