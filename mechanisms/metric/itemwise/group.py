"""Accounts for a change of many reports of one person, one report after another.

A person changes `moved` of `items` shuffled reports, report i at a loss s_i ≤ cap. `rate` is a number such
that every such change is (rate · Σ s_i, δ)-indistinguishable. Proof that `holds` is enough, write
D(s) = δ of one step at loss rate · s (`clones`), a_i = rate · s_i, m = `moved`:

- The reports are changed in ascending order of s_i. Each step's bound holds whatever the other reports are,
  so that by the triangle inequality of hockey sticks (Lemma A.2 of the paper) the whole change has
  δ ≤ Σ_i e^(a_1 + … + a_(i−1)) · D(s_i).
- Checked is D(s) ≤ δ·ψ(rate · s) for all 0 < s ≤ cap, where ψ(a) = (e^a − 1)/(e^(ma) − 1) falls with a.
- Then the sum is at most δ: take the largest value b of the a_i, held by the last k steps. As a function of
  b their part is e^(prefix) · (e^(kb) − 1)/(e^(mb) − 1), which falls with b since k ≤ m; so b may be lowered
  to the next value, and so on, until all are equal, where the sum is δ. (Unmoved reports cost nothing.)

The supremum over s is taken over intervals, not points: with a(s) = (e^(rate·s) − 1)/tanh(s/2), which rises
with s for s up to where it is used, the gap's weights are bounded by the ends of [s_1, s_2]. The theorem's
sup over w ∈ [0, 1] is this one; the paper's example looked at w = 1 alone.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from scipy.optimize import brentq

from mechanisms.check import ParameterError, in_range, positive
from mechanisms.metric.itemwise.clones import Clones

_NARROWEST: Final = 2e-4  # relative width of an interval, below which the answer is no
_POINTS: Final = 16
_SMALLEST: Final = 1e-3  # part of the cap where the search for the worst step begins
_ROUND_UP: Final = 1e-9
_FIRST_UP: Final = 1.00006  # what intervals need more than points
MOST_LOSS: Final = 600.0  # of the whole change; above, only composition is used


@lru_cache(maxsize=256)
def group_rate(items: int, moved: int, cap: float, delta: float, *, plain: bool = False) -> float:
    """Returns the least rate found with (rate · Σ s_i, delta) for all changes of `moved` of `items` reports.

    Never above 1, what composition gives with δ = 0; rounded up. Errors: ValueError out of range.
    """
    _check(items, moved, cap, delta)
    heap = Clones(items=items, cap=cap, plain=plain)

    def excess(log_rate: float) -> float:
        return _worst(heap, moved, delta, math.exp(log_rate))

    low = high = min(0.0, math.log(MOST_LOSS / (moved * cap)))
    if excess(high) > 0:
        return 1.0
    while low > -60 and excess(low) <= 0:
        low, high = low - 1.5, low
    hidden = excess(low) <= 0  # a change of even the largest loss shows with less than δ
    rate = math.exp(low if hidden else float(brentq(excess, low, high, xtol=1e-7)))
    rate *= _FIRST_UP
    while rate < 1 and not holds(items, moved, cap, delta, rate, plain=plain):
        rate *= 1.0001
    return min(1.0, rate)


def holds(items: int, moved: int, cap: float, delta: float, rate: float, *, plain: bool = False) -> bool:
    """Returns whether D(s) ≤ δ·ψ(rate · s) is certain for all 0 < s ≤ cap."""
    _check(items, moved, cap, delta)
    if rate >= 1:
        return True  # composition
    heap = Clones(items=items, cap=cap, plain=plain)
    open_intervals = [(0.0, cap)]
    while open_intervals:
        low, high = open_intervals.pop()
        if heap.at_most(low, high, rate) <= delta * _share(moved, rate * high):
            continue
        if high - low < _NARROWEST * low:
            return False
        middle = math.sqrt(low * high) if low else high / 2
        if middle < 1e-9 * cap:
            return False
        open_intervals += [(low, middle), (middle, high)]
    return True


def chain_delta(items: int, cap: float, losses: tuple[float, ...], rate: float) -> float:
    """Returns the δ of changing reports at these losses one by one,
    each at rate · loss: what `holds` bounds.
    """
    heap = Clones(items=items, cap=cap)
    total = spent = 0.0
    for item_loss in sorted(losses):
        total += math.exp(spent) * heap.hockey_stick(item_loss, rate * item_loss)
        spent += rate * item_loss
    return total


def largest_cap(items: int, moved: int, delta: float, total: float, *, plain: bool = False) -> float:
    """Returns the largest cap with moved · group_rate · cap ≤ total:
    α_0 for α, when the greatest distance is 1.

    Rounded down by about 1e-5. Errors: ValueError out of range.
    """
    positive(total=total)

    def excess(cap: float) -> float:
        rate, heap = total / (moved * cap), Clones(items=items, cap=cap, plain=plain)
        return math.inf if rate <= 0 else _worst(heap, moved, delta, min(rate, 1.0))

    low = total / moved  # composition
    _check(items, moved, low, delta)
    high = low
    while high < 60 and excess(high * 1.2) <= 0:
        high *= 1.2
    if excess(high * 1.2) > 0 and excess(high) <= 0:
        high = float(brentq(excess, high, high * 1.2, xtol=1e-7))
    while high > low and not holds(items, moved, high, delta, total / (moved * high), plain=plain):
        high *= 0.99999
    return max(low, high)


def _worst(heap: Clones, moved: int, delta: float, rate: float) -> float:
    """Returns the largest log(D(s) / δψ) over points: no proof, but where to look for one."""
    if rate >= 1:
        return -math.inf
    if moved * rate * heap.cap > MOST_LOSS * (1 + _ROUND_UP):
        return math.inf

    def excess(log_part: float) -> float:
        step = heap.cap * math.exp(log_part)
        spent = heap.hockey_stick(step, rate * step)
        return math.log(spent or 1e-300) - math.log(delta) - _log_share(moved, rate * step)

    return _largest(excess, math.log(_SMALLEST), 0.0)


def _largest(function: Callable[[float], float], low: float, high: float) -> float:
    """Returns the largest value of a function with one hill,
    on a grid that is refined around its best point.
    """
    best = -math.inf
    for _ in range(3):
        width = (high - low) / _POINTS
        values = [function(low + i * width) for i in range(_POINTS + 1)]
        at = max(range(_POINTS + 1), key=values.__getitem__)
        best = max(best, values[at])
        low, high = low + max(0, at - 1) * width, low + min(_POINTS, at + 1) * width
    return best


def _share(moved: int, loss: float) -> float:
    """Returns ψ, rounded down."""
    return math.exp(_log_share(moved, loss)) * (1 - _ROUND_UP)


def _log_share(moved: int, loss: float) -> float:
    whole = moved * loss
    return math.log(math.expm1(loss)) - whole - math.log(-math.expm1(-whole))


def _check(items: int, moved: int, cap: float, delta: float) -> None:
    in_range(1, items, moved=moved)
    positive(cap=cap, delta=delta)
    if delta >= 1:
        raise ParameterError("delta", delta, "above 0 and below 1")
