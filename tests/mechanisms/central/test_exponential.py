"""The exponential mechanism: its table, its net, its law, and that no pair of means breaks the claim."""

import math
from fractions import Fraction
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechanisms.audit.lower_bound import audit, drawn_place, moved
from mechanisms.candidate_net import MICRO, Net, Plane
from mechanisms.central.exponential import mechanism as exponential
from mechanisms.central.exponential.mechanism import Exponential
from mechanisms.central.exponential.weight_table import LAST, PART_BITS, steepest, weight, weight_table
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import Region
from tests.mechanisms.examples import SEED
from tests.mechanisms.sources import Scripted

CITY = Region(-97.9, 30.1, -97.5, 30.5)
STREET = Region(10.0, 50.0, 10.05, 50.0005)  # 3.6 km by 56 m
TABLE = weight_table()


def make(*, epsilon=1, radius_m=600, persons=100, region=CITY, kind=Exponential, **parameters):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(epsilon), radius_m=Fraction(radius_m))
    return kind.calibrate(target, region=region, persons=persons, **parameters)


def at(mechanism, x, y):
    n = mechanism.persons
    return RecordMeans(persons=n, x=int(x * n * PARTS), y=int(y * n * PARTS))


# --- the table ---


def test_the_table_falls_like_the_exponential_function():
    assert len(TABLE) == LAST + 1
    for entry in range(0, LAST + 1, 512):
        exact = mpmath.mpf(TABLE[-1]) * (1 + mpmath.mpf(2) ** -8) ** (LAST - entry)
        assert 0.995 <= TABLE[entry] / exact <= 1


def test_its_steepest_fall_is_read_off_exactly():
    assert steepest(TABLE) == Fraction(1, 256)
    assert steepest((4, 3, 1)) == 2
    for wrong in ((1, 2), (1, 0)):
        with pytest.raises(ValueError, match="weights"):
            steepest(wrong)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.integers(0, (LAST + 2) << PART_BITS), st.integers(0, 3 << PART_BITS))
def test_weights_fall_no_faster_than_the_guarantee_reckons(distance, further):
    near, far = weight(TABLE, distance), weight(TABLE, distance + further)
    with mpmath.workdps(60):
        steps = mpmath.mpf(further) / 2**PART_BITS
        assert far <= near <= far * mpmath.exp(steps / 256)


# --- the net and its exact distances ---


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 1), st.floats(0, 1), st.data())
def test_distances_are_exact(x, y, data):
    mechanism = make(spacing_m=Fraction(10))
    net, means = mechanism.net, at(mechanism, x, y)
    column, row = data.draw(st.integers(0, net.columns - 1)), data.draw(st.integers(0, net.rows - 1))
    (across,), (along,), divisor = net.squares(means, range(column, column + 1), range(row, row + 1))
    with mpmath.workdps(60):
        dx = mpmath.mpf(means.x) / (100 * PARTS) - (column + mpmath.mpf("0.5")) / net.columns
        dy = mpmath.mpf(means.y) / (100 * PARTS) - (row + mpmath.mpf("0.5")) / net.rows
        expected = mpmath.hypot(dx * net.width_um, dy * net.height_um)
        assert mpmath.sqrt(across + along) / divisor == pytest.approx(expected, rel=1e-30)


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 5000))
def test_the_window_holds_every_candidate_within_reach(x, y, reach_m):
    mechanism = make(persons=1)
    net, means = mechanism.net, at(mechanism, x, y)
    columns, rows = net.window(means, Fraction(reach_m) * MICRO)
    of_columns, of_rows, divisor = net.squares(means, range(net.columns), range(net.rows))
    for column, row in product(range(net.columns), range(net.rows)):
        near = math.sqrt(of_columns[column] + of_rows[row]) / divisor / MICRO < reach_m * (1 - 1e-9)
        assert not near or (column in columns and row in rows)


