"""`manage.py centroid`: files in, one point out, and a readable line for everything that is wrong."""

import io
import json
from fractions import Fraction

import pytest
from django.core.management import CommandError, call_command

from mechanisms.guarantee import Guarantee, Trust

BOX = "-98.3,29.8,-97.3,31.0"


@pytest.fixture
def city(tmp_path):
    """400 persons around (30.4, -97.8), twice each; one check-in of everybody far outside of the region."""
    path = tmp_path / "city.csv"
    rows = "".join(
        f"p{person},,30.4,-97.7\np{person},,30.4,-97.9\n" + ("p0,,10,10\n" if person == 0 else "")
        for person in range(400)
    )
    path.write_text("user,time,lat,lon\n" + rows)
    return path


def run(*arguments, mechanism="sgdl-shuffle", epsilon="2", radius_m="600"):
    """(stdout, stderr) of the command."""
    out, err = io.StringIO(), io.StringIO()
    fixed = ["--bbox", BOX, "--mechanism", mechanism, "--epsilon", epsilon, "--radius-m", radius_m]
    call_command("centroid", *map(str, arguments), *fixed, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("sgdl-shuffle", ("--cell-m", "100", "--delta", "1e-4")),
        ("geo-shuffle", ("--cell-m", "300", "--delta", "1e-4")),
        ("rr-shuffle", ("--cell-m", "600", "--delta", "1e-4")),
        ("exponential", ("--cell-m", "4")),
        ("geo-local", ("--cell-m", "30")),
    ],
)
def test_it_prints_the_point_its_error_and_what_was_promised(city, mechanism, more):
    printed, said = run(city, *more, "--json", mechanism=mechanism)
    found = json.loads(printed)
    assert set(found) == {"centroid", "expected_error_m", "guarantee", "parameters"}
    # Noise of about 10 to 300 m: a hundredth of a degree is 1 km. One of 800 check-ins is at the border.
    assert found["centroid"]["lat"] == pytest.approx(30.4, abs=0.02)
    assert found["centroid"]["lon"] == pytest.approx(-97.8, abs=0.02)
    assert 0 < found["expected_error_m"] < 400
    assert found["parameters"]["persons"] == 400
    promise = Guarantee.from_json(found["guarantee"])
    assert Fraction(199, 100) < promise.loss(600) <= 2
    assert promise.trust is Trust.CENTRAL
    assert promise.delta == (Fraction(1, 10**4) if "shuffle" in mechanism else 0)
    assert "no ledger was charged" in said


def test_it_says_for_people_what_is_promised_and_how_far_off_it_may_be(city):
    said, _ = run(city)
    assert "devices would do was simulated on stored check-ins" in said
    assert "δ = 1 × 10⁻⁹" in said
    assert "with probability 95 % at most" in said
    assert "Central point (latitude, longitude): " in said


def test_persons_that_are_enrolled_but_not_in_the_files_stand_in_the_middle(tmp_path):
    one = tmp_path / "one.csv"
    one.write_text("user,lat,lon\na,31.0,-97.3\n")
    found = json.loads(run(one, "--persons", "1000", "--json", epsilon="20")[0])
    assert found["centroid"]["lat"] == pytest.approx(30.4, abs=0.01)
    assert found["parameters"]["persons"] == 1000


@pytest.mark.parametrize(
    ("more", "changed", "line"),
    [
        ((), {"mechanism": "laplace"}, "mechanism is laplace, allowed: exponential,"),
        (("--delta", "1e-9"), {"mechanism": "exponential"}, "delta is 1e-9, allowed: 0 or nothing"),
        (("--delta", "0"), {}, "delta is 0, allowed:"),
        (("--persons", "399"), {}, "persons is 399, allowed: at least 400"),
        (("--persons", "many"), {}, "persons is many, allowed:"),
        (("--cell-m", "1"), {}, "--cell-m is 1.0, allowed: at least"),
        (("--parameter", "width=3"), {}, "width is 3, allowed: no such parameter of sgdl-shuffle"),
        ((), {"epsilon": "21"}, "epsilon is 21, allowed:"),
        ((), {"radius_m": "0"}, "--radius-m is 0, allowed:"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(city, more, changed, line):
    with pytest.raises(CommandError) as caught:
        run(city, *more, **changed)
    assert line in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv: No such file"):
        run(tmp_path / "none.csv")
