"""Builds the release sheet: what a result promises and how it was made, from public values only."""

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Final

from heatmaps.data_slice import WHOLE, DataSlice, moment_or_none
from heatmaps.guides.release_sheets import KIND
from heatmaps.result_kinds import kind_of_result
from heatmaps.wording.guarantee import record_loss
from heatmaps.wording.parameters import TEXTS
from heatmaps.wording.record_distance import distance_words
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation
from mechanisms.results.serialization import Result
from mechanisms.space.grid import Region

UNIT_OF_PRIVACY: Final = (
    "a person: whoever the column user names, with all of that person's check-ins in the data"
)
UNIT_OF_ROUNDS: Final = "a person: who was invited, with all reports that they could send in the round"
UNIT_OF_OPEN_LINKS: Final = "one report: an open link tells nobody apart"
UNPROTECTED_ON_THE_WAY: Final = (
    "who was invited, who took part and how many did",
    "when a device sent, and from which network address",
    "that at least so many participants were honest, which is declared and which nobody can check",
)
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
    data_slice: DataSlice = WHOLE,
    whole_region: Region | None = None,
    statements: Sequence[str] = (),
    users: str = "",
    values: str = "",
    mechanism_version: int = 1,
    guide: Mapping[str, object] | None = None,
    collection: Mapping[str, object] | None = None,
    together: Guarantee | None = None,
) -> dict[str, object]:
    """Returns a release sheet of JSON values.

    `result` is what was released: of a map its grid, its digest and what it says of errors are read.

    title: of the map; characters that do not print become blanks.
    parameters: the mechanism's own, all public. region: what the map covers. released: day in UTC.
    data_slice: what the map is about. whole_region: of all the data, where the map covers a rectangle of it;
    records can be that far apart. statements: plain sentences of the guarantee. users: how those
    of a dataset are told apart. values: what a number in the file beside the sheet means. guide: the facts of
    the public map that it began from, as `heatmaps.wording.guides.file_facts` has them. collection: of the
    round of devices that it came from, where it did. together: of the map
    and of those made from the same data that it goes back to, where there are any.
    """
    kind = kind_of_result(result)
    part = kind.for_sheet(result, region)
    dataset_region = region if whole_region is None else whole_region
    return {
        "kind": KIND,
        "version": 1,
        "title": "".join(letter if letter.isprintable() else " " for letter in title),
        "mechanism": mechanism,
        "mechanism_version": mechanism_version,
        **({"guide": dict(guide)} if guide else {}),
        "parameters": {
            name: _json_value(value) for name, value in sorted(parameters.items()) if name not in TEXTS
        },
        **_losses(guarantee, dataset_region, radius_m),
        **({"together": _together(together, dataset_region, radius_m)} if together else {}),
        "relation": guarantee.relation.value,
        "trust": guarantee.trust.value,
        "radius_m": None if radius_m is None else exact_text(Fraction(radius_m)),
        "distance": distance_words(guarantee) or None,
        "guarantee": guarantee.to_json(),
        "statements": list(statements),
        "unit_of_privacy": _unit(collection),
        **({"collection": dict(collection)} if collection else {}),
        **({"users": users} if users else {}),
        "composition": COMPOSITION,
        "region": _box(region),
        "part_of_region": None if data_slice.rectangle is None else _box(dataset_region),
        "period": _period(data_slice),
        "coordinates": "WGS84 degrees (EPSG:4326)",
        **{name: _json_value(value) for name, value in part.measures.items()},
        "released": released.isoformat(),
        "values": values,
        "post_processing": list(part.post_processing),
        "errors": list(part.errors),
        "unprotected": _unprotected(guarantee.relation, of_devices=collection is not None),
        kind.digest: result.sha256,
    }


def exact_text(value: Exact) -> str:
    """Writes "0.1" where a decimal is exact, "1/3" where none is, "inf" for no bound."""
    if value == INFINITY:
        return "inf"
    exact = Fraction(value)
    for digits in range(41):
        if 10**digits % exact.denominator == 0:
            whole, rest = divmod(exact.numerator * (10**digits // exact.denominator), 10**digits)
            return f"{whole}.{rest:0{digits}d}" if digits else str(whole)
    return str(exact)


def _box(region: Region) -> dict[str, float]:
    return dict(zip(("west", "south", "east", "north"), region, strict=True))


def _period(data_slice: DataSlice) -> dict[str, str | None] | None:
    """Returns the period, half-open, in UTC; check-ins without a time are in no period."""
    if not data_slice.has_period:
        return None
    return {"since": moment_or_none(data_slice.since), "until": moment_or_none(data_slice.until)}


def _losses(guarantee: Guarantee, region: Region, radius_m: Fraction | int | None) -> dict[str, str | None]:
    return {
        "epsilon": exact_text(_largest_loss(guarantee, region)),
        "radius_epsilon": None if radius_m is None else exact_text(guarantee.loss(radius_m)),
        "delta": exact_text(guarantee.delta),
    }


def _together(guarantee: Guarantee, region: Region, radius_m: Fraction | int | None) -> dict[str, object]:
    return {**_losses(guarantee, region, radius_m), "guarantee": guarantee.to_json()}


def _largest_loss(guarantee: Guarantee, region: Region) -> Exact:
    """Returns the loss of presence, or of a whole record that is exchanged for any other."""
    is_replaced = guarantee.relation is Relation.REPLACE
    return record_loss(guarantee, region.diameter_m if is_replaced else None)


def _unit(collection: Mapping[str, object] | None) -> str:
    if collection is None:
        return UNIT_OF_PRIVACY
    return UNIT_OF_OPEN_LINKS if collection["open_link"] else UNIT_OF_ROUNDS


def _unprotected(relation: Relation, *, of_devices: bool) -> list[str]:
    public = [
        (
            "region, resolution, mechanism and its parameters, which were chosen without looking at the "
            "data, but for what was published of them"
        ),
        "that this release was asked for, and its date",
        (
            "how long the draw kept the machine busy, where somebody can feel or read that: in the latency "
            "of other answers, in logs of an operator"
        ),
        "when files were accepted and data versions appeared",
    ]
    if relation is Relation.REPLACE:
        public.append("the number of people enrolled")
    return [*public, *UNPROTECTED_ON_THE_WAY] if of_devices else public


def _json_value(value: object) -> object:
    return exact_text(value) if isinstance(value, Fraction) else value