@pytest.mark.parametrize("spacing_m", [1, 50, 999])
def test_candidates_are_the_middles_of_equal_parts_of_the_region(spacing_m):
    net = Net.of(CITY, Fraction(spacing_m))
    assert 0.9 * spacing_m <= net.width_um / MICRO / net.columns <= spacing_m
    assert 0.9 * spacing_m <= net.height_um / MICRO / net.rows <= spacing_m
    (south, west), (north, east) = net.place(0, 0), net.place(net.columns - 1, net.rows - 1)
    assert (south - CITY.south) == pytest.approx(CITY.north - north) == pytest.approx(0.2 / net.rows)
    assert (west - CITY.west) == pytest.approx(CITY.east - east) == pytest.approx(0.2 / net.columns)


@pytest.mark.parametrize(
    "region", [CITY, STREET, Region(-1, 50, 3, 54), Region(-0.0001, -0.0001, 0.0001, 0.0001)]
)
def test_rounding_stays_below_what_the_guarantee_adds(region):
    # 2 parts a record: half a cell (1), rounding (1/2), edges in floating point (less than 1/2).
    plane = Plane(region)
    assert plane.rounding_um >= 4 * math.hypot(region.width_m, region.height_m) * MICRO / PARTS
    assert plane.width_um - 1 <= region.width_m * MICRO <= plane.width_um
    assert plane.stretch >= Fraction(region.stretch)


def finest(**asked):
    """With as fine a net as can be: the law is nearest to the continuous one, and the claim tightest."""
    usual = make(**asked)
    spacing_m = usual.step_um * 128 * Fraction(101, 100) / MICRO
    return make(**asked, spacing_m=Fraction(math.ceil(min(spacing_m, usual.spacing_m) * 1000), 1000))


# --- no pair of means breaks the claim ---


def exact_law(mechanism, means):
    """Every candidate's probability as an integer weight, and their sum."""
    law = mechanism.law(means)
    more = dict(zip(law.places, np.diff(np.array((0, *law.ends), dtype=object)).tolist(), strict=True))
    net = mechanism.net
    weights = [law.last + more.get(place, 0) for place in product(range(net.columns), range(net.rows))]
    assert sum(weights) == law.total
    return weights, law.total


def largest_loss(one, other):
    """The largest log ratio of two laws, over all candidates."""
    (logs, log_total), (others, other_total) = (
        (np.array([math.log(weight) for weight in weights]), math.log(total))
        for weights, total in (one, other)
    )
    return float((logs - others).max() + other_total - log_total)


@pytest.mark.parametrize(
    ("region", "epsilon", "radius_m", "persons", "side"),
    [(CITY, 1, 20_000, 2, 4), (STREET, 2, 500, 3, 25), (CITY, "0.1", 5_000, 1, 3), (STREET, 8, 400, 3, 30)],
)
def test_no_two_means_differ_by_more_than_the_claim(region, epsilon, radius_m, persons, side):
    # All ordered pairs of a fine grid of means, every candidate: nothing is drawn.
    mechanism = finest(region=region, epsilon=epsilon, radius_m=radius_m, persons=persons)
    rows = [0.5] if region is STREET else np.linspace(0, 1, side)
    places = [at(mechanism, x, y) for x in np.linspace(0, 1, side) for y in rows]
    places += [at(mechanism, 0.001, rows[0]), at(mechanism, 0.002, rows[0])]
    laws = [exact_law(mechanism, means) for means in places]
    tightest = 0
    plane = Plane(region)
    for (one, law), (other, other_law) in permutations(zip(places, laws, strict=True), 2):
        moved_um = math.hypot((one.x - other.x) * plane.width_um, (one.y - other.y) * plane.height_um) / PARTS
        # If one person alone moved: as far as they can, else it would take several of them.
        claim = float(mechanism.guarantee.terms[0].alpha_per_m) * moved_um / MICRO / float(plane.stretch)
        loss = largest_loss(law, other_law)
        assert loss <= claim * (1 + 1e-9)
        if moved_um <= plane.diameter_um:
            assert loss <= mechanism.guarantee.loss(INFINITY)
        tightest = max(tightest, float(loss / claim))
    assert tightest > 0.5  # the claim is no idle bound


