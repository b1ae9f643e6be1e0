"""What one report promises, what several of a person do, and that nothing is missing from either."""

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.accounting.hockey_stick import hockey_stick
from mechanisms.accounting.sgdl import sgdl
from mechanisms.check import ParameterError
from mechanisms.devices.conditioned import conditioned_table, off_by
from mechanisms.devices.several import several
from mechanisms.devices.shares import SharesPlan, table_charge
from mechanisms.devices.unary import TABLE_PART, UnaryPlan
from mechanisms.devices.unary import table_charge as unary_charge
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from tests.mechanisms.devices.plans import REGION, SMALL, plan, target
from tests.mechanisms.devices.reference import numbers, values
from tests.mechanisms.devices.test_encoders import LAWS

F = Fraction
CENTROIDS = ["geo-shuffle", "sgdl-shuffle", "rr-shuffle"]
SHUFFLED = [*CENTROIDS, "emd-itemwise", "shuffle-emd"]
DIAMETER_M = REGION.diameter_m


# --- one report ---


@pytest.mark.parametrize("name", list(SMALL))
def test_one_report_spends_at_most_the_target(name):
    made, wanted = plan(name), target(name)
    one = made.per_report
    assert one.trust is made.trust
    assert one.relation is Relation.REPLACE
    assert one.delta <= wanted.delta
    assert wanted.epsilon * F(99, 100) < one.loss(wanted.radius_m) <= wanted.epsilon
    assert made.guarantee(1) == one
    assert (one.if_shuffler_fails is not None) == (made.trust is Trust.SHUFFLE)


def test_one_report_promises_what_the_mechanisms_do():
    for name in ("planar-geometric", "geo-local", "optimal"):
        made = plan(name)
        assert made.per_report == made.blur.per_report
    assert plan("emd-itemwise").per_report == plan("emd-itemwise").law.guarantee_with_shuffler
    assert plan("rr-shuffle").per_report == plan("rr-shuffle").randomiser.guarantee_with_shuffler
    for name in ("geo-shuffle", "sgdl-shuffle"):
        made = plan(name)
        own = made.randomiser.guarantee_with_shuffler
        assert own.delta == target(name).delta * (1 - TABLE_PART)
        assert dataclasses.replace(own, delta=made.delta) == made.per_report
    made = plan("shuffle-emd")
    assert dataclasses.replace(made.round.guarantee, delta=made.delta) == made.per_report


@pytest.mark.parametrize("name", ["frequency", "optimal", "geo-local", "planar-geometric"])
def test_no_two_places_differ_by_more_than_a_report_promises(name):
    """All reports from all cells, by the table: whole promises, and nearly all of them used."""
    made = plan(name)
    side = made.resolution
    laws = np.array(
        [
            LAWS[made.encoding["kind"]](made.encoding, made.table, *divmod(cell, side))
            for cell in range(side**2)
        ]
    )
    logs = np.log(laws)
    column, row = np.divmod(np.arange(side**2), side)
    width, height = (length / side for length in (REGION.width_m, REGION.height_m))
    apart = np.hypot(
        np.maximum(abs(column[:, np.newaxis] - column) - 1, 0) * width,  # nearest places of two cells
        np.maximum(abs(row[:, np.newaxis] - row) - 1, 0) * height,
    ) / float(REGION.stretch)
    most = 0.0
    for cell in range(0, side**2, 5):
        lost = (logs[cell] - logs).max(axis=1)
        claimed = np.array([float(made.per_report.loss(max(metres, 1))) for metres in apart[cell]])
        assert (lost <= claimed * (1 + 1e-9)).all()
        most = max(most, float((lost / claimed).max()))
    assert most > (0.99 if name == "frequency" else 0.5)


def test_an_epsilon_above_what_weights_can_say_is_spent_in_part():
    made = plan("frequency", epsilon=50)
    assert 29 < made.per_report.loss(1) <= 30


