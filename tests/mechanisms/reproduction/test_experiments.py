"""The comparison of `adaptive` with its baselines: dealing, ratios and bounds, the forecast's line."""

import csv
import gzip
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.error_bounds import adaptive_forecast
from mechanisms.evaluation.places import Split
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.reproduction import adaptive_accuracy, paired
from mechanisms.reproduction.adaptive_accuracy import GUESSES
from mechanisms.reproduction.check_ins import dealt_places, read_check_ins
from mechanisms.reproduction.forecast_fit import coverage, fit
from mechanisms.reproduction.measurement_file import MeasurementFile
from mechanisms.reproduction.paired import EPSILONS, PERSONS, Results, emd_ratio, measure
from tests.mechanisms.examples import SEED, crowd, true_dense


def check_ins(path, *, persons, towns, seed):
    """A file of persons who were seen around a few towns."""
    random = np.random.default_rng(seed)
    with gzip.open(path, "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("user", "time", "lat", "lon"))
        for person in range(persons):
            for lat, lon in towns:
                rows.writerow((f"p{person}", "", lat + random.normal(0, 0.01), lon + random.normal(0, 0.01)))
    return path


TOWNS = [
    (30.25, -97.625),
    (40.75, -73.9),
    (34.08, -118.13),
    (41.92, -87.62),
    (29.75, -95.375),
    (47.58, -122.1),
]


def test_files_are_read_and_places_dealt_in_turn(tmp_path):
    one = check_ins(tmp_path / "one.csv.gz", persons=30, towns=TOWNS, seed=1)
    other = check_ins(tmp_path / "other.csv.gz", persons=20, towns=TOWNS[:2], seed=2)
    persons, lat, lon = read_check_ins(one)
    assert persons.size == lat.size == lon.size == 30 * len(TOWNS)
    assert np.unique(persons).tolist() == list(range(30))
    dealt = dealt_places([one, other], persons=(20, 25), split=Split.ALL)
    assert [place.persons for place in dealt[20]][:4] == [30, 20, 30, 20]
    assert {place.persons for place in dealt[25]} == {30}


def results_of(errors):
    """{label: (trials,) EMDs}, the same in each setting, one place a trial."""
    results = Results()
    trials = len(next(iter(errors.values())))
    for setting in [(50, Fraction(1)), (200, Fraction(2))]:
        results.places[setting] = list(range(trials))
        results.values[setting] = {
            label: [[error, 1.0, 0.5, 0.5] for error in found] for label, found in errors.items()
        }
    return results


def test_a_ratio_is_paired_and_its_bound_knows_the_places():
    random = np.random.default_rng(SEED)
    base = random.exponential(size=80) + 0.1
    results = results_of({"half": base / 2, "base": base, "other": 0.5 * random.permutation(base)})
    assert emd_ratio(results, "half", "base") == pytest.approx((0.5, 0.5, 0.5))
    ratio, these, any_places = emd_ratio(results, "other", "base")
    assert ratio == pytest.approx(0.5)
    # Not the same trials any more: 80 exponentials have 14 % of error; two settings of other persons but of
    # the same places have less of it together only where trials are drawn, not places.
    assert 0.52 < these < any_places - 0.01 < 0.7
    for places in results.places.values():
        places[:] = [place // 20 for place in places]
    assert emd_ratio(results, "other", "base")[:2] == (ratio, these)
    assert emd_ratio(results, "other", "base")[2] != pytest.approx(any_places)
    assert results.means("half")["emd"] == pytest.approx(base.mean() / 2)


def test_the_line_through_errors_is_found_again():
    random = np.random.default_rng(SEED)
    errors = {
        (n, epsilon): 1.5 * float(n * epsilon) ** -0.6 * np.exp(random.normal(0, 0.3, 400))
        for n in PERSONS
        for epsilon in EPSILONS
    }
    found = fit(errors)
    assert found.factor == pytest.approx(1.5, rel=0.06)
    assert found.exponent == pytest.approx(-0.6, abs=0.01)
    assert found.low == pytest.approx(np.exp(-0.3 * 1.751), rel=0.06)
    assert found.high == pytest.approx(np.exp(0.3 * 1.751), rel=0.06)
    medians = {(n, e): [forecast(n, e).emd_median] * 5 for n in PERSONS for e in EPSILONS}
    assert coverage(errors, forecast) < coverage(medians, forecast) == 1


def forecast(persons, epsilon):
    return adaptive_forecast(float(2 / epsilon), persons=persons)


def test_the_plain_grid_tells_the_truth_without_noise_and_states_its_cost():
    contestant = adaptive_accuracy.plain_grid("4")
    mechanism = contestant.build(Fraction(10**6), 1000)
    assert mechanism.guarantee.loss(INFINITY) == 10**6
    assert mechanism.guarantee.relation is Relation.ADD_REMOVE
    small = type(mechanism).calibrate(
        Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(10**6), expected_persons=1000),
        resolution=16,
        most=4.0,
    )
    masses = crowd(small, cells=20, persons=200)
    assert np.abs(small.release(masses, SeededSource(SEED)).dense() - true_dense(masses)).sum() < 1e-3


def test_tuned_parameters_were_among_those_tried():
    defaults = {"privtree tree_percent=30": "privtree", "sparse-emd width=20 decay=0.7071": "sparse-emd"}
    tried = {defaults.get(one.label, one.label) for one in adaptive_accuracy.tuning_contestants()}
    assert {one.label for one in adaptive_accuracy.comparison_contestants()} - {"adaptive"} <= tried


def test_what_was_measured_once_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(paired, "EPSILONS", (Fraction(1),))
    file = check_ins(tmp_path / "one.csv.gz", persons=30, towns=TOWNS[:2], seed=1)
    places = dealt_places([file], persons=(20,), split=Split.ALL)
    tree, path = adaptive_accuracy.listed("privtree"), tmp_path / "kept"
    first = measure(places, [tree], trials=2, store=MeasurementFile(path))
    broken = replace(tree, build=None)
    assert measure(places, [broken], trials=2, store=MeasurementFile(path)).values == first.values
    with pytest.raises(TypeError):
        measure(places, [broken], trials=2, seed=1, store=MeasurementFile(path))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:-5])  # killed while writing
    with pytest.raises(TypeError):
        measure(places, [broken], trials=2, store=MeasurementFile(path))
    assert measure(places, [tree], trials=2, store=MeasurementFile(path)).values == first.values
    assert path.read_text() == "".join(lines)


