"""Guides: shares of a map, and what of its measurements a later map may count in."""

from dataclasses import replace

import numpy as np
import pytest

from mechanisms.central.adaptive.boxes import Rectangles
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.guided_walk import GuidedWalk
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.one_walk import OneWalk
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.check import ParameterError
from mechanisms.evaluation.earth_mover import emd
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guide import MOST_MEASURED, SIDE, WHOLE, Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurement
from tests.mechanisms.examples import SEED, crowd, make, masses_for, true_dense


def heatmap(level, *regions):
    levels, prefixes, values = zip(*regions, strict=True)
    return Heatmap(
        level=level,
        levels=np.array(levels, np.uint8),
        prefixes=np.array(prefixes),
        values=np.array(values, float),
        standard_errors=np.full(len(values), np.nan),
    )


def test_shares_of_coarse_and_fine_regions_with_the_north_on_top():
    found = Guide.of_map(heatmap(9, (1, 2, 3.0), (6, 0, 0.5), (9, 4**9 - 1, 0.25), (9, 4**9 - 64, 0.25)))
    shares = found.shares.reshape(SIDE, SIDE)
    expected = np.zeros((SIDE, SIDE))
    expected[:32, :32] = 3.0 / 1024  # the north-western quarter
    expected[-1, 0] = 0.5  # the south-western cell
    expected[0, -1] = 0.5  # two regions in the north-eastern one
    assert shares == pytest.approx(expected / 4 * WHOLE, abs=1)


def test_a_map_without_anybody_makes_an_even_guide():
    assert np.ptp(Guide.of_map(heatmap(3, (1, 0, 0.0), (1, 3, 0.0))).shares) == 0


def an_own_map(**facts):
    mechanism = make("adaptive", resolution=64, expected_persons=400, **facts)
    masses = crowd(mechanism, cells=30, persons=300)
    return mechanism, masses, mechanism.release(masses, SeededSource(SEED))


def test_measurements_come_along_for_the_same_people_alone():
    _, _, own = an_own_map()
    assert Guide.of_map(own).measured is None
    assert Guide.of_map(own, same_people=True).measured is own.measurements
    assert Guide.of_map(own) != Guide.of_map(own, same_people=True)
    assert Guide.of_map(own) == Guide.of_map(own)
    assert Guide.of_map(heatmap(3, (1, 0, 1.0)), same_people=True).measured is None


