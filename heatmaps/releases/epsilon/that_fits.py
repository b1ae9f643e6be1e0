"""Finds the largest ε at which a question that costs too much would fit, from public facts and balances."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isqrt
from typing import Final

from django.contrib.auth.models import User

from heatmaps.budget import allowances
from heatmaps.budget.allowances import Allowed
from heatmaps.ledger.amounts import EPSILON_UNITS, LARGEST, Charges
from heatmaps.ledger.balances import Balance, balances
from heatmaps.models import AccountKind, Dataset
from heatmaps.releases.question import latest_version
from heatmaps.releases.quote import refusals
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.check import ParameterError

_MOST_LOOKS: Final = 24  # plans that are made: some take a good part of a second
_ENOUGH_LOOKS: Final = 4  # after which one part in ten thousand is near enough
_NEAR: Final = 10_000
_HALVED_EVERY: Final = 3  # looks, whatever the proportion says: charges may grow in steps
_TO_SPARE: Final = 2  # what fits by proportion lies that many times below what the mechanism can do


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """Holds what is left on a dataset's accounts and of one person's allowances."""

    balances: list[Balance]
    own: Mapping[AccountKind, Allowed]

    def holds(self, charges: Charges) -> bool:
        """Tells whether the ledger would take the charges now."""
        is_over = any(refusals(self.balances, charges).values())
        return not is_over and allowances.refusal_within(self.own, charges) is None

    def times(self, charges: Charges) -> Fraction:
        """Returns the multiple of the charges that would fit; 0 where nothing is left of what is charged."""
        left: list[Balance | Allowed] = [*self.balances, *self.own.values()]
        parts = [
            Fraction(max(account.available, 0), amount)
            for account in left
            if account.available is not None and (amount := _counted(charges[account.kind]))
        ]
        return min(parts, default=Fraction(1))

    def is_stuck(self, before: Charges | None, charges: Charges) -> bool:
        """Tells whether δ does not fit, and did not move with ε: it is asked for by itself."""
        delta = {AccountKind.DELTA: charges[AccountKind.DELTA]}
        fits = self.times(dict.fromkeys(charges, 0) | delta) >= 1
        return not fits and before is not None and before[AccountKind.DELTA] == delta[AccountKind.DELTA]


def largest_epsilon(dataset: Dataset, person: User, request: ReleaseRequest) -> Fraction | None:
    """Returns the largest ε at which the same question would fit now, a multiple of 1e-12.

    None where it fits as it is asked, where no smaller ε helps, and without a data version. Charges need not
    be in proportion to ε, so one ε after the other is planned as a quote is: where they are, 1e-12 more would
    not fit; elsewhere it may be less than the largest by one part in ten thousand. More ε is taken never to
    cost less. What is given was planned, and fits. Reads no data, writes nothing.
    Errors: `ParameterError` where the question itself is refused.
    """
    left = _Left(balances=balances(dataset), own=allowances.own(dataset, person))
    plan = Plan.of(dataset, request)
    if left.holds(plan.charges) or latest_version(dataset) is None:
        return None
    units = ceil(plan.terms.epsilon * EPSILON_UNITS)
    largest = _search(dataset, request, left, units, plan.charges)
    return Fraction(largest, EPSILON_UNITS) if largest else None


def _search(dataset: Dataset, request: ReleaseRequest, left: _Left, at: int, charges: Charges | None) -> int:
    """Searches the largest ε in units of 1e-12; 0 for none. `charges` are those of `at`, which do not fit."""
    low, high, largest = 0, at, 0  # the largest lies from low on, and below high
    for look in range(1, _MOST_LOOKS + 1):
        middle = isqrt(max(low, 1) * high)
        guess = middle if charges is None else int(at * left.times(charges))
        near = look > _ENOUGH_LOOKS and (high - low) * _NEAR <= high
        if high - low <= 1 or near or guess == 0 or (low > largest and guess * _TO_SPARE <= low):
            break
        at = min(max(guess if look % _HALVED_EVERY else middle, low + 1), high - 1)
        before, charges = charges, _charges(dataset, request, at)
        if charges is None:
            low = at
        elif left.holds(charges):
            low = largest = at
        elif left.is_stuck(before, charges):
            break
        else:
            high = at
    return largest


def _charges(dataset: Dataset, request: ReleaseRequest, units: int) -> Charges | None:
    """Returns a question's charges at so many units of ε; None below what its mechanism can do."""
    try:
        return Plan.of(dataset, replace(request, epsilon=Fraction(units, EPSILON_UNITS))).charges
    except ParameterError:
        return None


def _counted(amount: int | None) -> int:
    """Returns an amount as a number: no bound is more than can be counted."""
    return LARGEST if amount is None else amount
