"""`manage.py calibrate`: a target becomes parameters, a guarantee and an expected error."""

import io
import json
from fractions import Fraction

import pytest
from django.core.management import CommandError, call_command

from heatmaps.management import calibrating
from mechanisms.catalogue import local
from mechanisms.guarantee import INFINITY, Guarantee, Trust

LOCAL = [entry.name for entry in local.entries()]


def run(*arguments):
    out = io.StringIO()
    call_command("calibrate", *arguments, stdout=out)
    return out.getvalue()


def refusal(*arguments):
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", LOCAL)
def test_local_mechanisms_count_in_cells(name):
    found = json.loads(
        run(name, "--epsilon", "0.5", "--domain", "5", "--radius", "2", "--max-reports", "3", "--json")
    )
    promise = Guarantee.from_json(found["guarantee"])
    assert (found["unit"], promise.trust, promise.terms[0].offset_m) == ("cells", Trust.LOCAL, 0)
    assert 0.99 * 1.5 < promise.loss(2) <= 1.5
    assert (found["parameters"]["cells_a_side"], found["parameters"]["max_reports"]) == (5, 3)
    assert 0 < found["expected_error"]["expected"] <= found["expected_error"]["within_95_percent"]


@pytest.mark.parametrize(("name", "error"), [("planar-geometric", 2.009), ("optimal", 1.620)])
def test_errors_are_those_of_an_independent_library(name, error):
    found = json.loads(run(name, "--epsilon", "0.5", "--domain", "5", "--json"))
    assert found["expected_error"]["expected"] == pytest.approx(error, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "own"), [("exponential", {"spacing_m"}), ("emd-linear", set()), ("geo-local", {"cell_m"})]
)
def test_a_central_point_counts_in_metres(name, own):
    arguments = (name, "--epsilon", "0.5", "--n", "200", "--radius", "600", "--domain", "100000")
    found = json.loads(run(*arguments, "--json"))
    promise = Guarantee.from_json(found["guarantee"])
    assert (found["unit"], promise.trust) == ("m", Trust.CENTRAL)
    assert 0.49 < promise.loss(600) <= 0.5
    assert set(found["parameters"]) == {"persons", "radius_m"} | own
    assert "loss at 600 m: ε = " in run(*arguments)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("sgdl-shuffle", {"epsilon_geo", "shape", "padding"}),
        ("geo-shuffle", {"epsilon_geo", "shape", "padding"}),
        ("rr-shuffle", {"flip"}),
    ],
)
def test_shuffled_sums_count_in_steps_and_say_what_a_colluding_shuffler_leaves(name, own):
    arguments = (name, "--n", "100", "--epsilon", "1", "--delta", "1e-4", "--radius", "4", "--domain", "20")
    found = json.loads(run(*arguments, "--json"))
    promise = Guarantee.from_json(found["guarantee"])
    assert (found["unit"], promise.trust, promise.delta) == ("steps", Trust.SHUFFLE, Fraction(1, 10**4))
    assert 0.99 < promise.loss(4) <= 1
    assert promise.loss(5) == INFINITY
    assert promise.if_shuffler_fails.trust is Trust.LOCAL
    assert set(found["parameters"]) == {"persons", "domain", "bits"} | own
    assert found["parameters"]["bits"] >= 20
    assert 0 < found["expected_error"]["standard_error"] < 5


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nothing", "--epsilon", "1"), "NAME is nothing, allowed: planar-geometric"),
        (("geo-local", "--epsilon", "0"), "epsilon is 0, allowed:"),
        (("geo-local", "--epsilon", "1", "--delta", "0.1"), "delta is 0.1, allowed: 0"),
        (("planar-laplace", "--epsilon", "1", "--n", "5"), "n is 5, allowed: nothing"),
        (("geo-local", "--epsilon", "1", "--n", "5"), "radius is missing, allowed: the metres"),
        (("geo-local", "--epsilon", "1", "--domain", "1"), "domain is 1, allowed:"),
        (("optimal", "--epsilon", "1", "--domain", "16"), "domain is 16, allowed:"),
        (("geo-local", "--epsilon", "1", "--radius", "0"), "radius is 0, allowed:"),
        (("sgdl-shuffle", "--epsilon", "1"), "n is missing, allowed: the least number of honest"),
        (("sgdl-shuffle", "--epsilon", "1", "--n", "9", "--domain", "0"), "domain is 0, allowed:"),
        (("exponential", "--epsilon", "1"), "n is missing, allowed: the declared number"),
        (("exponential", "--epsilon", "1", "--max-reports", "2"), "--max-reports is 2, allowed: nothing"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(arguments, line):
    assert line in refusal(*arguments)


def test_every_local_mechanism_can_be_calibrated():
    assert set(LOCAL) < set(calibrating.names())
