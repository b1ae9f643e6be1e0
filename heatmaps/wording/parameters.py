"""Words parameters of a release: zones and places by name, lengths with their unit."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from mechanisms.results.distances import NamedPlace, Places
from mechanisms.results.zones import Zone, Zones

# Parameters that are stored as texts of named things.
TEXTS: Final[Mapping[str, Callable[[object], Iterable[Zone | NamedPlace]]]] = {
    "zones": Zones.parse,
    "places": Places.parse,
}

_UNITS: Final = {"_m": "m", "_percent": "%"}  # by the end of a name


def value_words(parameter: str, value: object) -> str:
    """Words a parameter as it is stored."""
    if parameter in TEXTS:
        return ", ".join(named.name for named in TEXTS[parameter](value))
    of = unit(parameter)
    return f"{value} {of}" if of else str(value)


def unit(parameter: str) -> str:
    """Returns the unit of a parameter's numbers; empty where they have none."""
    return next((unit for end, unit in _UNITS.items() if parameter.endswith(end)), "")
