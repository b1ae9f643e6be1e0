"""The law of sums of noise, and how many of the squares told apart from empty ones are empty after all."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.central.grid_laplace.empty_cells import rejected, step_up, tail
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.results.significance import SignificantSquares
from mechanisms.samplers.discrete_laplace import discrete_laplace
from tests.mechanisms.examples import SEED, make, masses_for

RESOLUTION, LEVEL = 64, 6
FULL = {100 * place: 4 + place % 20 for place in range(40)}  # persons by cell


@pytest.mark.parametrize("terms", [1, 2, 4, 16, 64])
def test_the_tail_is_a_bound_and_nearly_the_law(terms):
    scale = 2000
    reach = 60 * scale
    law = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    transformed = np.fft.rfft(law / law.sum(), 8 * reach)
    sums = np.fft.irfft(transformed**terms, 8 * reach)
    first = -reach * terms
    at = np.array([scale, 3 * scale, 8 * scale, 20 * scale])
    values = (np.arange(8 * reach) + first) % (8 * reach)
    exact = np.array([sums[np.isin(values, np.arange(s, 4 * reach))].sum() for s in at.tolist()])

    found = tail(at, scale=Fraction(scale), terms=terms)

    assert (found >= exact - 1e-12).all()
    assert found == pytest.approx(exact, rel=0.04 if terms > 1 else 1e-6, abs=1e-11)


def test_the_tail_of_nothing_or_less_is_1():
    assert tail(np.array([0, -5]), scale=Fraction(3), terms=4).tolist() == [1, 1]


def test_step_up_is_that_of_benjamini_and_hochberg():
    p = np.array([0.009, 0.0001, 0.03, 0.9])
    assert step_up(p, of=4).tolist() == [True, True, True, False]  # .03 ≤ 3/4 of .05
    assert step_up(p, of=12).tolist() == [False, True, False, False]  # .009 > 2/12 of .05
    assert not step_up(np.zeros(0), of=9).any()


def test_told_squares_are_kept_once_and_ask_for_their_own_level():
    told = SignificantSquares.with_parents(np.array([2, 2, 1]), np.array([5, 6, 3]))
    assert [told.at(level).tolist() for level in range(3)] == [[0], [1, 3], [5, 6]]
    assert told.has(np.array([2, 1, 1], np.uint8), np.array([5, 5, 3])).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="in the grid"):
        SignificantSquares(levels=np.array([1], np.uint8), prefixes=np.array([4]))


@pytest.mark.parametrize("terms", [1, 4])
def test_it_finds_what_is_there(terms):
    sums = discrete_laplace(SeededSource(SEED), scale=Fraction(1000), size=4096 * terms)
    sums = sums.reshape(-1, terms).sum(axis=1)
    sums[::100] += 20_000
    assert np.isin(np.arange(0, 4096, 100), rejected(sums, scale=Fraction(1000), terms=terms)).all()


@pytest.mark.parametrize(
    ("name", "parameters"), [("laplace", {}), ("laplace-top", {"keep_percent": "1"}), ("dense-emd", {})]
)
@pytest.mark.parametrize("persons_by_cell", [{}, FULL], ids=["empty", "sparse"])
@pytest.mark.parametrize("maps", [50, pytest.param(500, marks=pytest.mark.long)])
def test_few_of_the_squares_told_apart_are_empty(name, parameters, persons_by_cell, maps):
    """At every level. Of an empty map a square is told at most in 5 %; 500 maps: a standard error of 1 %.

    Counting the released cells instead of all of them gives .3 for `laplace-top`, two standard errors .9.
    """
    guess = {"expected_persons": 4**LEVEL} if name == "dense-emd" else {}  # measures every cell
    mechanism = make(name, resolution=RESOLUTION, epsilon=1, **parameters, **guess)
    masses = masses_for(mechanism, persons_by_cell)
    source = SeededSource(SEED)
    wrong, found = np.zeros(LEVEL + 1), np.zeros(LEVEL + 1)
    maps = maps if name != "dense-emd" else maps // 10
    for _ in range(maps):
        told = mechanism.release(masses, source).significant
        for level in range(LEVEL + 1):
            squares, occupied = told.at(level), np.unique(masses.cells >> 2 * (LEVEL - level))
            here = np.isin(squares, occupied).sum()
            wrong[level] += (squares.size - here) / max(squares.size, 1) / maps
            found[level] += here / max(occupied.size, 1) / maps
    assert (wrong < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / maps)).all()
    if persons_by_cell:
        assert found[LEVEL] > 0.5


@pytest.mark.parametrize("persons_by_cell", [{}, FULL], ids=["empty", "sparse"])
def test_intervals_of_kept_cells_hold_although_they_were_kept_for_being_large(persons_by_cell):
    """2,000 kept cells: a standard error of .5 %. Those of the noise alone hold .1 of empty ones."""
    mechanism = make("laplace-top", resolution=RESOLUTION, epsilon=1, keep_percent="1")
    masses = masses_for(mechanism, persons_by_cell)
    truth = np.zeros(4**LEVEL)
    truth[masses.cells] = masses.masses / mechanism.unit
    held = []
    for seed in range(50):
        found = mechanism.release(masses, SeededSource(seed))
        (lows, highs), true = found.intervals(), truth[found.prefixes]
        held += ((lows <= true) & (true <= highs)).tolist()
    assert np.mean(held) > 0.94
