"""Every tail and rounding of heaps of reports and of samples: dropped, something exact is understated."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from mechanisms.guarantee import INFINITY
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.metric.itemwise import calibration, reports
from mechanisms.metric.itemwise.clones import _TAIL_ERROR, MOST_ITEMS, Clones, Coins, _tail, coins
from mechanisms.metric.itemwise.group import _share, group_rate, holds, largest_cap
from mechanisms.metric.itemwise.reduction import Sampling, chernoff
from mechanisms.metric.itemwise.reports import ItemWise
from mechanisms.space.grid import Region

# --- binomial laws ---


def half_tail(trials, first):
    """P(A ≥ first) for A ~ Bin(trials, 1/2), by Euler and Maclaurin: good to 1e-13 from 10^9 on."""

    def law(x):
        ways = mpmath.loggamma(trials + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(trials - x + 1)
        return mpmath.exp(ways - trials * mpmath.log(2))

    start, deviation = mpmath.mpf(first) - mpmath.mpf(1) / 2, mpmath.sqrt(trials) / 2
    area = mpmath.quad(law, [start + deviation * part for part in (0, 0.5, 1, 2, 4, 7, 12)])
    near = deviation / 1000
    return area + (law(start + near) - law(start - near)) / (2 * near) / 24


DEVIATIONS = (-5, 0.1, 2.2, 5.7, 8.3, 9.5)


@pytest.mark.parametrize("trials", [10**9 + 3, MOST_ITEMS])
def test_tails_are_as_good_as_is_said_up_to_the_largest_heap(trials):
    for deviations in DEVIATIONS:
        first = int(trials / 2 + deviations * math.sqrt(trials) / 2)
        with mpmath.workdps(40):
            off = _tail(np.array([float(trials)]), np.array([float(first)]))[0] / half_tail(trials, first) - 1
        assert abs(off) <= _TAIL_ERROR


@pytest.mark.parametrize("trials", [10**9 + 3, 10**12])
def test_the_gap_of_one_heap_is_never_below_the_exact_one(trials):
    """X and Y differ little where δ is small: what is left is less than rounding leaves of either."""
    counts = Coins(np.array([float(trials)]), np.ones(1))
    for deviations in (1.7, 4.0, 6.3, 8.9):
        slope = 2 * deviations / math.sqrt(trials)
        x_weight, y_weight = 1 - 0.45 * slope, 1 + 0.55 * slope
        u, v = Fraction(x_weight), Fraction(y_weight)
        first = math.floor((trials + 1) * v / (u + v)) + 1
        with mpmath.workdps(40):
            rest = half_tail(trials, first)
            ways = mpmath.loggamma(trials + 1) - mpmath.loggamma(first) - mpmath.loggamma(trials - first + 2)
            term = mpmath.exp(ways - trials * mpmath.log(2))
            exact = mpmath.mpf(x_weight) * term - (mpmath.mpf(y_weight) - mpmath.mpf(x_weight)) * rest
        assert exact <= counts.gap(x_weight, y_weight) <= exact * (1 + mpmath.mpf("1e-5"))


def test_a_gap_that_underflows_is_not_nothing():
    assert Coins(np.array([1e12]), np.ones(1)).gap(1.0, 1.0001) > 0
    assert Clones(items=1, cap=1.0).hockey_stick(1e-250, 1e-260) > 1e-252


@pytest.mark.parametrize(("trials", "chance"), [(4000, 0.5), (10**5, 0.3), (10**12, 1e-4)])
def test_bins_say_fewer_coins_than_there_are(trials, chance):
    """P(C ≤ k) of the bins, at their lower ends, is never below the law's, far below the mean as well."""
    law = coins(trials, chance, 1 - chance, width=1 + int(math.sqrt(trials) / 100))
    assert law.counts[0] == 0
    below = law.probabilities.cumsum()
    with mpmath.workdps(40):
        for count in (law.counts[40] - 1, law.counts[45]):  # the last of the far bins
            k = int(count)
            log = mpmath.loggamma(trials + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(trials - k + 1)
            log += k * mpmath.log(mpmath.mpf(chance)) + (trials - k) * mpmath.log(1 - mpmath.mpf(chance))
            at = np.searchsorted(law.counts, count, side="right") - 1
            assert below[at] >= mpmath.exp(log)


def test_the_last_bin_holds_what_is_above():
    law = coins(4000, 0.5, 0.5)
    last = int(law.counts[-1])
    above = sum(math.comb(4000, k) for k in range(last, 4001)) / Fraction(2) ** 4000
    assert last < 4000
    assert Fraction(float(law.probabilities[-1])) >= above


def test_probabilities_of_single_counts_are_rounded_up():
    law = coins(10**12, 1e-4, 1 - 1e-4)
    with mpmath.workdps(40):
        for place in range(45, law.counts.size, law.counts.size // 40):
            k, chance = int(law.counts[place]), mpmath.mpf(1e-4)
            log = mpmath.loggamma(10**12 + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(10**12 - k + 1)
            log += k * mpmath.log(chance) + (10**12 - k) * mpmath.log(1 - chance)
            assert law.probabilities[place] >= mpmath.exp(log)


def test_the_bound_of_a_wide_interval_is_above_every_step_in_it():
    for items, cap, low, high, rate in ((30, 4.881, 2.9822, 4.881, 0.8924), (5, 5.0817, 1.7, 3.307, 0.7737)):
        heap = Clones(items=items, cap=cap)
        steps = np.linspace(low, high, 9).tolist()
        assert max(heap.hockey_stick(s, rate * s) for s in steps) <= heap.at_most(low, high, rate)


# --- many reports of one person ---


def test_a_rate_is_proved_and_not_only_searched():
    for items, moved, cap, delta in ((300, 40, 0.5, 1e-4), (10**6, 1, 0.5, 1e-4)):
        assert holds(items, moved, cap, delta, group_rate(items, moved, cap, delta))
    found = largest_cap(10**4, 5, 1e-6, 2.0)
    assert holds(10**4, 5, found, 1e-6, 2.0 / (5 * found))


def test_the_share_of_delta_is_rounded_down():
    for moved, loss in product((1, 3, 1000), (1e-9, 1e-3, 0.37, 0.5)):
        with mpmath.workdps(40):
            exact = mpmath.expm1(loss) / mpmath.expm1(moved * mpmath.mpf(loss))
            assert exact * (1 - mpmath.mpf("1e-8")) <= _share(moved, loss) < exact


TOWN = Region(-97.9, 30.1, -97.6, 30.4)
TOWN_LATTICE = Lattice.of(TOWN, Fraction(4000))


def heap(**changed):
    item = PlanarGeometric(lattice=TOWN_LATTICE, decay_per_m=Fraction(1, 20_000))
    fields = {"item": item, "persons": 2000, "samples": 3, "delta": Fraction(1, 10**6)}
    return ItemWise(**fields | {"radius_m": Fraction(5000)} | changed)


def test_delta_pays_for_unlucky_samples_and_for_the_heap():
    made = heap()
    left = float(made.guarantee.delta - made.sampling.delta)
    assert holds(made.heap, made.samples, float(made.item.costs.cap), left, float(made.rate))
    assert made.bounded.delta >= made.delta / 2


def test_what_is_proved_is_no_less_than_what_is_claimed(monkeypatch):
    """Numbers are handed on as doubles: none is better for the proof than the exact one."""
    seen = []

    def rated(_items, _moved, cap, delta):
        seen.append((cap, delta))
        return 0.5

    monkeypatch.setattr(reports, "group_rate", rated)
    for decay, kind in product(range(20_000, 20_008), (PlanarGeometric, GeoLocal)):
        item = kind(lattice=TOWN_LATTICE, decay_per_m=Fraction(1, decay))
        made = heap(item=item, delta=Fraction(1, 10**6 + decay))
        made.rate  # noqa: B018 - asks for the proof
        cap, delta = seen.pop()
        assert Fraction(cap) >= item.costs.cap
        assert Fraction(delta) <= made.delta / 2


def test_what_is_proved_of_a_fitted_heap_is_no_less_than_what_is_claimed(monkeypatch):
    seen = []

    def proved(items, moved, cap, delta, rate):
        seen.append((cap, delta, rate))
        return holds(items, moved, cap, delta, rate)

    monkeypatch.setattr(calibration, "holds", proved)
    for epsilon in range(7, 12):
        wanted = calibration.Requirement(
            lattice=TOWN_LATTICE,
            persons=3000,
            samples=5,
            epsilon=Fraction(epsilon, 3),
            delta=Fraction(1, 10**6 + epsilon),
            radius_m=Fraction(3000),
        )
        found = calibration.fit(wanted)
        assert found.rate < 1
        made, (cap, delta, rate) = wanted.release(found.decay_per_m), seen[-1]
        assert Fraction(cap) >= made.item.costs.cap
        assert Fraction(delta) <= made.delta / 2
        assert Fraction(rate) <= found.rate
        assert made.guarantee_at(found.rate).loss(wanted.radius_m) <= wanted.epsilon


def test_reports_of_far_records_cost_no_more_than_the_region_is_wide():
    """One sample says nothing about the others: the whole record, between centres of cells."""
    made = heap(item=GeoLocal(lattice=TOWN_LATTICE, decay_per_m=Fraction(1, 20_000)), samples=2)
    costs = made.item.costs
    across = math.hypot(
        float((TOWN_LATTICE.columns - 1) * TOWN_LATTICE.column_m),
        float((TOWN_LATTICE.rows - 1) * TOWN_LATTICE.row_m),
    )
    claimed = made.guarantee.loss(INFINITY) / made.rate / 2
    assert claimed >= min(costs.cap, costs.per_metre * Fraction(across))


# --- samples of a record ---


@pytest.mark.parametrize("samples", [3, 50, 10**4, 10**6])
def test_the_reach_of_samples_is_rounded_up_and_below_its_tangent(samples):
    made = Sampling(samples=samples, delta=Fraction(1, 10**9), diameter_m=Fraction(40_000))
    for radius_m in (Fraction(10), Fraction(777), Fraction(9001)):
        line = made.tangent_term(alpha_per_m=Fraction(1, 1000), cap=INFINITY, radius_m=radius_m)
        for part in (1e-3, 0.5, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1, 1 + 1e-9, 1 + 1e-6, 1 + 1e-3, 2):
            distance_m = radius_m * Fraction(part)
            exact_m = exact_reach(made, distance_m)
            assert made.reach(distance_m) >= exact_m
            assert line.loss(distance_m) * 1000 >= exact_m


def exact_reach(made, distance_m):
    """In metres, rounded down: bisection on c in 40 digits."""
    with mpmath.workdps(40):
        part, diameter_m = mpmath.mpf(float(distance_m)) / 40_000, 40_000
        wanted = -mpmath.log(mpmath.mpf(float(made.delta))) / made.samples
        if -mpmath.log(part) <= wanted:
            return diameter_m

        def excess(c):
            rest = (1 - c) * mpmath.log((1 - c) / (1 - part)) if c < 1 else 0
            return c * mpmath.log(c / part) + rest - wanted

        low, high = part, mpmath.mpf(1)
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        return Fraction(int(low * diameter_m * 10**25), 10**25) * (1 - Fraction(1, 10**15))


def test_chernoffs_c_is_rounded_up():
    for part, samples in product((1e-4, 0.03, 0.4), (7, 300, 10**5)):
        with mpmath.workdps(40):
            c = mpmath.mpf(chernoff(part, samples=samples, delta=1e-7))
            if c < 1:
                spent_log = c * mpmath.log(c / part) + (1 - c) * mpmath.log((1 - c) / (1 - mpmath.mpf(part)))
                assert spent_log * samples > -mpmath.log(mpmath.mpf(1e-7))