# --- rounding ---


@pytest.mark.parametrize("name", CENTROIDS)
def test_rounding_to_squares_is_within_the_offset(name):
    """Pairs of places near each other, most of them across a border of squares on both axes."""
    made, rng = plan(name), np.random.default_rng(1)
    encoding, one = made.encoding, made.mechanism.guarantee_with_shuffler
    (term,) = one.terms
    cells_m = [side / 2**31 / 1e6 for side in (encoding["width_um"], encoding["height_um"])]
    short = 0
    for _ in range(400):
        start = rng.integers(1 << 26, (1 << 31) - (1 << 26), 2)
        if rng.random() < 0.8:  # to just before a border
            start = [
                int((int(value) + 0.5) * encoding["cell_um"] / 1e6 / cell_m) - 2
                for value, cell_m in zip(values(encoding, start.tolist()), cells_m, strict=True)
            ]
        step = 10 ** rng.uniform(-1, 3) / np.array(cells_m) * rng.choice([0.7, 1.0], 2)
        end = [min(int(at + by), (1 << 31) - 1) for at, by in zip(start, step, strict=True)]
        moved_m = math.hypot(*((b - a) * m for a, b, m in zip(start, end, cells_m, strict=True)))
        squares = math.dist(values(encoding, [int(at) for at in start]), values(encoding, end))
        lost = made.mechanism.epsilon_step * F(squares)
        on_ground = F(moved_m) / F(made.mechanism.region.stretch)
        assert lost <= term.loss(on_ground)
        short += lost > term.alpha_per_m * on_ground
    assert short > 100  # without the offset the claim would be broken


# --- tables ---


@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle"])
def test_what_rounding_the_table_costs_is_part_of_delta(name):
    made = plan(name)
    charge = unary_charge(made.randomiser, made.number_bytes)
    assert 0 < charge <= made.delta * TABLE_PART
    assert made.spent_delta == made.randomiser.delta + charge <= made.delta
    exact = dataclasses.replace(made, delta=made.spent_delta)
    assert exact.per_report.delta == made.spent_delta
    with pytest.raises(ParameterError, match="delta"):
        dataclasses.replace(made, delta=made.spent_delta - charge / 2)
    with pytest.raises(ParameterError, match="delta"):
        dataclasses.replace(made, number_bytes=4)


def test_what_cutting_the_cluster_tables_costs_is_part_of_delta():
    made = plan("shuffle-emd")
    charge = table_charge(made.round, made.number_bytes)
    assert 0 < charge <= made.delta * TABLE_PART
    assert made.spent_delta == F(made.round.spent_delta) + charge <= made.delta
    with pytest.raises(ParameterError, match="delta"):
        dataclasses.replace(made, delta=made.spent_delta - charge / 2)
    with pytest.raises(ParameterError, match="delta"):
        dataclasses.replace(made, number_bytes=4)


def test_more_loss_takes_longer_numbers():
    usual = plan("sgdl-shuffle")
    far = plan("sgdl-shuffle", parameters={"cell_m": "2000", "reach_m": "60000"}, epsilon=6)
    assert usual.number_bytes == 24 < far.number_bytes
    assert far.per_report.delta <= target("sgdl-shuffle").delta


@pytest.mark.parametrize(("shape", "number_bytes"), [(F(1), 2), (F(1), 4), (F(1, 50), 3), (F(1, 50), 4)])
def test_a_table_is_as_near_to_its_law_as_is_charged(shape, number_bytes):
    """By the law in floating point, which is exact to far less; and short numbers are off by a part of it."""
    epsilon, padding = F(1, 5), 40
    law = np.exp(sgdl(float(shape), float(epsilon), radius=padding).two_sided())
    law /= law.sum()
    ends = [0, *numbers(conditioned_table(shape, epsilon, padding, number_bytes), number_bytes)]
    made = np.diff([*ends, 1 << 8 * number_bytes]) / float(1 << 8 * number_bytes)
    distance = abs(made - law).sum() / 2
    bound = float(off_by(shape, epsilon, padding, number_bytes))
    assert bound / 100 < distance <= bound + 1e-12


