"""What was asked about, as parameters keep it: zones and places by their names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from mechanisms.places import Place, Places
from mechanisms.zones import Zone, Zones

# Parameters that are stored as texts of named things.
TEXTS: Final[Mapping[str, Callable[[object], Iterable[Zone | Place]]]] = {
    "zones": Zones.parse,
    "places": Places.parse,
}


def names_in(parameter: str, text: object) -> str:
    """Of one of `TEXTS` as it is stored."""
    return ", ".join(one.name for one in TEXTS[parameter](text))
