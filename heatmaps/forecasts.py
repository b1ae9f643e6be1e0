"""How many more such releases fit into what is left, and whether the person who asks may take this one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.contrib.auth.models import User

from heatmaps import allowances
from heatmaps.allowances import Allowed
from heatmaps.models import AccountKind, Dataset
from heatmaps.quotes import ChargeLine, Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """Releases like this one after it; None: as many as one likes, as nothing is limited or taken."""

    kind: AccountKind
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    lines: tuple[More, ...]
    overall: int | None  # the fewest


def forecast(dataset: Dataset, person: User, quote: Quote) -> Forecast:
    """Under limits and this person's allowances; reading a published answer again takes nothing."""
    own = allowances.own(dataset, person)
    free = quote.same_release is not None
    lines = tuple(More(kind=line.kind, count=None if free else _count(line, own)) for line in quote.lines)
    counts = [line.count for line in lines if line.count is not None]
    return Forecast(lines=lines, overall=min(counts, default=None))


def for_person(dataset: Dataset, person: User, quote: Quote) -> Quote:
    """The quote, refused where an allowance does not hold it. A free answer takes of no allowance."""
    if not quote.affordable or quote.same_release is not None:
        return quote
    refusal = allowances.refusal(dataset, person, {line.kind: line.amount for line in quote.lines})
    return quote if refusal is None else replace(quote, affordable=False, problem=str(refusal))


def _count(line: ChargeLine, own: Mapping[AccountKind, Allowed]) -> int | None:
    left = [units for units in (line.available, own[line.kind].available) if units is not None]
    if not left or line.amount == 0:
        return None
    return 0 if line.amount is None else max(min(left) // line.amount - 1, 0)
