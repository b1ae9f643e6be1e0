"""Forecasts how many more such releases fit, and whether this person may ask for this one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.contrib.auth.models import User

from heatmaps.budget import allowances
from heatmaps.budget.allowances import Allowed
from heatmaps.models import AccountKind, Dataset
from heatmaps.releases.quote import ChargeLine, Quote


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
    """Counts what fits under limits and this person's allowances; a published answer again takes nothing."""
    own = allowances.own(dataset, person)
    free = quote.same_release is not None
    lines = tuple(More(kind=line.kind, count=None if free else _count(line, own)) for line in quote.lines)
    counts = [line.count for line in lines if line.count is not None]
    return Forecast(lines=lines, overall=min(counts, default=None))


def for_person(dataset: Dataset, person: User, quote: Quote) -> Quote:
    """Returns the quote, refused where an allowance does not hold it. A free answer takes of no allowance."""
    if not quote.affordable or quote.same_release is not None:
        return quote
    refusal = allowances.refusal(dataset, person, {line.kind: line.amount for line in quote.lines})
    return quote if refusal is None else replace(quote, affordable=False, problem=str(refusal))


def fitting(amount: int | None, left: Iterable[int | None]) -> int | None:
    """Returns the number of such charges that all of `left` hold; None: nothing is limited or taken."""
    limits = [units for units in left if units is not None]
    if not limits or amount == 0:
        return None
    return 0 if amount is None else min(limits) // amount


def _count(line: ChargeLine, own: Mapping[AccountKind, Allowed]) -> int | None:
    count = fitting(line.amount, (line.available, own[line.kind].available))
    return None if count is None else max(count - 1, 0)