@pytest.mark.parametrize("what", ["compare", "fit", "guess"])
def test_the_command_prints_what_it_measured(what, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(paired, "EPSILONS", (Fraction(1),))
    path = check_ins(tmp_path / "towns.csv.gz", persons=1000, towns=TOWNS, seed=3)
    adaptive_accuracy.main([what, str(path), "--trials", "1"])
    printed = capsys.readouterr().out
    if what == "fit":
        assert "median = " in printed
    else:
        assert "1 trials of each of 3 settings" in printed
        others = len(PERSONS) + 1 if what == "compare" else 0  # lines about the forecast
        contestants = (
            len(adaptive_accuracy.comparison_contestants()) + 1 if what == "compare" else len(GUESSES)
        )
        assert printed.count("\n| ") == others + contestants


def test_the_command_compares_guides(tmp_path, capsys, monkeypatch):
    """Of the settings of one epsilon only those where a guide may be given: 200 persons in one place."""
    monkeypatch.setattr(paired, "EPSILONS", (Fraction(1),))
    path = check_ins(tmp_path / "towns.csv.gz", persons=500, towns=TOWNS, seed=3)
    adaptive_accuracy.main(["guide", str(path), "--trials", "1"])
    printed = capsys.readouterr().out
    assert "1 trials of each of 1 settings" in printed
    assert printed.count("\n| ") == 8
    adaptive_accuracy.main(["guide", str(path), "--trials", "1", "--service", str(path)])
    assert "another service's" in capsys.readouterr().out
