"""Zones and released shares in them, in words."""

from dataclasses import dataclass
from typing import Final

from heatmaps.wording.guarantee import decimal
from mechanisms.zones import Zones, ZoneShares

ZONES: Final = "zones"  # the parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRow:
    """One zone of a table; percentages of all persons."""

    name: str
    percent: str
    least: str
    most: str
    told_apart: bool  # from 0, by two standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesWords:
    rows: tuple[ZoneRow, ...]
    margin: str  # metres
    error: str  # percentage points


def zone_names(text: object) -> str:
    """Of a parameter as it is stored."""
    return ", ".join(zone.name for zone in Zones.parse(text))


def shares_words(found: ZoneShares) -> SharesWords:
    """In the order in which the zones were given."""
    error = found.standard_error
    rows = (
        ZoneRow(
            name=zone.name,
            percent=percent(share),
            least=percent(max(share - 2 * error, 0.0)),
            most=percent(min(share + 2 * error, 1.0)),
            told_apart=share > 2 * error,
        )
        for zone, share in zip(found.zones, found.shares, strict=True)
    )
    return SharesWords(rows=tuple(rows), margin=decimal(found.margin_m, digits=3), error=f"{100 * error:.2g}")


def percent(share: float) -> str:
    return f"{100 * share:.1f}"