def test_the_losses_of_a_table_without_the_shuffler_are_those_claimed():
    for name in ("geo-shuffle", "sgdl-shuffle"):
        made = plan(name)
        ends = [0, *numbers(made.table, made.number_bytes), 1 << 8 * made.number_bytes]
        logs = np.array([math.log(high - low) for low, high in pairwise(ends)])
        step, _ = made.randomiser._alone()
        assert float(step) * (1 - 1e-9) < abs(np.diff(logs)).max() <= float(step)


# --- several reports of a person ---


def test_local_reports_add_up():
    for name in ("planar-geometric", "geo-local", "frequency"):
        one, three = plan(name).per_report, plan(name).guarantee(3)
        for metres in (1, 1000, 3000, 10**6):
            assert three.loss(metres) == 3 * one.loss(metres)
        assert three.delta == 0
        assert three.trust is Trust.LOCAL


@pytest.mark.parametrize("name", SHUFFLED)
@pytest.mark.parametrize("reports", [2, 3])
def test_shuffled_reports_form_a_chain(name, reports):
    one, more = plan(name).per_report, plan(name).guarantee(reports)
    near = one.max_distance_m < DIAMETER_M
    changes = 2 * reports - 1 if near else reports
    loss = float(one.loss(one.max_distance_m if near else F(DIAMETER_M)))
    chain = float(one.delta) * math.expm1(changes * loss) / math.expm1(loss)
    assert chain <= more.delta <= chain * (1 + 1e-9) or more.delta == 1
    assert more.max_distance_m == one.max_distance_m
    at = target(name).radius_m
    (term,) = one.terms
    # What rounding adds is added by every change of the chain.
    again = (changes - reports) * term.alpha_per_m * term.offset_m if near else 0
    assert more.loss(at) == reports * one.loss(at) + again
    fails, alone = more.if_shuffler_fails, one.if_shuffler_fails
    assert fails.loss(at) >= reports * alone.loss(at)
    assert fails.delta >= min(F(1), reports * alone.delta)


def test_a_chain_of_promises_without_a_farthest_distance_takes_one_change_a_report():
    one = Guarantee(
        relation=Relation.REPLACE,
        delta=F(1, 10**6),
        trust=Trust.SHUFFLE,
        terms=(Term(cap=F(2), alpha_per_m=F(1, 1000), offset_m=F(50)),),
        if_shuffler_fails=Guarantee.flat(
            relation=Relation.REPLACE, epsilon=5, delta=F(1, 10**3), trust=Trust.LOCAL
        ),
    )
    two = several(one, 2, diameter_m=10_000)
    assert two.terms == (Term(cap=F(4), alpha_per_m=F(2, 1000), offset_m=F(50)),)
    assert two.delta >= one.delta * (1 + F(math.exp(2)))
    assert two.delta <= one.delta * (1 + F(math.exp(2))) * (1 + F(1, 10**9))
    assert two.if_shuffler_fails.delta == F(2, 10**3)
    assert two.if_shuffler_fails.loss(1) == 10


def test_a_chain_is_at_most_certain():
    one = Guarantee.flat(relation=Relation.REPLACE, epsilon=200, delta=F(1, 10**9), trust=Trust.SHUFFLE)
    assert several(one, 3, diameter_m=1).delta == 1
    far = Guarantee.flat(relation=Relation.REPLACE, epsilon=10**9, delta=F(1, 10**9), trust=Trust.SHUFFLE)
    assert several(far, 3, diameter_m=1).delta == 1  # and its powers are never computed
    unbounded = Guarantee.flat(
        relation=Relation.REPLACE, epsilon=INFINITY, delta=F(1, 10), trust=Trust.SHUFFLE
    )
    assert several(unbounded, 2, diameter_m=1).delta == 1


