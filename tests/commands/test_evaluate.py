"""`manage.py evaluate`: the table of the paper, on real or synthetic check-ins."""

import io
import json
import os

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from mechanisms.central.sparse_emd import reconstruction

DATA = os.environ.get("HAZEMAP_TEST_DATA")
KEYS = {
    "mechanism", "epsilon", "persons", "trials", "emd", "emd_se", "emd_metres", "kl", "kl_se", "kl_mixed",
    "kl_mixed_se", "similarity", "similarity_se", "pearson", "pearson_se", "sigma", "resolution", "seconds",
    "guided",
}  # fmt: skip


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """40 persons in each of two cells of the partition, some in both."""
    rng = np.random.default_rng(8)
    path = tmp_path_factory.mktemp("towns") / "towns.csv"
    lines = ["user,lat,lon"]
    for first, (lat, lon) in ((0, (30.2, -97.9)), (30, (40.55, -74.1))):
        for person in range(first, first + 40):
            spread = rng.normal(0, 0.01, (5, 2))
            lines += [f"{person},{lat + a:.6f},{lon + b:.6f}" for a, b in spread]
    path.write_text("\n".join(lines))
    return path


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command("evaluate", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def small(file, *more):
    return [file, "--persons", 20, "--trials", 4, "--resolution", 32, *more]


def named(*more):
    return ["--mechanisms", "sparse-emd,laplace", "--epsilons", "0.5,5", *more]


def test_it_gives_a_row_for_each_mechanism_and_epsilon(towns):
    out, _ = run(*small(towns, "--cells", 2, "--json", *named()))
    rows = json.loads(out)["rows"]
    order = [("sparse-emd", 0.5), ("sparse-emd", 5.0), ("laplace", 0.5), ("laplace", 5.0)]
    assert [(row["mechanism"], row["epsilon"]) for row in rows] == order
    for row in rows:
        assert set(row) == KEYS
        assert (row["persons"], row["trials"], row["sigma"], row["resolution"]) == (20, 4, 4.0, 32)
        assert 0 < row["emd"] < 2
        assert row["emd_metres"] > 1000 * row["emd"]
    assert rows[1]["emd"] < rows[0]["emd"]


def test_it_repeats_itself_for_a_seed_which_is_0_by_default(towns):
    def without_seconds(*more):
        out, _ = run(*small(towns, "--cells", 2, "--trials", 2, "--json", *named(*more)))
        return [row | {"seconds": None} for row in json.loads(out)["rows"]]

    assert without_seconds() == without_seconds("--seed", "0")
    assert without_seconds() != without_seconds("--seed", "1")


def test_it_prints_a_table_that_names_sigma(towns):
    out, _ = run(*small(towns, "--cells", 1, "--sigma", "2.5", *named()))
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["mechanism", "epsilon", "emd"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["sparse-emd", "0.5"], ["sparse-emd", "5"], ["laplace", "0.5"], ["laplace", "5"],
    ]  # fmt: skip
    assert "σ = 2.5 cells" in lines[5]
    assert " ± " in lines[1]


def test_it_takes_a_box_as_the_one_cell(towns):
    out, _ = run(
        *small(towns, "--bbox", "-98.0,30.0,-97.8,30.4", "--emd-exact", "--json"),
        *("--mechanisms", "laplace-top", "--epsilons", "1"),
    )
    assert [row["mechanism"] for row in json.loads(out)["rows"]] == ["laplace-top"]


def test_it_writes_null_for_the_error_of_a_single_trial(towns):
    arguments = [towns, "--persons", 5, "--trials", 1, "--resolution", 32, "--cells", 1, "--json", *named()]
    assert json.loads(run(*arguments)[0])["rows"][0]["emd_se"] is None


def test_it_says_when_there_are_fewer_cells(towns):
    _, err = run(*small(towns, "--cells", 5, *named()))
    assert "only 2 cells have 20 persons" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cells", "1", *named("--persons", "41")], "persons is 41, .* none has so many"),
        (["--bbox", "-98.0,30.0,-97.8,30.4", *named("--persons", "41")], "at most 40"),
        (["--bbox", "0,0,1,1", *named()], "at most 0"),
        (["--bbox", "1,0,0,1", *named()], "antimeridian"),
        (["--cells", "0", *named()], "cells is 0,"),
        (["--cells", "x", *named()], "cells is x,"),
        (["--cells", "1", "--mechanisms", "magic", "--epsilons", "1"], "mechanism is magic,"),
        (["--cells", "1", "--mechanisms", "laplace", "--epsilons", "1,nan"], "epsilons is nan,"),
        (["--cells", "1", "--mechanisms", "laplace", "--epsilons", "1e400"], "epsilons is 1e400,"),
        (["--cells", "1", "--mechanisms", "laplace", "--epsilons", "0"], "epsilons is 0,"),
        (["--cells", "1", *named("--trials", "0")], "trials is 0,"),
        (["--cells", "1", *named("--sigma", "-1")], "sigma is -1,"),
        (["--cells", "1", *named("--resolution", "48")], "resolution is 48"),
        (["--cells", "1", *named("--resolution", "512", "--emd-exact")], "from 2 to 256"),
        (["--cells", "1", *named("--seed", "-1")], "seed is -1,"),
        (["--cells", "1", *named("--split", "left")], "invalid choice: 'left'"),
        (["--cells", "1", "--bbox", "0,0,1,1", *named()], "not allowed with"),
        ([*named()], "one of the arguments --bbox --cells is required"),
    ],
)
def test_it_refuses_what_is_wrong_in_one_line(towns, arguments, words):
    with pytest.raises(CommandError, match=words):
        run(*small(towns, *arguments))


def test_it_refuses_files_it_cannot_read(tmp_path):
    with pytest.raises(CommandError, match=r"missing\.csv: No such file"):
        run(*small(tmp_path / "missing.csv", "--cells", 1, *named()))


@pytest.mark.long
@pytest.mark.skipif(DATA is None, reason="needs HAZEMAP_TEST_DATA, the folder with real check-ins")
def test_it_agrees_with_an_independent_implementation(monkeypatch):
    gowalla = (f"{DATA}/gowalla_u5628.csv.gz", "--cells", 12, "--persons", 200, "--trials", 120, "--json")
    spread, _ = run(*gowalla, "--mechanisms", "sparse-emd", "--epsilons", "5")
    # The other program keeps what its solver gives the first of several left-out cells.
    monkeypatch.setattr(reconstruction, "_spread", lambda _, persons: persons)
    out, _ = run(*gowalla, "--mechanisms", "sparse-emd,laplace", "--epsilons", "0.5,1,2,5")
    rows = json.loads(out)["rows"]
    # sparse-emd: (mean, standard error) of another program with other random numbers on the same data
    others = [(0.1307, 0.0024), (0.0831, 0.0014), (0.0522, 0.0009), (0.0300, 0.0005)]
    for row, (emd, error) in zip(rows[:4], others, strict=True):
        assert row["emd"] == pytest.approx(emd, rel=0.1)
        assert abs(row["emd"] - emd) < 4 * np.hypot(row["emd_se"], error)
    for row in rows[4:]:
        assert row["emd"] == pytest.approx(0.43, abs=0.02)
    assert json.loads(spread)["rows"][0]["emd"] < 0.92 * rows[3]["emd"]
