"""Finds what people are told of a mechanism: as it ran on stored check-ins, or on people's devices."""

from heatmaps.models import Release
from heatmaps.result_kinds import CATALOGUES, ResultKind, kind_of_mechanism
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.devices.catalogue import DeviceEntry


def entry_of(release: Release) -> AnyEntry | DeviceEntry:
    """Errors: `ParameterError` for a mechanism that is gone."""
    entry: AnyEntry | DeviceEntry = CATALOGUES[release.dataset.origin.runs_on].get(release.mechanism)
    return entry


def kind_of_release(release: Release) -> ResultKind:
    """What a release is, or will be, a result of."""
    return kind_of_mechanism(release.mechanism, runs_on=release.dataset.origin.runs_on)