@pytest.mark.parametrize("moves", [(10, 10), (20, 0), (5, 15), (1, 1)])
def test_two_reports_of_a_person_cost_no_more_than_is_claimed(moves):
    """Exactly, by the law of the sum: both reports add to one number, which moves by as much as both."""
    made = plan("geo-shuffle", least_honest=50, radius_m=3000, epsilon=1, parameters={"cell_m": "300"})
    mechanism, two = made.mechanism, made.guarantee(2)
    law = sgdl(50.0, float(mechanism.epsilon_geo), radius=6000)
    mean_m = F(sum(moves), 2) * mechanism.cell_m / F(mechanism.region.stretch)
    assert mean_m <= two.max_distance_m
    loss = float(two.loss(mean_m))
    spent = hockey_stick(law, distance=sum(moves), loss=loss)
    assert spent <= two.delta
    if sum(moves) == 20:
        # The claim is about something: twice the loss of one report alone, without offsets, is exceeded.
        assert hockey_stick(law, distance=20, loss=loss / 4) > two.delta


PARTS = 32  # of a metre: the splits that are tried


def splits(parts, reports):
    """All ways to divide so many parts among so many reports, in descending order."""
    if reports == 1:
        return [(parts,)]
    return [
        (*rest, last)
        for last in range(parts // reports + 1)
        for rest in splits(parts - last, reports - 1)
        if rest[-1] >= last
    ]


def cost(one, moved_m):
    """Of one report that moves so far, in as many equal steps as the promise needs."""
    steps = max(1, math.ceil(moved_m / one.max_distance_m))
    return steps * one.loss(moved_m / steps)


@given(
    reports=st.integers(2, 3),
    quarters=st.integers(1, 10),  # of a metre, that all reports move together
    alpha=st.sampled_from([F(1), F(1, 3)]),
    cap=st.sampled_from([F(2), F(100)]),
    offset_m=st.sampled_from([F(0), F(1, 2)]),
    step_m=st.sampled_from([F(0), F(1, 2), F(1)]),
    farthest_m=st.sampled_from([F(1), F(3, 2), INFINITY]),
)
def test_no_split_of_a_distance_among_reports_costs_more_than_is_claimed(
    *, reports, quarters, alpha, cap, offset_m, step_m, farthest_m
):
    term = Term(cap=cap, alpha_per_m=alpha, offset_m=offset_m, step_m=step_m)
    one = Guarantee(relation=Relation.REPLACE, trust=Trust.LOCAL, terms=(term,), max_distance_m=farthest_m)
    mean_m = F(quarters, 4 * reports)
    claim = several(one, reports, diameter_m=100).loss(mean_m)
    divided = splits(quarters * PARTS // 4, reports)
    most = max(sum(cost(one, F(part, PARTS)) for part in split) for split in divided)
    assert most <= claim
    if farthest_m == INFINITY and cap == 100:
        assert most == claim  # and nothing is claimed in vain


def test_two_reports_of_whole_steps_cost_three_where_one_moves_little():
    """By .1 and 1.9: the first costs a whole step, the second two."""
    one = Guarantee(
        relation=Relation.REPLACE,
        trust=Trust.LOCAL,
        terms=(Term(cap=F(9), alpha_per_m=F(1), step_m=F(1)),),
    )
    assert several(one, 2, diameter_m=100).loss(1) == 3


@pytest.mark.parametrize("reports", [0, -1, 101, True, 1.5])
def test_numbers_of_reports_are_checked(reports):
    with pytest.raises(ParameterError, match="reports_per_person"):
        plan("frequency").guarantee(reports)


def test_plans_are_what_they_seem():
    assert isinstance(plan("geo-shuffle"), UnaryPlan)
    assert isinstance(plan("shuffle-emd"), SharesPlan)
