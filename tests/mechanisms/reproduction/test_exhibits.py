"""Every table and figure of the registry, made small: it writes its rows and a picture with a caption."""

import csv
import gzip
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

from mechanisms.catalogue.registry import entries
from mechanisms.evaluation.places import cell_numbers
from mechanisms.guarantee import Relation
from mechanisms.reproduction import exhibit, heatmap_choice
from mechanisms.reproduction.athanasiou_2025 import audit, counterexamples, table_2, table_3
from mechanisms.reproduction.athanasiou_2025 import figures as shuffle_figures
from mechanisms.reproduction.boedihardjo_2024 import examples
from mechanisms.reproduction.exhibit import ExhibitRequest
from mechanisms.reproduction.ghazi_2022 import figures, k_median_costs, shuffled_figures, slopes
from mechanisms.reproduction.imola_2024 import frequency, linear
from mechanisms.reproduction.registry import EXPERIMENTS, reproduce

PERSONS = 24
FIGURE = {
    "PERSONS": PERSONS,
    "COUNTS": (8, PERSONS),
    "RESOLUTIONS": (16, 32),
    "EPSILONS": ("1",),
    "TRIALS": 2,
}
# Names of what is made smaller in the experiment's module, and how many rows are left of it.
SMALL = {
    "shuffle-table-2": (
        table_2,
        {"PRINTED": table_2.PRINTED[:1], "DOMAIN": 20, "RUNS": 9},
        1,
    ),
    "shuffle-table-3": (
        table_3,
        {"PRINTED": table_3.PRINTED[:1], "RUNS": 2, "MANY_RUNS": 2},
        1,
    ),
    "shuffle-boost": (shuffle_figures, {"_PERSONS": (5,)}, 2),
    "shuffle-compromised": (shuffle_figures, {"_PERSONS": (200,)}, 1),
    "shuffle-counterexamples": (counterexamples, {"_theorem_4_1": tuple, "_theorem_3_1": tuple}, 11),
    "shuffle-audit": (audit, {"DRAWS": 400}, 10),
    "metric-linear": (linear, {"PARTS": (1, 4), "RUNS": 2}, 4),
    "metric-frequency": (frequency, {"ALPHAS": (1.0,), "PERSONS": 50, "TRIALS": 1}, 1),
    "geometry-examples": (examples, {"ALPHAS": (2.0,), "DECAYS": (Fraction(1, 2),)}, 14),
    "heatmap-slopes": (
        slopes,
        {"DENSE_PERSONS": (64, 256), "SPARSE_PERSONS": (64, 256), "DRAWS": 2},
        4,
    ),
    "k-median-costs": (
        k_median_costs,
        {"PERSONS": PERSONS, "RESOLUTION": 16, "CENTRES": (2,), "EPSILONS": ("1", "5"), "TRIALS": 2},
        2,
    ),
    "heatmap-choice": (
        heatmap_choice,
        {"PERSONS": (8, PERSONS), "EPSILONS": ("1",), "RESOLUTION": 32, "TRIALS": 2},
        2 * len(entries(relation=Relation.ADD_REMOVE, kind="heatmap")),
    ),
    "heatmap-figure-1": (figures, FIGURE, 5),
    "heatmap-figure-2": (figures, FIGURE | {"COUNTS": (PERSONS,), "RESOLUTIONS": (32,)}, 10),
    "heatmap-figure-4": (figures, FIGURE, 10),
    "heatmap-figure-5": (figures, FIGURE, 10),
    "heatmap-figure-6": (figures, FIGURE, 10),
    "heatmap-figure-7": (figures, FIGURE, 10),
    "heatmap-figure-10": (figures, {"TRIALS": 1}, 20),
    "heatmap-figure-11": (figures, {"TRIALS": 1}, 25),
    "heatmap-figure-12": (shuffled_figures, {"PARTS": (4, 64)}, 2),
    "heatmap-figure-13": (
        shuffled_figures,
        {"PARTS": (4, 64), "PERSONS": PERSONS, "RESOLUTION": 32, "TRIALS": 2},
        3,
    ),
}
# The same code with other numbers, and what takes a second however small.
LONG = {
    *("shuffle-table-3", "shuffle-compromised", "shuffle-audit", "metric-frequency", "geometry-examples"),
    *(f"heatmap-figure-{number}" for number in (4, 5, 6, 7, 10, 11)),
}


@pytest.fixture(scope="module")
def check_ins(tmp_path_factory):
    """A file of persons around one town, in one cell of the half that choices are reported on."""
    path = tmp_path_factory.mktemp("check-ins") / "town.csv.gz"
    random = np.random.default_rng(7)
    lat, lon = 29.75 + random.normal(0, 0.01, 200), -95.375 + random.normal(0, 0.01, 200)
    with gzip.open(path, "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("user", "time", "lat", "lon"))
        rows.writerows(
            (i % 2 * 13 + i % 40, "", *place) for i, place in enumerate(zip(lat, lon, strict=True))
        )
    assert np.unique(cell_numbers(lat, lon)).size <= 4
    return path


def test_every_experiment_is_made_here():
    assert set(SMALL) == set(EXPERIMENTS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in SMALL]
)
def test_it_writes_its_rows_and_a_picture_with_its_caption(name, tmp_path, monkeypatch, check_ins):
    module, smaller, count = SMALL[name]
    monkeypatch.setattr(exhibit, "DPI", 20)
    for attribute, value in smaller.items():
        monkeypatch.setattr(module, attribute, value)
    files = (check_ins,) if EXPERIMENTS[name].files and "table-3" not in name else ()

    table, picture = reproduce(ExhibitRequest(name=name, folder=tmp_path, files=files))

    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == count
    assert all(row[column] not in ("inf", "-inf") for row in rows for column in row)
    with Image.open(picture) as image:
        assert len(image.info["Description"]) > 100
        assert "{" not in image.info["Description"]
        assert len(set(image.convert("L").tobytes())) > 10
