"""Every tail, slack and rounding of the shuffle mechanisms: dropped, something exact here is understated."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.two_axes import largest_two_axes_delta
from mechanisms.calibration import noise_scale
from mechanisms.candidate_net import MICRO, Plane
from mechanisms.central.sparse_emd.level_budgets import shares as level_shares
from mechanisms.central.sparse_emd.mechanism import DEFAULT_DECAY
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.samplers.clustered_polya import TOTAL_VARIATION
from mechanisms.samplers.two_sided import total_variation
from mechanisms.shuffle import centroid
from mechanisms.shuffle.centroid import GeoShuffle, RrShuffle, SgdlShuffle
from mechanisms.shuffle.emd_round import EmdRound
from mechanisms.shuffle.lattice import ROOT_TWO, AxisLattice
from mechanisms.shuffle.padded_noise import HIGHEST_LOSS, PaddedNoise, Variant, padding_for
from mechanisms.shuffle.protocol import rounded_down, rounded_up
from mechanisms.shuffle.rr_shuffle import CHANCES, RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum
from mechanisms.shuffle.shuffle_emd import ShuffleEmd
from mechanisms.shuffle.split_and_mix import MOST_SHARES, shuffle_shares, view_distance
from mechanisms.space.grid import Region
from tests.mechanisms.sources import Scripted

CITY = Region(-97.9, 30.1, -97.5, 30.5)
F = Fraction


# --- shares of a map ---


def law(epsilon="5", resolution=4, parts=256):
    return ShuffleEmd(relation=Relation.REPLACE, epsilon=F(epsilon), resolution=resolution, parts=parts)


@pytest.mark.parametrize("epsilon", ["0.7", "3", "11"])
def test_noise_of_a_level_is_never_below_what_its_budget_asks(epsilon):
    made = law(epsilon, resolution=64)
    budgets = level_shares(DEFAULT_DECAY, len(made.levels))
    for scale, share in zip(made.level_scales, budgets, strict=True):
        wanted = noise_scale(Relation.REPLACE, F(epsilon) * share, made.parts)
        assert wanted <= scale < wanted + F(1, 16)


def test_delta_of_a_round_counts_what_its_samplers_are_off_by():
    """With so many shares that the shuffler shows nothing."""
    made = EmdRound(law=law("2"), delta=F(1, 10**9), persons=400, capacity=400, shares=MOST_SHARES)
    draws = 2 * made.persons * made.coordinates  # two a person and cell
    assert made.spent_delta >= (1 + math.exp(2)) * draws * float(TOTAL_VARIATION) * (1 - 1e-12)


def exact_view(persons, modulus, shares):
    """√(E − 1) by the recursion of `view_distance`, in 40 digits; persons 2, 3, …"""
    parts, expected = shares - 1, {1: mpmath.mpf(1)}
    for n in range(2, persons + 1):
        terms = [
            mpmath.binomial(n - 1, s - 1) / mpmath.binomial(n * parts, s * parts) * expected[n - s]
            for s in range(1, n)
        ]
        expected[n] = 1 + modulus * sum(terms)
    return mpmath.sqrt(expected[persons] - 1)


def test_what_the_shuffler_shows_is_rounded_up():
    for persons, shares, bits in product((2, 7, 20), (5, 20), (1, 10)):
        with mpmath.workdps(40):
            exact = exact_view(persons, 2**bits, shares)
        found = view_distance(persons=persons, modulus=2**bits, shares=shares)
        assert min(exact, 1) <= found <= min(exact * (1 + mpmath.mpf("1e-5")), 1)


def test_equal_keys_are_drawn_again():
    source = Scripted(7, 7, 5, 3)
    shuffled = shuffle_shares(np.array([[[11]], [[22]]], np.uint64), source)
    assert shuffled.tolist() == [[22, 11]]
    assert source.left == []


# --- noise on one axis ---


@pytest.mark.parametrize("shape", [F(1, 3), F(1, 50), F(1, 1000)])
@pytest.mark.parametrize("loss", [0.0, 5.0])
def test_delta_counts_what_each_draw_is_off_by(shape, loss):
    """A padding that cuts off nothing."""
    noise = PaddedNoise(shape=shape, epsilon=F(1), padding=1500, domain=10)
    off = total_variation(shape=shape, epsilon=F(1))
    with mpmath.workdps(40):
        exact = 30 * (1 + mpmath.exp(loss)) * mpmath.mpf(off.numerator) / off.denominator
        assert exact <= noise.spent(0.0, draws=30, loss=loss)


def test_the_edge_of_noise_is_rounded_up_also_where_the_radius_passes_the_middle():
    for padding, radius in ((3, 1), (3, 3), (3, 4), (3, 6), (9, 2), (20, 7), (40, 31)):
        noise = PaddedNoise(shape=F(1), epsilon=F(1, 3), padding=padding, domain=60)
        with mpmath.workdps(40):
            p = mpmath.exp(-mpmath.mpf(1) / 3)
            table = [p ** abs(y) for y in range(-padding, padding + 1)]
            exact = sum(table[-radius:]) / sum(table)
        assert exact <= noise.local_edge(radius) <= exact * (1 + mpmath.mpf("1e-8"))


def test_losses_are_refused_beside_which_samplers_are_off():
    noise = PaddedNoise(shape=F(1, 9), epsilon=F(1), padding=100, domain=10)
    with pytest.raises(ParameterError, match="loss"):
        noise.spent(0.0, draws=3, loss=HIGHEST_LOSS + 1)


def test_exact_numbers_are_rounded_the_way_they_are_used():
    for number in np.geomspace(1e-3, 30, 60).tolist():
        assert rounded_down(number) <= Fraction(number) < rounded_up(number)
        assert rounded_up(number) >= Fraction(number) * (1 + F(1, 10**12))


def test_what_a_bit_tells_alone_is_rounded_up():
    for flips in (CHANCES // 3, CHANCES // 7, CHANCES // 11, CHANCES // 40):
        made = RrSum(persons=2000, epsilon=F(2), delta=F(1, 100), radius=1, domain=5, flips=flips)
        alpha = made.guarantee.if_shuffler_fails.terms[0].alpha_per_m
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.mpf(CHANCES - flips) / flips)
            assert exact <= mpmath.mpf(alpha.numerator) / alpha.denominator


def test_noise_of_a_larger_loss_is_refused():
    made = SgdlSum.calibrate(persons=20, epsilon=F(1, 2), delta=F(1, 1000), radius=3, domain=9)
    larger = replace(made.noise, epsilon=F(3, 4))
    with pytest.raises(ParameterError, match="noise"):
        replace(made, noise=larger)
    assert made.noise.variant is Variant.CONDITIONED


# --- points ---


def make(kind, *, radius_m=300, cell_m=100, persons=20):
    target = Target(relation=Relation.REPLACE, epsilon=F(1), delta=F(1, 10**4), radius_m=F(radius_m))
    return kind.calibrate(target, region=CITY, persons=persons, cell_m=F(cell_m))


def test_a_lattice_adds_a_square_on_each_axis_and_what_storing_adds():
    lattice, plane = AxisLattice(region=CITY, cell_m=F(100)), Plane(CITY)
    assert ROOT_TWO**2 > 2
    assert lattice.offset_m * plane.stretch >= ROOT_TWO * 100 + F(plane.rounding_um, MICRO)
    assert lattice.steps_per_m * 100 >= plane.stretch
    assert lattice.steps(F(600)) * 100 >= 600 * plane.stretch + F(plane.rounding_um, MICRO)


def test_sums_are_rounded_to_the_nearest_square():
    lattice = AxisLattice(region=CITY, cell_m=F(100))
    part = 100 * MICRO * PARTS // Plane(CITY).width_um  # of a square
    for squares in (0.4, 0.6, 1.4, 7.51):
        found = lattice.sums(RecordMeans(persons=3, x=int(part * squares), y=0))
        assert found == (round(squares), 0)


def test_without_the_shuffler_both_axes_are_seen():
    made = make(GeoShuffle)
    alone = made.guarantee_with_shuffler.if_shuffler_fails
    edge = made.noise().local_edge(made.farthest)
    assert alone.delta >= 1 - (1 - F(edge)) ** 2
    # A move along the diagonal is √2 times as many steps on the axes.
    steps = 2 * F(made.farthest)
    length_m = ROOT_TWO * made.farthest / made.lattice.steps_per_m * (1 - F(1, 10**9))
    assert alone.terms[0].loss(length_m) >= made.epsilon_geo * steps * (1 - F(1, 10**8))


def test_a_square_is_accounted_at_what_a_move_can_lose():
    """Rounding of the sums included: ε at the radius, and at the reach no more than noise is cut for."""
    made = replace(make(GeoShuffle, radius_m=200), reach_m=F(300))
    assert made.guarantee.loss(made.radius_m) <= made.epsilon
    assert made.guarantee.loss(made.reach_m) <= made.highest_loss
    assert (2 * made.epsilon_axis) ** 2 <= 2 * made.epsilon_step**2  # a step on both axes: √2 squares


def test_moves_that_reach_the_next_square_by_a_hair_are_accounted_for():
    """A reach of 5 squares and a part of one that no double shows: from 4 and 3 squares to 5 and 4."""
    made, plane = make(GeoShuffle, radius_m=200), Plane(CITY)
    hair = F(1, 2**60)
    reach_m = ((5 + hair) * 100 - F(plane.rounding_um, MICRO)) / plane.stretch
    wider = replace(made, reach_m=reach_m)
    assert wider.reach_steps == 5 + hair
    assert (5, 4) in wider.shifts
    assert wider.farthest == 6


def test_delta_of_a_point_pays_for_noise_cut_and_draws():
    made = make(GeoShuffle)
    whole = sgdl(made.persons, float(made.epsilon_geo), radius=4000)
    uncut = largest_two_axes_delta(whole, shifts=made.shifts, epsilon=float(made.epsilon_step))
    assert made.noise().spent(uncut, draws=2 * made.persons, loss=float(made.highest_loss)) <= made.delta

    axes = make(RrShuffle, cell_m=2000, radius_m=4000).noise()
    assert sum(axis.delta for axis in axes) <= F(1, 10**4)
    sgdl_made = make(SgdlShuffle)
    assert sgdl_made.noise().epsilon <= sgdl_made.epsilon_axis


@pytest.mark.parametrize("kind", [GeoShuffle, SgdlShuffle])
def test_a_padding_that_cuts_too_much_of_a_point_is_refused(kind, monkeypatch):
    monkeypatch.setattr(centroid, "padding_for", lambda **asked: padding_for(**asked) // 2)
    with pytest.raises(ParameterError, match="delta"):
        make(kind, persons=21)


def test_many_squares_split_delta_between_the_axes():
    made = make(GeoShuffle, cell_m=10)
    whole = sgdl(made.persons, float(made.epsilon_geo), radius=20_000)
    loss = float(made.epsilon_axis) * made.farthest
    one_axis = float(np.maximum(0, _excess(whole, made.farthest, loss)).sum())
    spent = made.noise().spent(2 * one_axis, draws=2 * made.persons, loss=float(made.highest_loss))
    assert spent <= made.delta * (1 + F(1, 10**6))


def _excess(whole, distance, loss):
    logs = whole.two_sided()
    return np.exp(logs[:-distance]) - np.exp(logs[distance:] + loss)
