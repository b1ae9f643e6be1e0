"""Zones and released shares in them, in words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from heatmaps.wording.guarantee import decimal
from mechanisms.places import Place, Places
from mechanisms.zones import WITHIN_ERRORS, Zone, Zones, ZoneShares

TEXTS: Final[Mapping[str, Callable[[object], Iterable[Zone | Place]]]] = {
    "zones": Zones.parse,
    "places": Places.parse,
}  # parameters that are stored as texts


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


def names_in(parameter: str, text: object) -> str:
    """Of one of `TEXTS` as it is stored."""
    return ", ".join(one.name for one in TEXTS[parameter](text))


def shares_words(found: ZoneShares) -> SharesWords:
    """In the order in which the zones were given."""
    error, near = found.standard_error, WITHIN_ERRORS * found.standard_error
    rows = (
        ZoneRow(
            name=zone.name,
            percent=percent(share),
            least=percent(max(share - near, 0.0)),
            most=percent(min(share + near, 1.0)),
            told_apart=share > near,
        )
        for zone, share in zip(found.zones, found.shares, strict=True)
    )
    return SharesWords(rows=tuple(rows), margin=decimal(found.margin_m, digits=3), error=f"{100 * error:.2g}")


def percent(share: float) -> str:
    return f"{100 * share:.1f}"
