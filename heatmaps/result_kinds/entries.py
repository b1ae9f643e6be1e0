"""Finds the catalogue entry and the kind of a release, whatever its mechanism ran on."""

from heatmaps.models import Release
from heatmaps.result_kinds import ResultKind
from heatmaps.result_kinds.catalogues import CATALOGUES, kind_of_mechanism
from mechanisms.catalogue.registry import AnyEntry
from mechanisms.devices.catalogue import DeviceEntry


def entry_of(release: Release) -> AnyEntry | DeviceEntry:
    """Returns the entry of what drew a release. Errors: `ParameterError` for a mechanism that is gone."""
    entry: AnyEntry | DeviceEntry = CATALOGUES[release.dataset.origin.runs_on].get(release.mechanism)
    return entry


def kind_of_release(release: Release) -> ResultKind:
    """Returns the kind of result that a release has, or will have."""
    return kind_of_mechanism(release.mechanism, runs_on=release.dataset.origin.runs_on)
