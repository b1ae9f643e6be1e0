"""Reads the release sheet in the tags of a GeoTIFF that Hazemap made: what the map says that it promises."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

from mechanisms.check import ParameterError
from mechanisms.guarantee import INFINITY, Guarantee, Relation

KIND: Final = "hazemap release sheet"
# On what the promise of a map depends that started from a file.
NOT_FROM_THESE_PEOPLE: Final = "the file behind it was not made from these people"
SHEET_IS_RIGHT: Final = "the release sheet in the file behind it is right"
_READ: Final = ("guarantee", "together", "guide")
_MOST_CHARACTERS: Final = 2**14  # of a tag
_LOSS: Final = re.compile("[0-9]{1,100}(?:[./][0-9]{1,100})?")  # written out, not as a power of ten
# Of a number, and of all numbers of a guarantee, so that sums can be written out. Our maps have fewer.
_MOST_DIGITS: Final = 100
_MOST_DIGITS_TOGETHER: Final = 2000
_UNREADABLE: Final = "a Hazemap map whose release sheet cannot be read"
_WITH_SHEET: Final = "one with the tags that Hazemap wrote, or a raster that is no map of Hazemap"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSheet:
    """Holds what a map says of itself. Nobody can check it, and it does not say whose check-ins are in it."""

    guarantee: Guarantee  # of the map and of all that it counts as those it started from
    conditions: tuple[str, ...] = ()  # on which that depends

    @classmethod
    def of_tags(cls, tags: Mapping[str, str]) -> Self | None:
        """Reads tags; None where they are of no map of ours. Errors: `ParameterError` naming `guide`."""
        if tags.get("kind") != KIND:
            return None
        try:
            sheet = {name: _json(tags[name]) for name in _READ if name in tags}
            return cls(guarantee=_guarantee(sheet), conditions=_conditions(sheet.get("guide", {})))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError):
            raise ParameterError("guide", _UNREADABLE, _WITH_SHEET) from None

    def check(self, relation: str, *, parameter: str = "guide") -> None:
        """Checks the relation.

        Errors: `ParameterError` under another relation, whose losses do not add up with this one's.
        """
        if self.guarantee.relation != relation:
            value = f"a Hazemap map under {self.guarantee.relation}"
            raise ParameterError(parameter, value, f"one under {Relation(relation)}: only then losses add up")

    def to_json(self) -> dict[str, Any]:
        return {"guarantee": self.guarantee.to_json(), "conditions": list(self.conditions)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Reads the sheet that `to_json` wrote. Errors: KeyError, TypeError, ValueError."""
        conditions = tuple(str(condition) for condition in data["conditions"])
        return cls(guarantee=Guarantee.from_json(data["guarantee"]), conditions=conditions)


def _json(text: str) -> Any:
    if len(text) > _MOST_CHARACTERS:
        raise ValueError("a tag that is too long")
    return json.loads(text)


def _guarantee(sheet: Mapping[str, Any]) -> Guarantee:
    """Returns the guarantee with those that it started from, where the sheet counts them."""
    own, together = Guarantee.from_json(sheet["guarantee"]), sheet.get("together")
    if together is None:
        total = own
    elif "guarantee" in together:
        total = Guarantee.from_json(together["guarantee"])
    else:  # of a map from before sheets had it: the loss of a whole record holds at every distance
        epsilon = INFINITY if together["epsilon"] == "inf" else _loss(together["epsilon"])
        delta = _loss(together["delta"])
        total = Guarantee.flat(relation=own.relation, epsilon=epsilon, delta=delta, trust=own.trust)
    if total.relation is not own.relation:
        raise ValueError("two relations")
    lengths = [len(digits) for digits in re.findall("[0-9]+", json.dumps(total.to_json()))]
    if max(lengths) > _MOST_DIGITS or sum(lengths) > _MOST_DIGITS_TOGETHER:
        raise ValueError("more digits than a map of ours has")
    return total


def _loss(text: str) -> Fraction:
    if not _LOSS.fullmatch(text):
        raise ValueError("no loss")
    return Fraction(text)


def _conditions(guide: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns a map's conditions.

    Maps from before sheets named them had one, where they started from a file.
    """
    if not guide.get("unchecked"):
        return ()
    conditions = guide.get("conditions", [NOT_FROM_THESE_PEOPLE])
    return tuple(text for text in (SHEET_IS_RIGHT, NOT_FROM_THESE_PEOPLE) if text in conditions)
