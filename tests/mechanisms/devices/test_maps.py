"""Maps of devices: unbiased values, errors that hold, and squares that are told apart from empty ones.

Draws are made by the laws of the tables (`test_encoders.py` shows that devices have them). Rates over many
maps are compared with what is promised with a margin of five of their standard errors, which is 1e-6 for a
mean of hundreds of maps; `test_the_margins_are_narrow` says what they would find.
"""

import math

import numpy as np
import pytest

from mechanisms.devices.estimates import map_of
from mechanisms.devices.laws import DenseLaw, GkrrLaw
from mechanisms.metric.frequency.gkrr import Gkrr
from mechanisms.space.grid import morton_encode
from tests.mechanisms.devices.plans import plan
from tests.mechanisms.devices.reference import report
from tests.mechanisms.devices.test_encoders import LAWS, words

STANDARD_ERRORS = 5
ROUNDS = 250
SHORT = 60
LOCAL = ["planar-geometric", "geo-local", "optimal", "frequency"]
CROWDS = ["corner", "middle", "even", "towns", "spread"]


def law_of(made):
    """`(cells, cells)` probabilities of reports by cell, both in Morton order, from what devices get."""
    side = made.resolution
    column, row = np.divmod(np.arange(side**2), side)
    codes = morton_encode(column, row, made.level)
    found = np.empty((side**2, side**2))
    for cell in range(side**2):
        law = LAWS[made.encoding["kind"]](made.encoding, made.table, int(column[cell]), int(row[cell]))
        order = np.arange(side**2) if made.name == "frequency" else codes
        found[codes[cell], order] = law
    return found / found.sum(axis=1, keepdims=True)


