"""The release sheet: what a released map or point promises and how it was made, from public values only."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from fractions import Fraction
from typing import Final

from heatmaps.centres import centres_of
from heatmaps.slices import WHOLE, Slice, moment_or_none
from heatmaps.wording.asked import TEXTS
from heatmaps.wording.guarantee import record_loss
from mechanisms.grid import Region
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation
from mechanisms.interface import Heatmap, Result
from mechanisms.places import PlaceDistances
from mechanisms.point import Point
from mechanisms.zones import ZoneShares

KIND: Final = "hazemap release sheet"

UNIT_OF_PRIVACY: Final = (
    "a person: whoever the column user names, with all of that person's check-ins in the data"
)
POST_PROCESSING: Final = (
    "no value below 0: cut, or fitted without",
    "values divided by their sum, so that the map sums to 1",
    "the mass of a region that was not refined spread evenly over its cells",
)
_DIGESTS: Final[dict[type, str]] = {
    Point: "point_sha256",
    ZoneShares: "zones_sha256",
    PlaceDistances: "distances_sha256",
}
# What is done to the answers of kinds that are no maps of cells.
_CUT: Final[dict[type, str]] = {
    ZoneShares: "shares cut to 0 and 1",
    PlaceDistances: "distances cut to 0 and the diameter of the region",
}
COMPOSITION: Final = (
    "losses and deltas of releases from the same data add up, whoever asked for them; this sheet is about "
    "one release"
)


def release_sheet(
    *,
    title: str,
    result: Result,
    mechanism: str,
    parameters: Mapping[str, object],
    guarantee: Guarantee,
    region: Region,
    released: date,
    radius_m: Fraction | int | None = None,
    asked: Slice = WHOLE,
    whole_region: Region | None = None,
    statements: Sequence[str] = (),
    values: str = "",
) -> dict[str, object]:
    """JSON values. `result` is the released map or point: of a map only its grid and its digest are read.

    title: of the map; characters that do not print become blanks.
    parameters: the mechanism's own, all public. region: what the map covers. released: day in UTC.
    asked: the part of the data that the map is about. whole_region: of all the data, where the map covers a
    part of it; records can be that far apart. statements: plain sentences of the guarantee. values: what a
    number in the file beside the sheet means.
    """
    dataset_region = region if whole_region is None else whole_region
    return {
        "kind": KIND,
        "version": 1,
        "title": "".join(letter if letter.isprintable() else " " for letter in title),
        "mechanism": mechanism,
        "parameters": {
            name: _json_value(value) for name, value in sorted(parameters.items()) if name not in TEXTS
        },
        "epsilon": exact_text(_largest_loss(guarantee, dataset_region)),
        "delta": exact_text(guarantee.delta),
        "relation": guarantee.relation.value,
        "trust": guarantee.trust.value,
        "radius_m": None if radius_m is None else exact_text(Fraction(radius_m)),
        "radius_epsilon": None if radius_m is None else exact_text(guarantee.loss(radius_m)),
        "guarantee": guarantee.to_json(),
        "statements": list(statements),
        "unit_of_privacy": UNIT_OF_PRIVACY,
        "composition": COMPOSITION,
        "region": _box(region),
        "part_of_region": None if asked.part is None else _box(dataset_region),
        "period": _period(asked),
        "coordinates": "WGS84 degrees (EPSG:4326)",
        **_measures(result, region),
        "released": released.isoformat(),
        "values": values,
        "post_processing": _post_processing(result),
        "unprotected": _unprotected(guarantee.relation),
        _DIGESTS.get(type(result), "map_sha256"): result.sha256,
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


def _measures(result: Result, region: Region) -> dict[str, object]:
    """Of a map its grid; of a point everything that was released."""
    if isinstance(result, Point):
        return {"point": asdict(result)}
    if isinstance(result, ZoneShares):
        return {"zones": _zones(result), "margin_m": exact_text(result.margin_m)}
    if isinstance(result, PlaceDistances):
        return {"distances": _distances(result)}
    resolution = 1 << result.level
    return {
        "resolution": resolution,
        "cell_m": [region.width_m / resolution, region.height_m / resolution],
        **_centres(result, region),
    }


def _zones(result: ZoneShares) -> list[dict[str, object]]:
    """All that was asked and all that was released: rings are closed, longitude first."""
    return [
        {"name": zone.name, "share": share, "standard_error": result.standard_error, "ring": zone.degrees}
        for zone, share in zip(result.zones, result.shares, strict=True)
    ]


def _distances(result: PlaceDistances) -> list[dict[str, object]]:
    found = []
    for place, distance_m in zip(result.places, result.distances_m, strict=True):
        lat, lon = place.degrees
        error = {"distance_m": distance_m, "standard_error_m": result.standard_error_m}
        found.append({"name": place.name, "lat": lat, "lon": lon, **error})
    return found


def _post_processing(result: Result) -> list[str]:
    if isinstance(result, Heatmap):
        return list(POST_PROCESSING)
    return [_CUT[type(result)]] if type(result) in _CUT else []


def _centres(heatmap: Heatmap, region: Region) -> dict[str, object]:
    """Of a map of areas, the heaviest first; persons are those nearest to the centre."""
    found = centres_of(heatmap, region)
    return {"centres": [asdict(centre) for centre in found]} if found else {}


def _box(region: Region) -> dict[str, float]:
    return dict(zip(("west", "south", "east", "north"), region, strict=True))


def _period(asked: Slice) -> dict[str, str | None] | None:
    """Half-open, in UTC; check-ins without a time are in no period."""
    if not asked.has_period:
        return None
    return {"since": moment_or_none(asked.since), "until": moment_or_none(asked.until)}


def _largest_loss(guarantee: Guarantee, region: Region) -> Exact:
    """Of presence, or of a whole record, which is exchanged for one at most the region's diameter away."""
    replaced = guarantee.relation is Relation.REPLACE
    return record_loss(guarantee, region.diameter_m if replaced else None)


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
