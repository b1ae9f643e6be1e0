"""`manage.py heatmap --relation replace --mechanism emd-itemwise`: whole records of declared persons."""

import json

import numpy as np
import pytest

from mechanisms.guarantee import INFINITY, Guarantee
from tests.commands.test_heatmap import refusal, run

BOX = "-2,40,2,44"
METRIC = ["--relation", "replace", "--radius-m", "30000", "--resolution", "16"]


@pytest.fixture
def town(tmp_path):
    """300 persons in the south-west; each has a check-in outside the box, too, which counts at its border."""
    path = tmp_path / "town.csv"
    rows = "".join(f"{person},,40.6,-1.4\n{person},,40.6,-1.4\n{person},,40.6,-9\n" for person in range(300))
    path.write_text("user,time,lat,lon\n" + rows)
    return path


def drawn(town, *arguments, epsilon="10"):
    return run(town, *METRIC, *arguments, mechanism="emd-itemwise", epsilon=epsilon, box=BOX)


def test_it_draws_a_map_and_states_delta_and_both_losses(town, tmp_path):
    out, _ = drawn(town, "--persons", "300", "--output", tmp_path / "map.npy", "--json")
    promised = Guarantee.from_json(json.loads(out)["guarantee"])
    assert 9.99 < promised.loss(30_000) <= 10 < promised.loss(INFINITY)
    assert float(promised.delta) == 1e-9
    assert promised.simulated
    dense = np.load(tmp_path / "map.npy")
    assert dense[8:, :8].sum() > 0.8
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert sheet["parameters"]["samples"] in (16, 64, 256)


def test_persons_may_be_said_with_the_prediction_and_delta_may_be_chosen(town):
    out, _ = drawn(town, "--expected-persons", "400", "--delta", "1e-6", "--parameter", "samples=1", "--json")
    promised = Guarantee.from_json(json.loads(out)["guarantee"])
    assert promised.loss(1) == promised.loss(INFINITY)
    assert float(promised.delta) == 1e-6


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "persons is missing"),
        (["--persons", "299"], "persons is 299, allowed: at least 300"),
        (["--persons", "300", "--rectangle", "-1,41,1,43"], "rectangle is"),
        (["--persons", "300", "--delta", "0"], "delta is 0"),
        (["--persons", "300", "--relation", "add_remove"], "--radius-m is 30000"),
    ],
)
def test_it_refuses_what_it_cannot_do(town, arguments, complaint):
    assert complaint in refusal(town, *METRIC, *arguments, mechanism="emd-itemwise", epsilon="1", box=BOX)
