"""Audits of shuffled item-wise releases over pairs of records at several distances, and planted faults.

The analyst counts reports in the half of the region where the moved points went. Bounds
hold with 99.9 % confidence. Power: 40,000 draws on each input bound a loss of 2 above 1.8.
"""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.audit.batches import Runs, least_delta, least_loss
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Trust
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.metric.itemwise.reports import ItemWise

DRAWS = 40_000
LINE = Lattice(columns=6, rows=1, column_m=Fraction(1000), row_m=Fraction(1))


def itemwise(persons, samples, decay, *, trust=Trust.CENTRAL, delta=Fraction(1, 100)):
    item = GeoLocal(lattice=LINE, decay_per_m=Fraction(decay) / 1000)
    radius_m = Fraction(1000)
    return ItemWise(item=item, persons=persons, samples=samples, delta=delta, radius_m=radius_m, trust=trust)


def runs(made, columns, seed, *, crowd=0):
    """Reports east of the middle: of points in these columns, and of a crowd at the western end.

    The crowd's number is drawn from the exact law of one of its reports.
    """
    cells = np.tile(np.asarray(columns, dtype=np.int64), DRAWS)
    reports, _ = made.item.release((cells, np.zeros_like(cells)), SeededSource(seed))
    own = (reports.reshape(DRAWS, -1) >= 3).sum(axis=1)
    weights = made.item.tables[0].weights(0, 0)
    others = np.random.default_rng(seed).binomial(crowd, weights[3:].sum() / weights.sum(), DRAWS)
    return Runs(values=(own + others).astype(np.int64))


@pytest.mark.parametrize(("columns_moved", "points_moved"), [(1, 1), (5, 1), (2, 3), (5, 3)])
def test_an_honest_claim_is_not_refuted_at_any_distance(columns_moved, points_moved):
    """100 persons with 3 points each, everybody else at the western end, where noise hides least."""
    made = itemwise(100, 3, "0.2")
    one, other = [0] * 3, [columns_moved] * points_moved + [0] * (3 - points_moved)
    distance_m = Fraction(1000 * columns_moved * points_moved, 3)
    claim = float(made.bounded.loss(distance_m))
    before, after = runs(made, one, 1, crowd=297), runs(made, other, 2, crowd=297)
    assert least_delta(before, after, loss=claim, seed=3) <= made.bounded.delta
    assert least_loss(before, after, delta=float(made.bounded.delta), seed=3) <= claim


def test_a_forgotten_heap_is_caught():
    """What 2,000 persons hide, sold for one person's reports alone."""
    sold, really = itemwise(2000, 3, "1"), itemwise(1, 3, "1")
    claim = float(sold.bounded.loss(5000))
    assert claim < 0.5 * float(really.bounded.loss(5000))
    before, after = runs(really, [0] * 3, 4), runs(really, [5] * 3, 5)
    assert least_loss(before, after, delta=float(sold.bounded.delta), seed=6) > 1.3 * claim
    assert least_loss(before, after, delta=float(really.bounded.delta), seed=6) <= really.bounded.loss(5000)


def test_a_sampled_check_in_sold_as_rising_with_distance_is_caught():
    """One of ten points moves five columns: d_EM is 500 m, but the sample is sometimes the moved point."""
    made = itemwise(1, 1, "1.2", trust=Trust.LOCAL, delta=Fraction(1, 10**6))
    sold = float(made.bounded.loss(500))  # ε·d_EM, as if sampling cost nothing
    heaps = []
    for seed, record in ((7, [0] * 10), (8, [0] * 9 + [5])):
        picked = np.random.default_rng(seed).choice(np.asarray(record), DRAWS)
        reports, _ = made.item.release((picked, np.zeros_like(picked)), SeededSource(seed))
        heaps.append(Runs(values=reports))
    found = least_loss(*heaps, delta=1e-6, seed=9)
    assert found > 1.5 * sold
    assert found <= float(made.guarantee.loss(500))
