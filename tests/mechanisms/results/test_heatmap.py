import math
import struct
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares


def mass_map(cells=(1, 5), masses=(3, 4), level=2, unit=8, dtype=np.int64):
    return MassMap(level=level, unit=unit, cells=np.array(cells, dtype), masses=np.array(masses, dtype))


def heatmap(level, *regions):
    """A map of (level, prefix, value) regions."""
    levels, prefixes, values = zip(*regions, strict=True) if regions else ((), (), ())
    return Heatmap(
        level=level,
        levels=np.array(levels, np.uint8),
        prefixes=np.array(prefixes, np.int64),
        values=np.array(values, np.float64),
        standard_errors=np.full(len(levels), np.nan),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"cells": (5, 1)},
        {"cells": (1, 1)},
        {"cells": (-1, 5)},
        {"cells": (1, 16)},
        {"masses": (0, 1)},
        {"masses": (-1, 1)},
        {"masses": (1,)},
        {"masses": (2**61, 2**61)},
        {"level": 32},
        {"unit": 3},
        {"dtype": np.int32},
        {"dtype": np.float64},
    ],
)
def test_masses_that_break_the_rules_cannot_exist(change):
    with pytest.raises(ValueError, match=r"must|cells|level|unit") as refused:
        mass_map(**change)
    assert "2305843009213693952" not in str(refused.value)  # no data in errors


def test_masses_are_read_only_and_hidden_and_leave_the_callers_arrays_alone():
    cells, masses = np.array([1, 5]), np.array([31337, 4])
    held = MassMap(level=2, unit=8, cells=cells, masses=masses)
    with pytest.raises(ValueError, match="read-only"):
        held.masses[0] = 1
    assert "31337" not in repr(held)
    masses[0] = 7  # still the caller's own


def test_an_empty_mass_map_is_valid():
    assert mass_map(cells=(), masses=()).cells.size == 0


def test_dense_has_row_0_north_and_column_0_west():
    # Morton 1 of level 1 is the south-east quarter: x from the west is the lower bit.
    dense = heatmap(1, (1, 1, 3.0)).dense()
    assert dense.tolist() == [[0, 0], [0, 1]]


def test_dense_spreads_a_coarse_region_evenly_and_sums_to_1():
    dense = heatmap(2, (1, 0, 4.0), (2, 15, 4.0)).dense()
    assert dense[2:, :2].tolist() == [[1 / 8] * 2] * 2  # south-west quarter
    assert dense[0, 3] == 1 / 2
    assert dense.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("empty", [heatmap(3), heatmap(3, (1, 2, 0.0))])
def test_dense_is_uniform_when_everything_is_0(empty):
    assert (empty.dense() == 1 / 64).all()


def test_dense_is_refused_beyond_4096_a_side():
    with pytest.raises(ParameterError, match="resolution is 8192, allowed: at most 4096"):
        heatmap(13, (0, 0, 1.0)).dense()


@pytest.mark.parametrize(
    "regions",
    [
        [(1, 0, 1.0), (2, 3, 1.0)],  # cell 3 of level 2 lies in quarter 0
        [(2, 3, 1.0), (2, 3, 1.0)],
        [(0, 0, 1.0), (3, 60, 1.0)],
        [(4, 0, 1.0)],
        [(2, 16, 1.0)],
        [(2, -1, 1.0)],
        [(2, 0, -1.0)],
        [(2, 0, float("nan"))],
        [(2, 0, float("inf"))],
    ],
)
def test_heatmaps_that_break_the_rules_cannot_exist(regions):
    with pytest.raises(ValueError, match=r"(regions|values) must"):
        heatmap(3, *regions)


def test_regions_are_put_in_morton_order():
    one = heatmap(2, (2, 15, 4.0), (1, 0, 3.0))
    assert one.prefixes.tolist() == [0, 15]
    assert one.sha256 == heatmap(2, (1, 0, 3.0), (2, 15, 4.0)).sha256


def test_bytes_come_back_as_the_same_map():
    one = heatmap(31, (31, 4**31 - 1, 0.1), (1, 0, 1e300))
    other = Heatmap.from_bytes(one.to_bytes())
    assert other.to_bytes() == one.to_bytes()
    assert (other.level, other.prefixes.tolist(), other.values.tolist()) == (31, [0, 4**31 - 1], [1e300, 0.1])
    assert np.isnan(other.standard_errors).all()


def test_different_maps_have_different_hashes():
    assert heatmap(3, (1, 1, 1.0)).sha256 != heatmap(3, (1, 1, 2.0)).sha256
    assert heatmap(3).sha256 != heatmap(4).sha256


def test_damaged_bytes_are_refused():
    good = heatmap(3, (1, 1, 1.0)).to_bytes()
    count = 2**40  # a region count that the body does not have
    for bad in (
        b"",
        b"HZM2" + good[4:],
        good[:-1],
        good + b"x",
        good[:5] + count.to_bytes(8, "little") + good[13:],
    ):
        with pytest.raises(ValueError, match="heatmap"):
            Heatmap.from_bytes(bad)


def test_a_body_that_unpacks_to_far_more_than_it_says_is_not_unpacked():
    header = heatmap(3, (1, 1, 1.0)).to_bytes()[:13]
    bomb = header + zlib.compress(bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(ValueError, match="damaged"):
        Heatmap.from_bytes(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_the_system_source_gives_fresh_words():
    words = SystemSource().words(10_000)
    assert words.dtype == np.uint64
    assert np.unique(words).size == 10_000
    assert not np.array_equal(words, SystemSource().words(10_000))


@pytest.mark.parametrize("change", [{"epsilon": 0}, {"epsilon": -1}, {"delta": 2}, {"radius_m": 0}])
def test_impossible_targets_are_refused(change):
    with pytest.raises(ParameterError, match=next(iter(change))):
        Target(**{"relation": Relation.REPLACE, "epsilon": 1, **change})


def test_bytes_keep_what_is_told_apart_and_the_error_of_cut_cells():
    one = replace(
        heatmap(3, (3, 5, 1.0)), significant=SignificantSquares.with_parents(np.array([3]), np.array([5]))
    )
    for made in (one, replace(one, cut_error=0.25), replace(heatmap(3), cut_error=0.5)):
        other = Heatmap.from_bytes(made.to_bytes())
        assert other.to_bytes() == made.to_bytes()
        assert other.cut_error == made.cut_error or made is one
        assert (other.significant is None) == (made.significant is None)
    assert Heatmap.from_bytes(one.to_bytes()).significant.at(3).tolist() == [5]


def test_bytes_of_the_first_version_are_read_and_written_as_they_were():
    regions = np.array([2, 1], np.uint8).tobytes() + np.array([0, 3], "<i8").tobytes()
    numbers = np.array([4.0, 3.0, 0.5, float("nan")], "<f8").tobytes()
    written = b"HZM1" + struct.pack("<BQ", 2, 2) + zlib.compress(regions + numbers, 6)
    found = Heatmap.from_bytes(written)
    assert (found.significant, math.isnan(found.cut_error)) == (None, True)
    assert found.to_bytes() == written
