"""The experiments on whole records: what they must show, on made-up records."""

import csv

import pytest

from mechanisms.reproduction.exhibit import ExhibitRequest
from mechanisms.reproduction.imola_2024 import frequency, linear

pytestmark = pytest.mark.long


def rows(run, name, folder):
    table, picture = run(ExhibitRequest(name=name, folder=folder))
    assert picture.stat().st_size > 10_000
    with table.open(encoding="utf-8") as file:
        return [
            {key: value if key == "query" else float(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


def test_emd_linear_is_user_level_privacy_at_equal_loss_and_better_beyond(tmp_path, monkeypatch):
    monkeypatch.setattr(linear, "PARTS", (1, 16))
    same, beyond, *_ = rows(linear.run, "metric-linear", tmp_path)
    assert same["k_norm"] == pytest.approx(same["user_level"], rel=0.01)
    assert beyond["k_norm"] == pytest.approx(beyond["user_level"] / 16, rel=0.02)
    # 100 runs of planar noise: the mean length has a standard error of 7 %.
    assert beyond["k_norm_measured"] == pytest.approx(beyond["k_norm"], rel=0.3)
    assert beyond["gaussian_measured"] == pytest.approx(beyond["gaussian"], rel=0.3)
    assert beyond["k_norm_local"] > 20 * beyond["k_norm"]


def test_gkrr_is_below_its_bound_and_crosses_hadamard_response(tmp_path, monkeypatch):
    monkeypatch.setattr(frequency, "ALPHAS", (1.0, 50.0))
    monkeypatch.setattr(frequency, "TRIALS", 1)
    near, far = rows(frequency.run, "metric-frequency", tmp_path)
    for row in (near, far):
        assert 0.1 * row["gkrr_bound"] < row["gkrr"] < row["gkrr_bound"] <= row["theorem_6_6"]
    assert near["gkrr"] > near["hadamard"]
    assert far["gkrr"] < far["hadamard"]
