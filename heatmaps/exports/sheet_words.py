"""A release sheet for people: a headline, facts with a title, and lists of sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from heatmaps.lengths import measured_words
from heatmaps.wording.asked import value_words
from heatmaps.wording.guarantee import decimal
from heatmaps.wording.parts import PERIOD, box_words, period_words
from mechanisms import catalogue

_LOSSES: Final = {"add_remove": "presence", "replace": "whole record"}
_RELATIONS: Final = {
    "add_remove": "add or remove: a person is there or not",
    "replace": "replace: a person's record is exchanged for another",
}
_TRUST: Final = {
    "central": "the server that holds the check-ins",
    "shuffle": "a shuffler between the devices and the server",
    "local": "nobody: noise was added on each device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetWords:
    """What a page, a picture or a file shows of a sheet."""

    title: str
    headline: str
    facts: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]


def in_words(sheet: Mapping[str, Any]) -> SheetWords:
    """`sheet` is one of `heatmaps.exports.sheet.release_sheet`."""
    return SheetWords(title=sheet["title"], headline=headline(sheet), facts=facts(sheet), lists=_lists(sheet))


def headline(sheet: Mapping[str, Any]) -> str:
    """ "ε = 1 (presence), δ = 0"."""
    said = [_loss(sheet["epsilon"], _LOSSES[sheet["relation"]])]
    if sheet["radius_m"] is not None:
        said.append(_loss(sheet["radius_epsilon"], f"within {sheet['radius_m']} m"))
    return ", ".join([*said, f"δ = {_readable(sheet['delta'], digits=18)}"])


def facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(title, text), the most important first."""
    titles = _parameter_titles(sheet["mechanism"])
    return (
        ("Privacy loss", headline(sheet)),
        ("Relation", _RELATIONS[sheet["relation"]]),
        ("Trusted", _TRUST[sheet["trust"]]),
        ("Mechanism", sheet["mechanism"]),
        *((titles.get(name, name), value_words(name, value)) for name, value in sheet["parameters"].items()),
        ("Released", sheet["released"]),
        ("Region", box_words(sheet["region"])),
        *_part(sheet),
        *_measures(sheet),
    )


def _measures(sheet: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Of a map its grid, of a point the point."""
    if "zones" in sheet:
        shares = [(one["name"], f"{100 * one['share']:.1f} % of all persons") for one in sheet["zones"]]
        error = max(one["standard_error"] for one in sheet["zones"])
        return [*shares, ("Standard error of each", f"{100 * error:.2g} percentage points")]
    if "distances" in sheet:
        error_m = max(one["standard_error_m"] for one in sheet["distances"])
        lengths = [(one["name"], measured_words(one["distance_m"], error_m)) for one in sheet["distances"]]
        found = [(name, f"{length} away on average") for name, length in lengths]
        return [*found, ("Standard error of each", _length(error_m))]
    if "point" in sheet:
        point = sheet["point"]
        return [
            ("Point", f"{point['lat']:.6f}, {point['lon']:.6f} (latitude, longitude)"),
            ("Expected distance from the truth", _length(point["expected_m"])),
            ("Kept with probability 95 %", _length(point["within_m"])),
        ]
    return [
        ("Resolution", f"{sheet['resolution']} × {sheet['resolution']} cells"),
        ("One cell", " × ".join(map(_length, sheet["cell_m"]))),
    ]


def _parameter_titles(mechanism: str) -> dict[str, str]:
    known = (entry.parameters for entry in catalogue.entries() if entry.name == mechanism)
    return {parameter.name: parameter.title for parameters in known for parameter in parameters}


def _lists(sheet: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    together = (f"The unit of privacy is {sheet['unit_of_privacy']}.", _sentence(sheet["composition"]))
    return (
        ("What is promised", (*sheet["statements"], *together)),
        ("What is not protected", tuple(map(_sentence, sheet["unprotected"]))),
        *_afterwards(sheet),
    )


def _afterwards(sheet: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    done = tuple(map(_sentence, sheet["post_processing"]))
    return [("What was done after the noise", done)] if done else []


def _loss(epsilon: str, what: str) -> str:
    return f"ε has no bound ({what})" if epsilon == "inf" else f"ε = {_readable(epsilon)} ({what})"


def _readable(exact: str, *, digits: int = 12) -> str:
    """An exact number of the sheet; a fraction, which nobody reads, as a decimal that is rounded up."""
    return decimal(Fraction(exact), digits=digits) if "/" in exact else exact


def _part(sheet: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Nothing where all the data were asked about."""
    whole, period = sheet["part_of_region"], sheet["period"]
    said = [] if whole is None else [("A part of the data’s region", box_words(whole))]
    return said if period is None else [*said, (PERIOD, period_words(period["since"], period["until"]))]


def _length(length_m: float) -> str:
    return f"{length_m:.3g} m" if length_m < 999.5 else f"{length_m / 1000:,.1f} km"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."
