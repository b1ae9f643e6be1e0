"""Words released zone shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatmaps.numbers import Scale
from heatmaps.result_kinds.kind import SheetPart
from heatmaps.wording.guarantee import decimal
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.zones import ZoneShares
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRow:
    """Holds one zone of a table; percentages of all persons."""

    name: str
    percent: str
    least: str
    most: str
    told_apart: bool  # from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesWords:
    rows: tuple[ZoneRow, ...]
    margin: str  # metres
    error: str  # percentage points
    errors_within: float  # how many of them the least and the most are away


def shares_words(result: ZoneShares, _: Region) -> SharesWords:
    """Words the shares, in the order in which the zones were given."""
    near = WITHIN_ERRORS * result.standard_error
    scale = Scale.of_shares(result.standard_error)
    rows = (
        ZoneRow(
            name=zone.name,
            percent=scale.nearest(share),
            least=scale.down(max(share - near, 0.0)),
            most=scale.up(min(share + near, 1.0)),
            told_apart=share > near,
        )
        for zone, share in zip(result.zones, result.shares, strict=True)
    )
    return SharesWords(
        rows=tuple(rows),
        margin=decimal(result.margin_m, digits=3),
        error=scale.up(result.standard_error),
        errors_within=WITHIN_ERRORS,
    )


def sheet_part(result: ZoneShares, _: Region) -> SheetPart:
    """Returns all that was asked and all that was released: rings are closed, longitude first."""
    zones = [
        {"name": zone.name, "share": share, "standard_error": result.standard_error, "ring": zone.degrees}
        for zone, share in zip(result.zones, result.shares, strict=True)
    ]
    return SheetPart(
        measures={"zones": zones, "margin_m": result.margin_m}, post_processing=("shares cut to 0 and 1",)
    )


def sheet_facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns (title, text) of the shares."""
    error = max(zone["standard_error"] for zone in sheet["zones"])
    scale = Scale.of_shares(error)
    shares = ((zone["name"], f"{scale.nearest(zone['share'])} % of all people") for zone in sheet["zones"])
    return (*shares, ("Standard error of each", f"{scale.up(error)} percentage points"))
