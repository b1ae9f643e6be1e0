"""What a part of the data is charged, for guarantees that know distances, made by hand."""

from fractions import Fraction

from heatmaps.ledger import amounts
from heatmaps.releases.slice_guarantee import promised
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term

DIAMETER_M = 9_999.5
METRIC = Guarantee(
    relation=Relation.REPLACE,
    delta=Fraction(1, 10**6),
    terms=(
        Term(cap=Fraction(5), alpha_per_m=Fraction(1, 1000), offset_m=Fraction(10)),
        Term(cap=Fraction(20), alpha_per_m=Fraction(1, 5000)),
    ),
)
FLAT = Guarantee.flat(relation=Relation.REPLACE, epsilon=Fraction(1, 2))


def charges(guarantee):
    return amounts.charges(
        relation=Relation.REPLACE, radius_m=500, guarantee=guarantee, diameter_m=DIAMETER_M
    )


def test_a_period_makes_a_metric_promise_its_whole_record_loss_everywhere():
    found = promised(METRIC, by_period=True, diameter_m=DIAMETER_M)
    whole = METRIC.exchange_loss(10_000)
    assert whole == 5 + 20
    assert [found.loss(d) for d in (Fraction(1, 100), 500, 10_000, INFINITY)] == [whole] * 4
    assert found.delta == METRIC.delta
    before, after = charges(METRIC), charges(found)
    assert after["record"] == before["record"] == 25 * 10**12
    assert before["radius"] < after["radius"] == after["record"]


def test_a_sub_rectangle_keeps_the_metric_promise_and_the_regions_diameter():
    assert promised(METRIC, by_period=False, diameter_m=DIAMETER_M) == METRIC


def test_a_flat_promise_stays_what_it_is():
    assert promised(FLAT, by_period=True, diameter_m=DIAMETER_M) is FLAT


def test_a_promise_that_ends_at_a_distance_promises_nothing_for_a_period():
    near = Guarantee(relation=Relation.REPLACE, max_distance_m=Fraction(600), terms=FLAT.terms)
    found = promised(near, by_period=True, diameter_m=DIAMETER_M)
    assert found.loss(1) == INFINITY
    assert charges(found)["radius"] is None
    assert promised(near, by_period=True, diameter_m=500.0).loss(INFINITY) == Fraction(1, 2)


def test_one_metric_term_among_flat_ones_is_enough():
    found = promised(METRIC + FLAT, by_period=True, diameter_m=DIAMETER_M)
    assert found.loss(1) == METRIC.exchange_loss(10_000) + Fraction(1, 2)


def test_a_colluding_shuffler_gains_no_more_than_the_whole_record():
    shuffled = Guarantee(
        relation=Relation.REPLACE, terms=FLAT.terms, if_shuffler_fails=METRIC, max_distance_m=99_999
    )
    found = promised(shuffled, by_period=True, diameter_m=DIAMETER_M)
    assert found.if_shuffler_fails.loss(1) == METRIC.exchange_loss(10_000)
