"""Measured accuracy of the adaptive mechanism on real check-ins, on the half of the places that nothing was
chosen on. Needs HAZEMAP_TEST_DATA; never a figure for any single map.
"""

import csv
import gzip
import os
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from mechanisms.catalogue.registry import build
from mechanisms.evaluation.places import Split, densest
from mechanisms.evaluation.protocol import Protocol, compare
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target

FILES = ("gowalla_u5628", "gowalla_u1000_timed", "foursquare_u4969_timed", "foursquare_nyc_timed")
EPSILONS = ("0.5", "2")
TRIALS = 60
PERSONS = (50, 200)
FACTORS = (1, Fraction(1, 2), 2)  # of the guess of how many they are
BASELINES = ("sparse-emd", "privtree")

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1800),
    pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set"),
]


@lru_cache(maxsize=len(FILES))
def places(name, persons):
    path = Path(os.environ["HAZEMAP_TEST_DATA"]) / f"{name}.csv.gz"
    with gzip.open(path, "rt") as lines:
        rows = [(int(row["user"]), float(row["lat"]), float(row["lon"])) for row in csv.DictReader(lines)]
    users, lat, lon = (np.array(column) for column in zip(*rows, strict=True))
    return densest(users, lat, lon, count=20, least_persons=persons, split=Split.ODD)


def mechanisms(names, persons, *, factor=1):
    return [
        build(
            name,
            target=Target(
                relation=Relation.ADD_REMOVE,
                epsilon=Fraction(epsilon),
                expected_persons=int(persons * factor),
            ),
            resolution=256,
            parameters={},
        )
        for name in names
        for epsilon in EPSILONS
    ]


@lru_cache
def rows(names, persons, factor):
    """Rows by mechanism and epsilon: each depends on its own mechanism alone, whatever else is compared."""
    protocol = Protocol(persons=persons, trials=TRIALS, seed=1)
    where = tuple(place for name in FILES for place in places(name, persons))
    where = where[:: max(1, len(where) // TRIALS)][:TRIALS]
    compared = compare(where, mechanisms(names, persons, factor=factor), protocol)
    return {(row.mechanism, row.epsilon): row for row in compared}


@pytest.mark.parametrize("persons", PERSONS)
def test_the_baselines_take_no_guess_of_persons(persons):
    """So that they are released once, for all guesses."""
    right, *wrong = (mechanisms(BASELINES, persons, factor=factor) for factor in FACTORS)
    assert all(right == other for other in wrong)


@pytest.mark.parametrize("factor", FACTORS)
def test_it_stays_far_below_the_baselines(factor):
    """Geometric mean of EMD ratios over two numbers of persons and two epsilons.

    Power: a ratio of two means over 60 trials of the same persons has a standard error of about 6 %, the
    mean of four about 3 %. Seen: 0.48 of sparse-emd, 0.72 of privtree; refused are 0.56 and 0.82, with a
    guess that is wrong by a factor of two 0.62 and 0.92. An adaptive step that is lost (one plain grid
    with all of epsilon, same inference) is at 0.75 of sparse-emd.
    """
    logs = {name: [] for name in BASELINES}
    better = []
    for persons in PERSONS:
        adaptive, baselines = rows(("adaptive",), persons, factor), rows(BASELINES, persons, 1)
        for epsilon in map(float, EPSILONS):
            ours = adaptive["adaptive", epsilon]
            for name, ratios in logs.items():
                other = baselines[name, epsilon]
                ratios.append(np.log(ours.emd / other.emd))
                better.append(
                    (
                        other.kl_mixed - ours.kl_mixed,
                        ours.similarity - other.similarity,
                        ours.pearson - other.pearson,
                    )
                )
    slack = 1 if factor == 1 else 1.12
    assert np.exp(np.mean(logs["sparse-emd"])) < 0.56 * slack
    assert np.exp(np.mean(logs["privtree"])) < 0.82 * slack
    assert (np.mean(better, axis=0) > 0).all()