def test_the_law_is_the_exponential_of_the_distance():
    mechanism = make(persons=2, radius_m=20_000)
    means = at(mechanism, 0.3, 0.6)
    weights, total = exact_law(mechanism, means)
    net = mechanism.net
    alpha_half = float(steepest(TABLE) / mechanism.step_um * MICRO)
    x = (np.arange(net.columns) + 0.5) / net.columns - 0.3
    y = (np.arange(net.rows) + 0.5) / net.rows - 0.6
    rho = np.hypot(x[:, None] * net.width_um, y[None, :] * net.height_um).ravel() / MICRO
    ideal = np.exp(-alpha_half * rho)
    found = np.array([float(w) for w in weights]) / float(total)
    assert found == pytest.approx(ideal / ideal.sum(), rel=0.05)


# --- the draw ---


def test_draws_follow_the_law():
    # 20,000 draws over 16 cells; at significance 1e-6 a shift by one candidate is always seen.
    mechanism = make(persons=1, region=STREET, epsilon=2, radius_m=1000)
    means, rng = at(mechanism, 0.3, 0.5), SeededSource(SEED)
    weights, total = exact_law(mechanism, means)
    law = mechanism.law(means)
    drawn = np.zeros(len(weights))
    for _ in range(20_000):
        column, row = law.draw(rng)
        drawn[column * mechanism.net.rows + row] += 1
    expected = np.array([float(Fraction(w, total)) for w in weights]) * 20_000
    assert chisquare(drawn, expected).pvalue > 1e-6
    assert chisquare(np.roll(drawn, 1), expected).pvalue < 1e-6