@pytest.mark.parametrize("values", [np.zeros((64, 64)), np.ones((32, 32)), -np.ones((64, 64))])
def test_what_is_no_map_is_refused(values):
    with pytest.raises(ParameterError, match="guide"):
        Guide.of_values(values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_one_bad_value_is_refused(bad):
    values = np.ones((SIDE, SIDE))
    values[3, 4] = bad
    with pytest.raises(ParameterError, match="guide"):
        Guide.of_values(values)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_values_of_any_size_have_shares(size):
    shares = Guide.of_values(np.eye(SIDE) * size).shares
    assert shares.sum() == pytest.approx(WHOLE, rel=1e-6)


def test_one_value_among_zeros_has_it_all():
    values = np.zeros((SIDE, SIDE))
    values[5, 6] = 1e-9
    shares = Guide.of_values(values).shares
    assert (shares.sum(), shares[5 * SIDE + 6]) == (WHOLE, WHOLE)


def test_an_own_map_is_gone_on_with_in_its_tree():
    mechanism, _, own = an_own_map()
    counted = replace(mechanism, guide=Guide.of_map(own, same_people=True)).rounds
    assert (type(counted), len(counted.earlier.parts)) == (OneWalk, 1)
    guided = replace(mechanism, guide=Guide.of_map(own)).rounds
    assert (type(guided), guided.earlier) == (GuidedWalk, None)


def test_a_guided_own_map_is_gone_on_with_in_the_tree_of_its_guide():
    mechanism, masses, own = an_own_map()
    for values in (np.ones((SIDE, SIDE)), np.eye(1, SIDE**2).reshape(SIDE, SIDE)):
        before = replace(mechanism, guide=Guide.of_values(values)).release(masses, SeededSource(SEED))
        rounds = replace(mechanism, guide=Guide.of_map(before, same_people=True)).rounds
        assert type(rounds) is GuidedWalk
        assert np.array_equal(rounds.guide.shares, Guide.of_values(values).shares)
        assert rounds.tree.plain_from == before.measurements.plain_from
        (only,) = rounds.measure(masses, SeededSource(SEED + 1))
        assert only.cells.tree.plain_from == before.measurements.plain_from
    assert before.measurements.plain_from is not None  # everybody was expected in one corner
    assert own.measurements.plain_from is None


def test_a_first_look_of_a_later_map_leaves_the_tree_as_it_was_measured():
    """Even where it fits the guide no longer: here by measurements of other people."""
    mechanism, _, _ = an_own_map()
    even = replace(mechanism, guide=Guide.of_values(np.ones((SIDE, SIDE))))
    spread = masses_for(mechanism, dict.fromkeys(range(64**2), 1))
    before = even.release(spread, SeededSource(SEED))
    assert before.measurements.plain_from is None
    village = masses_for(mechanism, {17: 300})
    (doubted,) = even.measure(village, SeededSource(SEED))
    assert doubted.cells.tree.plain_from is not None
    later = replace(mechanism, guide=Guide.of_map(before, same_people=True))
    (only,) = later.measure(village, SeededSource(SEED))
    assert only.cells.tree.plain_from is None


def test_a_map_of_another_resolution_is_a_guide_alone_where_its_cells_are_none_of_this_map():
    mechanism, masses, own = an_own_map()
    fine = Guide.of_map(own, same_people=True)
    assert own.measurements.deepest > 2 * 3
    coarse = make("adaptive", resolution=8, expected_persons=400)
    assert (type(replace(coarse, guide=fine).rounds), replace(coarse, guide=fine).rounds.earlier) == (
        GuidedWalk,
        None,
    )
    finer = make("adaptive", resolution=1024, expected_persons=400)
    assert replace(finer, guide=fine).rounds.earlier is own.measurements
    guided = replace(mechanism, guide=Guide.of_map(own)).release(masses, SeededSource(SEED))
    guide = Guide.of_map(guided, same_people=True)
    assert replace(mechanism, guide=guide).rounds.earlier is guided.measurements
    for other in (coarse, finer):  # whose tree has lines elsewhere
        assert replace(other, guide=guide).rounds.earlier is None


def test_a_long_chain_begins_anew():
    """Each map goes on from the one before: the seventeenth takes it as a guide alone."""
    mechanism, masses, own = an_own_map()
    counts = []
    for turn in range(MOST_MEASURED + 2):
        counts.append(len(own.measurements.parts))
        guide = Guide.of_map(own, same_people=True)
        assert (guide.measured is None) == (len(own.measurements.parts) >= MOST_MEASURED)
        own = replace(mechanism, guide=guide).release(masses, SeededSource(SEED + turn))
        assert np.isfinite(own.values).all()
    assert counts == [*range(1, MOST_MEASURED + 1), 1, 2]
    assert own.total == pytest.approx(300, abs=40)


def test_a_chain_gets_more_accurate():
    mechanism, masses, own = an_own_map()
    truth, errors = true_dense(masses), []
    for turn in range(12):
        errors.append(emd(own.dense(), truth))
        own = replace(mechanism, guide=Guide.of_map(own, same_people=True)).release(
            masses, SeededSource(SEED + turn)
        )
    assert np.mean(errors[-3:]) < 0.6 * np.mean(errors[:2])


@pytest.mark.parametrize(
    "times", [0.01, 100.0, *(pytest.param(times, marks=pytest.mark.long) for times in (0.3, 3.5))]
)
@pytest.mark.parametrize("is_guided", [False, True])
def test_earlier_measurements_of_any_noise_ruin_no_map(times, is_guided):
    """Mean earth mover's distances of twelve maps: no worse than 1.3 times that without."""
    mechanism, masses, own = an_own_map()
    truth, random = true_dense(masses), np.random.default_rng(SEED)
    if is_guided:
        own = replace(mechanism, guide=Guide.of_map(own)).release(masses, SeededSource(SEED))
    (part,) = own.measurements.parts
    without, counted = [], []
    for seed in range(12):
        noise = random.laplace(0, times * mechanism.rounds.scale_persons, part.noisy.size)
        exact = true_of(own.measurements, masses, mechanism)
        other = Measurement(
            scale_persons=times * mechanism.rounds.scale_persons,
            depths=part.depths,
            codes=part.codes,
            noisy=exact + noise,
        )
        kept = replace(own.measurements, parts=(other,))
        guide = replace(Guide.of_map(own), measured=kept)
        for found, used in ((without, replace(guide, measured=None)), (counted, guide)):
            plain = mechanism if used.measured is None and not is_guided else replace(mechanism, guide=used)
            found.append(emd(plain.release(masses, SeededSource(seed)).dense(), truth))
    assert np.mean(counted) < 1.3 * np.mean(without)
    if times < 0.1:
        assert np.mean(counted) < 0.7 * np.mean(without)


def true_of(measurements, masses, mechanism):
    """Persons in the nodes of the only measurement."""
    (part,) = measurements.parts
    nodes = Nodes(depths=part.depths.astype(np.int64), codes=part.codes)
    if measurements.shares is None:
        return Cut.of_nodes(nodes).masses(masses) / mechanism.unit
    guide = Guide(shares=measurements.shares)
    tree = GuideTree.of(guide, level=masses.level, plain_from=measurements.plain_from)
    return Rectangles(tree=tree, nodes=nodes).masses(masses) / mechanism.unit
