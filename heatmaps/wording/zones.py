"""Released shares in zones, in words."""

from dataclasses import dataclass

from heatmaps.wording.guarantee import decimal
from mechanisms.prediction import WITHIN_ERRORS
from mechanisms.zones import ZoneShares


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRow:
    """One zone of a table; percentages of all persons."""

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


def shares_words(found: ZoneShares) -> SharesWords:
    """In the order in which the zones were given."""
    error, near = found.standard_error, WITHIN_ERRORS * found.standard_error
    rows = (
        ZoneRow(
            name=zone.name,
            percent=_percent(share),
            least=_percent(max(share - near, 0.0)),
            most=_percent(min(share + near, 1.0)),
            told_apart=share > near,
        )
        for zone, share in zip(found.zones, found.shares, strict=True)
    )
    return SharesWords(
        rows=tuple(rows),
        margin=decimal(found.margin_m, digits=3),
        error=f"{100 * error:.2g}",
        errors_within=WITHIN_ERRORS,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