def crowd(kind, cells, people):
    """`(cells,)` people."""
    found = np.zeros(cells, np.int64)
    if kind == "corner":
        found[0] = people
    elif kind == "middle":
        found[cells // 3] = people
    elif kind == "even":
        found[:] = people // cells
    elif kind == "towns":
        found[[1, cells // 2, cells - 3]] = people // 2, people // 3, people - people // 2 - people // 3
    else:
        shares = np.random.default_rng(3).dirichlet(np.full(cells, 0.2))
        found += np.random.default_rng(4).multinomial(people, shares)
    return found


def maps(made, people, rounds, seed):
    law, rng = law_of(made), np.random.default_rng(seed)
    for _ in range(rounds):
        counts = np.zeros(people.size, np.int64)
        for cell in np.flatnonzero(people):
            counts += rng.multinomial(people[cell], law[cell])
        yield map_of(made.law, counts)


@pytest.mark.parametrize("name", LOCAL)
def test_values_are_unbiased_at_every_level(name):
    """Exactly: what is expected of reports from one cell is one person in it, and in squares around it."""
    made = plan(name)
    law = law_of(made)
    for level in range(made.level + 1):
        size = 4 ** (made.level - level)
        truth = np.kron(np.eye(4**level), np.ones((size, 1)))
        found = np.array([made.law.estimates(row * 1e6, level).values for row in law]) / 1e6
        assert found == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("name", LOCAL)
def test_variances_are_those_of_the_reports(name):
    made = plan(name)
    law = law_of(made)
    inverse = np.linalg.inv(law)
    for level in range(made.level + 1):
        coefficients = inverse.reshape(len(law), 4**level, -1).sum(axis=2)
        found = made.law.estimates(law[5], level).squares
        assert found == pytest.approx(law[5] @ coefficients**2, rel=1e-6)
        assert made.law.largest(level) == pytest.approx(coefficients.max(), rel=1e-6)
    assert made.law.stays == pytest.approx(law.diagonal().min(), rel=1e-9)
    assert made.law.swing == pytest.approx((inverse.max(axis=0) - inverse.min(axis=0)).max(), rel=1e-6)
    variances = (law @ inverse**2) - np.eye(len(law))
    assert made.law.spread == pytest.approx(variances.sum(axis=1).max(), rel=1e-6)


@pytest.mark.parametrize("below", [0, 1, 2])
def test_districts_are_inverted_as_any_other_law(below):
    gkrr = Gkrr.of(districts=64 >> 2 * below, district_cells=4**below, loss=2.0, within=1.0)
    one, other = GkrrLaw(level=3, gkrr=gkrr), DenseLaw(level=3, matrix=gkrr.matrix())
    counts = np.random.default_rng(1).integers(0, 50, 64)
    for level in range(4):
        for mine, theirs in zip(one.estimates(counts, level), other.estimates(counts, level), strict=True):
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        assert one.largest(level) == pytest.approx(other.largest(level))
    assert one.swing == pytest.approx(other.swing)
    assert one.stays == pytest.approx(other.stays)
    assert one.spread == pytest.approx(other.spread)


def rates(made, people, rounds, errors=1.0):
    """`(rounds, 1 + levels)`: shares of squares whose interval holds the truth, and of those told on each
    level that are empty. errors: what stated errors are multiplied by."""
    found = np.zeros((rounds, made.level + 2))
    for place, heatmap in enumerate(maps(made, people, rounds, 7)):
        low, high = heatmap.intervals()
        low, high = (heatmap.values + errors * (end - heatmap.values) for end in (low, high))
        found[place, 0] = ((low <= people) & (people <= high)).mean()
        for level in range(made.level + 1):
            told = heatmap.significant.at(level)
            empty = people.reshape(4**level, -1).sum(axis=1)[told] == 0
            found[place, 1 + level] = empty.sum() / max(1, told.size)
    return found


def margins(found):
    return STANDARD_ERRORS * found.std(axis=0) / math.sqrt(len(found))


def check_rates(made, kind, number, rounds):
    found = rates(made, crowd(kind, made.resolution**2, number), rounds)
    held, *wrong = found.mean(axis=0)
    assert held >= 0.95 - margins(found)[0]
    assert (np.array(wrong) <= 0.05 + margins(found)[1:]).all()


@pytest.mark.long
@pytest.mark.parametrize("name", LOCAL)
def test_the_margins_are_narrow(name):
    """Errors a third too small would be found, and squares told wrongly in one of ten."""
    made = plan(name)
    found = rates(made, crowd("even", made.resolution**2, 20_000), ROUNDS, errors=0.66)
    assert found.mean(axis=0)[0] < 0.95 - margins(found)[0]
    assert (margins(rates(made, crowd("towns", made.resolution**2, 2000), ROUNDS)) < 0.05).all()


@pytest.mark.parametrize("name", LOCAL)
def test_errors_hold_for_a_few_maps(name):
    check_rates(plan(name), "towns", 2000, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("number", [60, 2000])
@pytest.mark.parametrize("kind", CROWDS)
@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("planar-geometric", {}),
        ("planar-geometric", {"epsilon": 10}),
        ("planar-geometric", {"resolution": 2}),
        ("geo-local", {}),
        ("geo-local", {"epsilon": 12}),
        ("optimal", {}),
        ("frequency", {}),
        ("frequency", {"epsilon": 1, "resolution": 4}),
        ("frequency", {"epsilon": 10, "parameters": {}}),
    ],
)
def test_errors_hold_for_every_crowd(name, facts, kind, number):
    check_rates(plan(name, **facts), kind, number, ROUNDS)


def test_stated_errors_are_no_wider_than_those_of_the_values():
    """Beside what is added for reports too rare to be seen, on average over maps."""
    made = plan("frequency", epsilon=6)
    people, law = crowd("even", 64, 6400), law_of(made)
    exact = people @ (law @ np.linalg.inv(law) ** 2) - people
    stated = np.mean([heatmap.standard_errors**2 for heatmap in maps(made, people, 40, 10)], axis=0)
    added = made.law.largest(3) ** 2 * (3 * (1 - made.law.stays) + 1 / 2.12**2)
    assert stated.mean() == pytest.approx(exact.mean() + added, rel=0.03)


@pytest.mark.parametrize("name", LOCAL)
def test_a_crowd_in_one_square_is_told(name):
    made = plan(name)
    people = crowd("middle", made.resolution**2, 5000)
    heatmap = next(iter(maps(made, people, 1, 8)))
    assert np.flatnonzero(people)[0] in heatmap.significant.at(made.level)
    assert heatmap.values.argmax() == people.argmax()


def test_every_square_is_listed_and_the_total_is_the_number_of_reports():
    made = plan("frequency")
    heatmap = made.analyse(np.zeros((12, 4), np.uint8), 12)
    assert heatmap.values.size == 64
    assert (heatmap.values >= 0).all()
    assert heatmap.total == 12
    assert heatmap.total_error == 0


@pytest.mark.parametrize("name", [*LOCAL, "emd-itemwise"])
def test_cells_that_there_are_not_count_as_nobody(name):
    made = plan(name)
    cells = np.array([0, 3, 3, 1], np.int64)
    beyond = np.array([made.resolution**2, made.resolution**2 + 3, 2**32 - 1], np.int64)
    honest, mixed = (
        some.astype(">u4").view(np.uint8).reshape(-1, 4) for some in (cells, np.concatenate((cells, beyond)))
    )
    assert made.analyse(mixed, 7).to_bytes() == made.analyse(honest, 7).to_bytes()


@pytest.mark.parametrize("name", LOCAL)
def test_no_report_at_all_is_a_map_too(name):
    heatmap = plan(name).analyse(np.zeros((0, 4), np.uint8), 1)
    assert (heatmap.values == 0).all()
    low, high = heatmap.intervals()
    assert (low == 0).all()
    assert (high > 0).all()
    assert heatmap.significant.levels.size == 0


@pytest.mark.parametrize("name", LOCAL)
def test_dishonest_devices_move_a_square_by_no_more_than_is_said(name):
    """All to the cell with the largest coefficient of a square instead of the one with the least."""
    made = plan(name)
    bound, cells = made.influence(7, 1000).number, made.resolution**2
    counts = np.full(cells, 100)
    rest = made.law.estimates(counts, made.level).values
    each = np.array([made.law.estimates(counts + 7 * row, made.level).values for row in np.eye(cells)]) - rest
    swing = (each.max(axis=0) - each.min(axis=0)).max()
    assert swing == pytest.approx(bound, rel=1e-6)
    assert made.influence(7, 1000).unit == "people"


def test_the_error_bound_is_kept():
    made = plan("frequency", epsilon=6)
    people = crowd("spread", 64, 5000)
    bound = made.expected_error(5000).emd
    off = [abs(heatmap.values - people).sum() for heatmap in maps(made, people, 30, 9)]
    assert 0.2 * bound < 2 * np.mean(off) / 5000 < bound < 2


def test_a_crowd_in_one_square_is_the_likeliest_map():
    made = plan("emd-itemwise", epsilon=20, least_honest=2000)
    column, row = 3, 12
    counts = law_of_items(made, column, row) * 16_000
    cells = np.repeat(np.arange(256), counts.astype(np.int64)).astype(">u4")
    heatmap = made.analyse(cells.view(np.uint8).reshape(-1, 4), 1000)
    place = heatmap.values.argmax()
    assert heatmap.prefixes[place] == morton_encode(column, row, 4)
    assert heatmap.values.sum() == pytest.approx(1000)


def law_of_items(made, column, row):
    return LAWS["items"](made.encoding, made.table, column, row)


def test_shares_of_honest_devices_sum_to_their_map():
    """Noise is small at this epsilon; shares alone are uniform, and their sums wrap around."""
    made = plan("shuffle-emd", epsilon=50, most_reports=100)
    encoding, table, source = made.encoding, made.table, words(11)
    sent = [
        message
        for place in [(0, 0)] * 10 + [(1 << 30, 3 << 29)] * 30
        for message in report(encoding, table, [place], source)
    ]
    messages = np.frombuffer(b"".join(sent), np.uint8).reshape(-1, made.message_bytes)
    heatmap = made.analyse(messages, 40)
    found = dict(zip(heatmap.prefixes.tolist(), heatmap.values.tolist(), strict=True))
    assert found[0] == pytest.approx(10, abs=3)
    assert found[int(morton_encode(2, 3, 2))] == pytest.approx(30, abs=3)


def test_the_error_of_shares_grows_with_every_further_report():
    made = plan("shuffle-emd", epsilon=100, resolution=4, least_honest=12)
    few, many = made.expected_error(12), made.expected_error(36)
    assert few.emd < 2
    assert many.emd * 36 == pytest.approx(3 * few.emd * 12)
