"""Writes released results as files, one writer a suffix, with their release sheet."""

from typing import Final

from heatmaps.exports.content import Released
from heatmaps.exports.sheet import release_sheet
from heatmaps.result_kinds import RESULT_KINDS, Format, Group
from mechanisms.catalogue.entries import Kind

__all__ = ["FORMATS", "Format", "Group", "Released", "format_of", "release_sheet"]

FORMATS: Final = RESULT_KINDS["heatmap"].formats


def format_of(suffix: str, kind: Kind = "heatmap") -> Format:
    """Returns the format of a suffix with its dot. Errors: `ParameterError` naming those the kind has."""
    return RESULT_KINDS[kind].format_of(suffix)
