"""The release sheet: what a released map promises and how it was made, from public values only."""

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Final

from mechanisms.grid import Region
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation
from mechanisms.interface import Heatmap

KIND: Final = "hazemap release sheet"

UNIT_OF_PRIVACY: Final = (
    "a person: whoever the column user names, with all of that person's check-ins in the data"
)
POST_PROCESSING: Final = (
    "no value below 0: cut, or fitted without",
    "values divided by their sum, so that the map sums to 1",
    "the mass of a region that was not refined spread evenly over its cells",
)
COMPOSITION: Final = (
    "losses and deltas of releases from the same data add up, whoever asked for them; this sheet is about "
    "one release"
)


def release_sheet(
    *,
    title: str,
    heatmap: Heatmap,
    mechanism: str,
    parameters: Mapping[str, object],
    guarantee: Guarantee,
    region: Region,
    released: date,
    radius_m: Fraction | int | None = None,
    statements: Sequence[str] = (),
    values: str = "",
) -> dict[str, object]:
    """JSON values. `heatmap` is the released one: only its grid and its digest are read.

    title: of the map; characters that do not print become blanks.
    parameters: the mechanism's own, all public. released: day in UTC. statements: plain sentences of the
    guarantee. values: what a number in the file beside the sheet means.
    """
    resolution = 1 << heatmap.level
    return {
        "kind": KIND,
        "version": 1,
        "title": "".join(letter if letter.isprintable() else " " for letter in title),
        "mechanism": mechanism,
        "parameters": {name: _json_value(value) for name, value in sorted(parameters.items())},
        "epsilon": exact_text(guarantee.loss(INFINITY)),
        "delta": exact_text(guarantee.delta),
        "relation": guarantee.relation.value,
        "trust": guarantee.trust.value,
        "radius_m": None if radius_m is None else exact_text(Fraction(radius_m)),
        "radius_epsilon": None if radius_m is None else exact_text(guarantee.loss(radius_m)),
        "guarantee": guarantee.to_json(),
        "statements": list(statements),
        "unit_of_privacy": UNIT_OF_PRIVACY,
        "composition": COMPOSITION,
        "region": dict(zip(("west", "south", "east", "north"), region, strict=True)),
        "coordinates": "WGS84 degrees (EPSG:4326)",
        "resolution": resolution,
        "cell_m": [region.width_m / resolution, region.height_m / resolution],
        "released": released.isoformat(),
        "values": values,
        "post_processing": list(POST_PROCESSING),
        "unprotected": _unprotected(guarantee.relation),
        "map_sha256": heatmap.sha256,
    }


def exact_text(value: Exact) -> str:
    """ "0.1" where a decimal is exact, "1/3" where none is, "inf" for no bound."""
    if value == INFINITY:
        return "inf"
    exact = Fraction(value)
    for digits in range(41):
        if 10**digits % exact.denominator == 0:
            whole, rest = divmod(exact.numerator * (10**digits // exact.denominator), 10**digits)
            return f"{whole}.{rest:0{digits}d}" if digits else str(whole)
    return str(exact)


def _unprotected(relation: Relation) -> list[str]:
    public = [
        "region, resolution, mechanism and its parameters, which were chosen without looking at the data",
        "that this release was asked for, and its date",
    ]
    if relation is Relation.REPLACE:
        public.append("the number of persons enrolled")
    return public


def _json_value(value: object) -> object:
    return exact_text(value) if isinstance(value, Fraction) else value
