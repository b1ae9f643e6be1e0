"""Parameters of a release in words: zones and places by their names, lengths with their unit."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from mechanisms.places import Place, Places
from mechanisms.zones import Zone, Zones

# Parameters that are stored as texts of named things.
TEXTS: Final[Mapping[str, Callable[[object], Iterable[Zone | Place]]]] = {
    "zones": Zones.parse,
    "places": Places.parse,
}


def value_words(parameter: str, value: object) -> str:
    """Of a parameter as it is stored."""
    if parameter in TEXTS:
        return ", ".join(one.name for one in TEXTS[parameter](value))
    return f"{value} m" if parameter.endswith("_m") else str(value)
