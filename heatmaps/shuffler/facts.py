"""Checks that the facts of a round hold what this shuffler committed to, before anybody is invited.

The analyser writes them, and is not trusted to: a round with another key, fewer invitations than were issued
or a lower threshold than its own numbers ask for would promise devices what nobody keeps.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final, NoReturn

from heatmaps.shuffler.models import Round

MOST_PACKET_BYTES: Final = 16 * 2**20
_MOST_NUMBER: Final = 2**31 - 1  # of what is counted; larger texts would be no numbers of a round
_MOST_MOMENT: Final = 2**53


class WrongFacts(Exception):  # noqa: N818 - reads as what it says
    """Refuses facts. `what`: the key of the facts that is wrong; never its value."""

    code = "wrong_facts"

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Holds the parts of the facts that the shuffler needs."""

    opens_at: int
    closes_at: int
    least_reports: int
    table_sha256: str


def checked(text: str, planned_round: Round) -> Terms:
    """Compares the facts with the planned round. Errors: WrongFacts."""
    facts = _parsed(text)
    collection = planned_round.collection
    committed = {
        "kind": "hazemap round",
        "version": 1,
        "round": str(planned_round.id),
        "collection": collection.slug,
        "number": planned_round.number,
        "reports_per_person": planned_round.reports_per_person,
        "invitations": planned_round.places,
        "invitations_sha256": planned_round.invitations_sha256,
        "open_link": planned_round.open_link,
        # Room for packets of this size is made.
        "messages": planned_round.messages,
        "message_bytes": planned_round.message_bytes,
        "shuffler": {"operator": collection.operator, "url": collection.url, "key": planned_round.public_key},
    }
    for name, value in committed.items():
        fact = facts.get(name)
        if fact != value or type(fact) is not type(value):  # 1 == True
            raise WrongFacts(name)
    terms = Terms(
        opens_at=_number(facts, "opens_at", _MOST_MOMENT),
        closes_at=_number(facts, "closes_at", _MOST_MOMENT),
        least_reports=_number(facts, "least_reports"),
        table_sha256=str(facts.get("table_sha256")),
    )
    if terms.closes_at <= terms.opens_at:
        raise WrongFacts("closes_at")
    if terms.least_reports < _least_reports(facts):
        raise WrongFacts("least_reports")
    return terms


def _parsed(text: str) -> dict[str, Any]:
    """Parses the facts, where their text is the one way to write them."""
    try:
        facts = json.loads(text, parse_float=_refuse, parse_constant=_refuse)
        canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise WrongFacts("text") from None
    if not isinstance(facts, dict) or canonical != text:
        raise WrongFacts("text")
    return facts


def _refuse(_number: str) -> NoReturn:
    raise ValueError("a number with a point")


def _number(facts: dict[str, Any], name: str, most: int = _MOST_NUMBER) -> int:
    value = facts.get(name)
    if type(value) is not int or not 1 <= value <= most:
        raise WrongFacts(name)
    return value


def _least_reports(facts: dict[str, Any]) -> int:
    """Computes ⌈n_min/(1−f)⌉: so many reports hold n_min honest ones when a share of f is not."""
    share = facts.get("dishonest_share")
    try:
        dishonest = Fraction(share) if isinstance(share, str) and len(share) < 50 else None
    except (ValueError, ZeroDivisionError):
        dishonest = None
    if dishonest is None or not 0 <= dishonest < 1:
        raise WrongFacts("dishonest_share")
    return ceil(_number(facts, "least_honest") / (1 - dishonest))