def test_one_integer_decides_on_every_candidate(monkeypatch):
    # A short table: most of the net is beyond its reach, and all of it can still be drawn.
    monkeypatch.setattr(exponential, "weight_table", lambda: (3, 2, 1))
    mechanism = make(persons=1, region=STREET, epsilon=2, radius_m=1000, spacing_m=Fraction(100))
    law = mechanism.law(at(mechanism, 0.5, 0.5))
    shares = dict.fromkeys(product(range(mechanism.net.columns), range(mechanism.net.rows)), law.last)
    for place, more in zip(law.places, np.diff((0, *law.ends)).tolist(), strict=True):
        shares[place] += more
    for place, share in shares.items():
        assert share >= law.last
        assert (place in law.places) or share == law.last
    words = -(-(law.total - 1).bit_length() // 64)
    found = {law.draw(Scripted(*_words(k * law.last, words))) for k in range(mechanism.net.size)}
    assert found == set(shares)
    first, last = mechanism.net.size * law.last, law.total - 1
    heavy = [place for place, share in shares.items() if share > law.last]
    assert law.draw(Scripted(*_words(first, words))) == heavy[0]
    assert law.draw(Scripted(*_words(last, words))) == heavy[-1]


def _words(number, count):
    return [number >> 64 * k & 2**64 - 1 for k in range(count)]


# --- planted faults and audits ---


class TwiceAsSteep(Exponential):
    """Weights exp(-αρ) instead of exp(-αρ/2): the sum of all weights was forgotten."""

    __slots__ = ()

    @property
    def step_um(self):
        return Exponential.step_um.fget(self) / 2

    @property
    def guarantee(self):
        fields = ("relation", "epsilon", "radius_m", "persons", "region", "spacing_m")
        return Exponential(**{name: getattr(self, name) for name in fields}).guarantee


class CountedTwice(TwiceAsSteep):
    """The number of persons counted twice: noise for a mean that moves by d/n²."""

    __slots__ = ()

    @property
    def step_um(self):
        return Exponential.step_um.fget(self) / self.persons


def street(kind=Exponential, epsilon=1):
    return finest(kind=kind, region=STREET, epsilon=epsilon, radius_m=400, persons=3)


def exact_loss(mechanism, distance_m):
    one, other = (exact_law(mechanism, means) for means in moved(mechanism, Fraction(distance_m)))
    return max(largest_loss(one, other), largest_loss(other, one))


def test_the_exact_loss_of_an_honest_law_is_below_its_claim():
    assert 0.6 < exact_loss(street(), 400) < street().guarantee.loss(400)


@pytest.mark.parametrize("kind", [TwiceAsSteep, CountedTwice])
def test_planted_faults_break_the_claim(kind):
    mechanism = street(kind)
    claim = mechanism.guarantee.loss(400)
    assert 0.999 < claim <= 1  # the fault is not in what it says
    assert exact_loss(mechanism, 400) > claim


def test_half_the_table_breaks_the_claim(monkeypatch):
    # Every other entry: each step falls twice as far as the guarantee was made for.
    honest = street()
    claim = honest.guarantee.loss(400)
    monkeypatch.setattr(exponential, "weight_table", lambda: TABLE[::2])
    monkeypatch.setattr(exponential, "steepest", lambda table: steepest(TABLE))
    assert exact_loss(honest, 400) > claim


def test_a_steeper_table_widens_the_noise(monkeypatch):
    honest_um = street().step_um
    monkeypatch.setattr(exponential, "weight_table", lambda: TABLE[::2])
    assert street().step_um > 1.9 * honest_um


def test_a_move_by_a_distance_is_that_long():
    mechanism = street()
    one, other = moved(mechanism, Fraction(400))
    length_m = (other.x - one.x) * mechanism.net.width_um / PARTS / MICRO
    assert 399 < length_m <= 400
    assert one.y == other.y


def lower_bound(mechanism, distance_m, draws=10_000):
    pair = moved(mechanism, Fraction(distance_m))
    return audit(drawn_place(mechanism), *pair, SeededSource(SEED), draws=draws).epsilon


# Power, at significance 1e-6 and 10,000 draws a side: the exact loss of these laws is about 0.7 of the
# claim, in an event of probability 0.2, which is bounded from below by 0.3 of the claim from 2 on.
@pytest.mark.parametrize("distance_m", [400, 1600, 3000])
def test_the_audit_stays_below_the_rising_claim(distance_m):
    mechanism = street(epsilon=2)
    claim = mechanism.guarantee.loss(distance_m)
    assert 0.3 * claim < lower_bound(mechanism, distance_m) <= claim


def test_the_audit_catches_a_planted_fault():
    mechanism = street(CountedTwice)
    assert lower_bound(mechanism, 400) > mechanism.guarantee.loss(400)


# --- the predicted error ---


@pytest.mark.parametrize(("region", "side"), [(CITY, 9), (STREET, 30)])
def test_the_predicted_error_is_that_of_the_law(region, side):
    mechanism = make(persons=2, radius_m=3000, region=region, epsilon=2)
    net, predicted = mechanism.net, mechanism.expected_error()
    candidates = list(product(range(net.columns), range(net.rows)))
    found = []
    for x, y in product(np.linspace(0, 1, side), repeat=2):
        weights, total = exact_law(mechanism, at(mechanism, x, y))
        dx = [((column + 0.5) / net.columns - x) * net.width_um / MICRO for column, _ in candidates]
        dy = [((row + 0.5) / net.rows - y) * net.height_um / MICRO for _, row in candidates]
        shares = np.array([float(Fraction(w, total)) for w in weights])
        found.append(float((shares * np.hypot(dx, dy)).sum()))
    assert max(found) == pytest.approx(predicted.expected_m, rel=0.1)
    assert predicted.within_m > predicted.expected_m


def test_it_gets_better_with_persons_and_epsilon():
    few, many, dear = make(), make(persons=1000), make(epsilon=10)
    assert few.expected_error().expected_m > 5 * many.expected_error().expected_m > 0
    assert few.expected_error().expected_m > 5 * dear.expected_error().expected_m
    assert few.expected_error().quantity.endswith(".")
    assert few.expected_error().assumptions.endswith(".")
    # Two falling-off distances: E ρ of exp(-ρ/s) in the plane is 2 s, and s = 2 · 600 m / (ε n).
    assert few.expected_error().expected_m == pytest.approx(2 * 2 * 600 / 100, rel=0.1)
