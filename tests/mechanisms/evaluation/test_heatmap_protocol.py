"""The evaluation protocol: where, whom, and what is compared."""

import hashlib
import math
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.catalogue.registry import build
from mechanisms.check import ParameterError
from mechanisms.evaluation.earth_mover import block_sums, emd, emd_exact, emd_metres
from mechanisms.evaluation.places import (
    BOX,
    OUTSIDE,
    CheckInPlace,
    Split,
    box,
    cell_numbers,
    cell_region,
    densest,
)
from mechanisms.evaluation.protocol import Protocol, compare
from mechanisms.evaluation.similarity import kl, kl_mixed, normalised, pearson, similarity
from mechanisms.evaluation.smoothing import smooth_cut
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, parent

AUSTIN = Region(-98.3, 29.8, -97.3, 31.0)
FAST = {"persons": 20, "trials": 6, "resolution": 64}


def crowd(persons=60, rows=600, seed=1, region=AUSTIN):
    """Check-ins of persons around homes of their own: (persons, lat, lon)."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.concatenate([np.arange(persons), rng.integers(0, persons, rows - persons)]))
    home = rng.uniform([region.south, region.west], [region.north, region.east], (persons, 2))
    lat, lon = (home[who] + rng.normal(0, 0.02, (rows, 2))).T
    return who, np.clip(lat, region.south, region.north), np.clip(lon, region.west, region.east)


def mechanism(name="sparse-emd", epsilon="1", resolution=64):
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon))
    return build(name, target=target, resolution=resolution, parameters={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Truthful:
    """Stands in for a mechanism: gives the masses away, or `released` instead."""

    epsilon: Fraction = Fraction(1)
    resolution: int = 64
    name: str = "truthful"
    unit: int = 2**20
    seen: list = None
    released: Heatmap | None = None

    def release(self, masses, rng):
        if self.seen is not None:
            self.seen.append((masses, int(rng.words(1)[0])))
        if self.released is not None:
            return self.released
        levels = np.full(masses.cells.size, masses.level, np.uint8)
        values = masses.masses / masses.unit
        return Heatmap(
            level=masses.level,
            levels=levels,
            prefixes=masses.cells,
            values=values,
            standard_errors=np.full(values.size, np.nan),
        )


# --- places -------------------------------------------------------------------------------------------


def test_it_numbers_cells_from_the_south_west():
    lat = np.array([0.0, 0.2, 0.0, 49.9999, 50.0, -0.001, 10, 30.27])
    lon = np.array([-135.0, -135.0, -134.75, -60.001, -100, -100, -60.0, -97.75])
    expected = [0, 300, 1, 89_999, OUTSIDE, OUTSIDE, OUTSIDE, 181 * 300 + 149]
    assert cell_numbers(lat, lon).tolist() == expected


def test_it_gives_a_cells_region_back():
    rng = np.random.default_rng(2)
    lat, lon = rng.uniform(0, 50, 500), rng.uniform(-135, -60, 500)
    for number, y, x in zip(cell_numbers(lat, lon).tolist(), lat, lon, strict=True):
        assert cell_region(number).contains(y, x)
    region = cell_region(54449)
    assert (region.east - region.west, region.north - region.south) == pytest.approx((0.25, 1 / 6))


def test_it_splits_cells_by_the_parity_of_their_hash():
    for number in (0, 7, 54449, 89_999):
        odd = int(hashlib.sha256(str(number).encode()).hexdigest(), 16) % 2 == 1
        assert (Split.ODD.has(number), Split.EVEN.has(number), Split.ALL.has(number)) == (odd, not odd, True)


def several_cells():
    """Cell 0: 3 persons, 9 check-ins; 1: 5 and 8; 2: 1 and 50; 3: 5 and 8 as well; one outside."""
    persons = [0, 1, 2] * 3 + [0, 1, 2, 3, 4, 4, 4, 4] + [5] * 50 + [5, 6, 7, 8, 9, 9, 9, 9] + [0]
    column = [0] * 9 + [1] * 8 + [2] * 50 + [3] * 8
    lat = np.array([0.1] * 75 + [60.0])
    lon = np.array([-135 + 0.25 * c + 0.1 for c in column] + [-100.0])
    return np.array(persons), lat, lon


@pytest.mark.parametrize(
    ("count", "least", "split", "numbers"),
    [
        (9, 1, Split.ALL, [2, 0, 1, 3]),
        (9, 3, Split.ALL, [0, 1, 3]),
        (2, 3, Split.ALL, [0, 1]),
        (9, 4, Split.ALL, [1, 3]),
        (9, 6, Split.ALL, []),
        (9, 1, Split.EVEN, [number for number in (2, 0, 1, 3) if Split.EVEN.has(number)]),
        (9, 1, Split.ODD, [number for number in (2, 0, 1, 3) if Split.ODD.has(number)]),
    ],
)
def test_it_takes_the_cells_with_most_check_ins_among_those_with_enough_persons(count, least, split, numbers):
    places = densest(*several_cells(), count=count, least_persons=least, split=split)
    assert [place.number for place in places] == numbers


def test_it_cuts_records_to_the_place():
    persons, lat, lon = several_cells()
    place = densest(persons, lat, lon, count=1, least_persons=4, split=Split.ALL)[0]
    assert place.persons == 5
    who, cells = place.records(np.array([1, 4]))
    assert who.tolist() == [1] + [4] * 4
    assert (cells == place.region.morton(0.1, -135 + 0.35)).all()


def test_it_takes_a_box_as_one_place():
    persons, lat, lon = crowd()
    place = box(Region(-98.0, 30.0, -97.5, 30.5), persons, lat, lon)
    inside = place.region.contains(lat, lon)
    assert (place.number, place.cells.size) == (BOX, inside.sum())
    assert place.persons == np.unique(persons[inside]).size
    for index, person in enumerate(np.unique(persons[inside])):
        _, cells = place.records(np.array([index]))
        chosen = inside & (persons == person)
        assert sorted(cells.tolist()) == sorted(place.region.morton(lat[chosen], lon[chosen]).tolist())


# --- trials -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place():
    return box(AUSTIN, *crowd())


def test_it_finds_nothing_wrong_with_the_truth(place):
    (row,) = compare([place], [Truthful()], Protocol(**FAST))
    assert row.emd == pytest.approx(0, abs=1e-6)
    assert row.kl == pytest.approx(0, abs=1e-6)
    assert row.similarity == pytest.approx(1, abs=1e-6)
    assert row.pearson == pytest.approx(1, abs=1e-6)


def test_it_shows_every_mechanism_the_same_persons_and_other_noise(place):
    first, second = [], []
    contenders = [
        Truthful(seen=first),
        mechanism(),
        Truthful(seen=second, epsilon=Fraction(2)),
    ]
    compare([place], contenders, Protocol(**FAST))
    for (masses, word), (same, other_word) in zip(first, second, strict=True):
        assert (masses.cells == same.cells).all()
        assert (masses.masses == same.masses).all()
        assert word != other_word
    assert len({masses.cells.tobytes() for masses, _ in first}) == FAST["trials"]
    assert len({word for _, word in first}) == FAST["trials"]


def test_it_draws_persons_without_replacement_and_lets_each_weigh_one(place):
    seen = []
    everybody = Protocol(persons=place.persons, trials=2, resolution=64)
    compare([place], [Truthful(seen=seen)], everybody)
    (one, _), (other, _) = seen
    assert (one.masses == other.masses).all()  # nobody is left to draw differently
    cells = parent(place.cells, 31 - 6)
    for person in range(place.persons):
        own = cells[place.starts[person] : place.starts[person + 1]]
        assert own.size > 0
    assert one.masses.sum() == pytest.approx(place.persons * one.unit, rel=1e-4)


def test_it_deals_trials_to_places_in_turn(place):
    other = box(AUSTIN, *crowd(seed=2))
    other = CheckInPlace(number=7, region=other.region, starts=other.starts, cells=other.cells)
    seen = []
    compare([place, other], [Truthful(seen=seen)], Protocol(**FAST | {"trials": 5}))
    alone = []
    compare([place], [Truthful(seen=alone)], Protocol(**FAST | {"trials": 3}))
    assert [masses.cells.tolist() for masses, _ in seen[::2]] == [m.cells.tolist() for m, _ in alone]


def without_seconds(rows):
    return [asdict(row) | {"seconds": 0} for row in rows]


def test_it_repeats_itself_under_a_seed_whatever_else_is_compared(place):
    rows = compare([place], [mechanism(), mechanism("laplace")], Protocol(**FAST))
    again = compare([place], [mechanism("laplace")], Protocol(**FAST))
    assert without_seconds(rows)[1:] == without_seconds(again)
    other = compare([place], [mechanism("laplace")], Protocol(**FAST | {"seed": 1}))
    assert other[0].emd != again[0].emd


@pytest.mark.parametrize("exact", [False, True])
def test_it_computes_each_measure_on_normalised_smoothed_maps(place, exact):
    corner = Heatmap(
        level=6,
        levels=np.array([2, 6], np.uint8),
        prefixes=np.array([0, 4**6 - 1]),
        values=np.array([3.0, 1.0]),
        standard_errors=np.array([np.nan, np.nan]),
    )
    seen = []
    (row,) = compare(
        [place],
        [Truthful(seen=seen, released=corner)],
        Protocol(**FAST | {"trials": 1, "sigma": 3, "exact": exact}),
    )
    truth, release = (
        normalised(smooth_cut(dense, 3)) for dense in (Truthful().release(*seen[0]).dense(), corner.dense())
    )
    blocks = (truth, release) if exact else (block_sums(truth), block_sums(release))
    assert row.emd == pytest.approx((emd_exact if exact else emd)(*blocks), rel=1e-5)
    assert row.emd_metres == pytest.approx(emd_metres(*blocks, AUSTIN, exact=exact), rel=1e-5)
    assert row.kl == pytest.approx(kl(truth, release), rel=1e-4)
    assert row.kl_mixed == pytest.approx(kl_mixed(truth, release), rel=1e-4)
    assert row.similarity == pytest.approx(similarity(truth, release), rel=1e-4)
    assert row.pearson == pytest.approx(pearson(truth, release), rel=1e-4)
    assert (row.sigma, row.resolution, row.persons, row.trials) == (3, 64, 20, 1)
    assert math.isnan(row.emd_se)


def test_it_states_the_standard_error_of_a_mean(place):
    values = [
        compare([place], [mechanism()], Protocol(**FAST | {"trials": trials}))[0].emd * trials
        for trials in range(1, 7)
    ]
    single = np.diff([0, *values])
    (row,) = compare([place], [mechanism()], Protocol(**FAST))
    assert row.emd == pytest.approx(single.mean())
    assert row.emd_se == pytest.approx(single.std(ddof=1) / math.sqrt(6))


def test_it_reports_progress(place):
    calls = []
    compare([place], [Truthful()], Protocol(**FAST), progress=lambda *call: calls.append(call))
    assert calls == [(done, 6) for done in range(1, 7)]


def test_it_ranks_the_paper_before_the_baseline_and_more_epsilon_before_less():
    town = box(AUSTIN, *crowd(region=Region(-98.2, 29.9, -98.0, 30.1)))
    contenders = [mechanism(), mechanism(epsilon="20"), mechanism("laplace")]
    paper, generous, baseline = compare([town], contenders, Protocol(persons=50, trials=6, resolution=64))
    assert generous.emd < paper.emd < baseline.emd
    assert generous.similarity > paper.similarity > baseline.similarity


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"persons": 0}, "persons"),
        ({"trials": 0}, "trials"),
        ({"sigma": float("nan")}, "sigma"),
        ({"resolution": 100}, "resolution"),
        ({"resolution": 512, "exact": True}, "resolution"),
    ],
)
def test_it_refuses_parameters_out_of_range(change, name):
    with pytest.raises(ParameterError) as caught:
        Protocol(**FAST | change)
    assert caught.value.parameter == name


def test_it_refuses_places_with_too_few_persons(place):
    with pytest.raises(ParameterError, match="at most 60") as caught:
        compare([place], [mechanism()], Protocol(**FAST | {"persons": 61}))
    assert caught.value.parameter == "persons"


def test_it_refuses_a_mechanism_of_another_resolution(place):
    with pytest.raises(ParameterError, match="64"):
        compare([place], [mechanism(resolution=32)], Protocol(**FAST))
