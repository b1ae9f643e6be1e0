"""`manage.py reproduce`: tables and figures of the papers as CSV and PNG."""

import csv
import io

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from mechanisms.reproduction import registry


def run(*arguments):
    out = io.StringIO()
    call_command("reproduce", *arguments, stdout=out)
    return out.getvalue()


def table_of(name, folder, *arguments):
    """The rows of the CSV file; the picture beside it has its caption."""
    output = run(name, *arguments, "--output", str(folder))
    assert output.splitlines() == [f"written: {folder / name}.{suffix}" for suffix in ("csv", "png")]
    with Image.open(folder / f"{name}.png") as picture:
        assert picture.info["Description"]
        assert len(set(picture.convert("L").tobytes())) > 10
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_without_a_name_it_lists_what_there_is():
    assert [line.split(":")[0].split(" ")[0] for line in run().splitlines()] == list(registry.EXPERIMENTS)


def test_an_unknown_name_and_files_that_are_not_taken_are_refused(tmp_path):
    with pytest.raises(CommandError, match="NAME is table-9, allowed: shuffle-table-2"):
        run("table-9")
    with pytest.raises(CommandError, match=r"FILE is a\.csv, allowed: none"):
        run("shuffle-table-2", str(tmp_path / "a.csv"))


@pytest.mark.long
def test_the_counterexamples_have_their_exact_numbers(tmp_path):
    rows = table_of("shuffle-counterexamples", tmp_path)
    exact = {(row["statement"], row["quantity"]): float(row["exact"]) for row in rows}
    assert exact["Proposition 3", "δ at 100 steps"] == pytest.approx(0.68, abs=0.005)
    assert exact["Theorem 4.1", "δ/2 at 233 steps"] == pytest.approx(0.21, abs=0.005)
    assert exact["Theorem 4.1", "ε_geo up to 10 steps"] == pytest.approx(0.59080534, rel=1e-6)
    assert [float(row["exact"]) for row in rows if row["quantity"] == "padding c"] == [474, 39, 78]


def test_where_the_experiments_are_left_out_it_leads_to_a_checkout(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="mechanisms.reproduction")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(CommandError, match="made from a checkout of Hazemap"):
        run()


def test_without_what_figures_are_drawn_with_it_says_how_to_install_that(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(CommandError, match="matplotlib is not installed; `make setup-lab`"):
        run()
