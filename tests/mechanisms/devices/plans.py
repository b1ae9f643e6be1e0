"""Plans of all mechanisms that are small enough for tests."""

from fractions import Fraction
from typing import Any

from mechanisms.devices import catalogue
from mechanisms.devices.plan import DevicePlan
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region

REGION = Region(13.2, 52.4, 13.6, 52.6)
# Few squares, so that reports are short; epsilon so that every mechanism says something.
SMALL: dict[str, dict[str, Any]] = {
    "planar-geometric": {"resolution": 8},
    "geo-local": {"resolution": 8},
    "optimal": {"resolution": 4},
    "frequency": {"resolution": 8, "parameters": {"district_levels": 1}},
    "sgdl-shuffle": {"parameters": {"cell_m": "2000"}},
    "geo-shuffle": {"parameters": {"cell_m": "2000"}},
    "rr-shuffle": {"parameters": {"cell_m": "2000"}},
    "emd-itemwise": {"resolution": 16, "parameters": {"samples": 16}},
    "shuffle-emd": {"resolution": 4, "parameters": {"parts": 64}, "least_honest": 12},
}

_USUAL = {
    "resolution": None,
    "parameters": {},
    "region": REGION,
    "least_honest": 100,
    "most_reports": 10_000,
}
EPSILON = dict.fromkeys(SMALL, 3) | dict.fromkeys(("planar-geometric", "geo-local", "optimal"), 4)


def target(
    name: str, *, epsilon: int | Fraction | None = None, delta: str | None = None, radius_m: int = 3000
) -> Target:
    usual = delta or catalogue.get(name).usual_delta or "0"
    return Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(EPSILON[name] if epsilon is None else epsilon),
        delta=Fraction(usual),
        radius_m=Fraction(radius_m),
    )


def plan(name: str, **changes: Any) -> DevicePlan:
    """The small plan of a mechanism, or one with other facts: those of `target`, or of `build`."""
    facts: dict[str, Any] = _USUAL | SMALL[name]
    wanted = {key: changes.pop(key) for key in ("epsilon", "delta", "radius_m") if key in changes}
    return catalogue.build(
        name,
        target=changes.pop("target", None) or target(name, **wanted),
        **(facts | changes),
    )
