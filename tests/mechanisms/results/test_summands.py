"""What squares add to sums: right on average although noise was cut, and no farther off than it says."""

from dataclasses import replace

import numpy as np
import pytest

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guide import Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.summands import MOST_SQUARES, summands_of
from tests.mechanisms.examples import SEED, crowd, make, masses_for

FEW_IN_EACH = 0.6  # people in a cell, with noise of 1.4


@pytest.fixture(scope="module")
def released():
    """(people, map) of 65,536 cells with few people in each of one half."""
    mechanism = make("laplace", resolution=256)
    masses = masses_for(mechanism, dict.fromkeys(range(256**2 // 2), FEW_IN_EACH))
    return FEW_IN_EACH * 256**2 / 2, mechanism.release(masses, SeededSource(SEED))


def test_a_sum_of_cut_values_is_right_on_average(released):
    people, heatmap = released
    found = summands_of(heatmap)
    error = np.sqrt((found.deviations**2).sum())
    assert abs(found.values.sum() - people) < 3 * error
    assert abs(heatmap.values.sum() - people) > 50 * error  # what was cut is missing there
    half = found.prefixes < MOST_SQUARES // 2
    assert abs(found.values[half].sum() - people) < 3 * error


def test_errors_are_no_larger_than_stated(released):
    """Of 16,384 squares: a standard deviation has a standard error of .9 %; cutting leaves .87 to 1 of it."""
    _, heatmap = released
    found = summands_of(heatmap)
    there = np.where(found.prefixes < MOST_SQUARES // 2, 4 * FEW_IN_EACH, 0.0)
    ratio = np.std(found.values - there) / found.deviations[0]
    assert 0.85 < ratio < 1.0
    assert found.deviations == pytest.approx(2 * heatmap.standard_errors[0])


def test_fine_squares_are_added_up(released):
    found = summands_of(released[1])
    assert found.levels.size == MOST_SQUARES
    assert set(found.levels.tolist()) == {7}
    coarse = found.coarsened(0)
    assert coarse.values == pytest.approx([found.values.sum()])
    assert coarse.deviations == pytest.approx([np.sqrt((found.deviations**2).sum())])


def test_empty_leaves_of_a_tree_take_part():
    mechanism = make("privtree", resolution=64, epsilon=1)
    heatmap = mechanism.release(crowd(mechanism, cells=20, persons=400), SeededSource(SEED))
    found = summands_of(heatmap)
    assert found.levels.size == heatmap.levels.size
    assert (found.values[heatmap.values == 0] < 0).all()
    assert found.values.sum() == pytest.approx(heatmap.total, abs=4 * heatmap.total_error)


def test_what_was_left_out_may_hold_anybody():
    few, all_of_them = (make("laplace-top", resolution=16, keep_percent=percent) for percent in ("25", "100"))
    assert summands_of(few.release(crowd(few, cells=9, persons=90), SeededSource(SEED))) is None
    masses = crowd(all_of_them, cells=9, persons=90)
    kept = all_of_them.release(masses, SeededSource(SEED))
    assert summands_of(kept).levels.size == 256
    assert summands_of(replace(kept, cut_error=float("nan"))) is None


def test_a_map_with_deviations_alone_states_bounds():
    mechanism = make("dense-emd", resolution=16)
    heatmap = mechanism.release(crowd(mechanism, cells=9, persons=200), SeededSource(SEED))
    assert summands_of(heatmap).is_bound
    adaptive = make("adaptive", resolution=16)
    assert not summands_of(
        adaptive.release(crowd(adaptive, cells=9, persons=200), SeededSource(SEED))
    ).is_bound
    assert summands_of(replace(heatmap, deviations=None)) is None


def test_an_empty_map_has_none():
    empty = np.zeros(0)
    none = Heatmap(
        level=3,
        levels=empty.astype(np.uint8),
        prefixes=empty.astype(np.int64),
        values=empty,
        standard_errors=empty,
    )
    assert summands_of(none) is None


def test_a_map_in_rectangles_has_none_whatever_it_states():
    """Also one of before, which has deviations: they went with the guide's own shares."""
    plain = make("adaptive", epsilon=1, resolution=32)
    masses = crowd(plain, cells=25, persons=200)
    guide = Guide.of_map(plain.release(masses, SeededSource(SEED)))
    heatmap = replace(plain, guide=guide).release(masses, SeededSource(SEED + 1))
    assert heatmap.is_in_rectangles
    assert heatmap.deviations is None
    of_before = replace(heatmap, deviations=np.ones(heatmap.values.size))
    assert (summands_of(heatmap), summands_of(of_before)) == (None, None)
