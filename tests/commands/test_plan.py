"""`manage.py plan` and its sentences: wishes become a loss per metre, a guarantee becomes sentences."""

import io
import json
from fractions import Fraction

import pytest
from django.core.management import CommandError, call_command

from heatmaps.releases.epsilon.for_protection import rounded_down
from heatmaps.wording.guarantee import sentences
from heatmaps.wording.protection import explained, reach_length
from mechanisms.guarantee import Guarantee, Relation, Term

DAY, MONTH = "1/30,1609344,0.2", "1,160934.4,0.2"


def run(*arguments):
    out = io.StringIO()
    call_command("plan", *arguments, stdout=out)
    return out.getvalue()


def test_it_plans_a_day_and_a_month():
    found = json.loads(run("--protect", DAY, "--protect", MONTH, "--radius-m", "1000", "--json"))
    assert float(found["alpha_per_m"]) == pytest.approx(1.2427e-6, rel=1e-4)
    assert Fraction(found["epsilon"]) <= 1000 * Fraction(2, 1609344)
    said = run("--protect", DAY, "--protect", MONTH)
    assert "Moving a thirtieth of the record (as a day of a month) by 1,609 km on average is" in said
    assert "Moving the whole record by up to 160 km then costs at most ε = 0.2." in said


@pytest.mark.parametrize(
    ("wish", "line"),
    [
        ("2,1,1", "part is 2, allowed:"),
        ("1/0,1,1", "part is 1/0, allowed:"),
        ("1,0,1", "distance_m is 0, allowed:"),
        ("1,1,99", "epsilon is 99, allowed:"),
        ("1,1", "protect is 1,1, allowed: PART,METRES,EPSILON"),
    ],
)
def test_it_names_what_is_wrong(wish, line):
    with pytest.raises(CommandError) as caught:
        run("--protect", wish)
    assert line in str(caught.value)


def rising(**term):
    return Guarantee(relation=Relation.REPLACE, terms=(Term(**term),))


def test_a_rising_guarantee_is_told_in_parts_of_a_record():
    promise = rising(cap=20, alpha_per_m=Fraction(1, 1000))
    (said,) = explained(promise, radius_m=600, diameter_m=15_000)
    assert "the whole record moved by up to 600 m on average" in said
    assert "a tenth of the record moved by up to 6 km on average" in said
    assert "a thirtieth of the record (as a day of a month) moved anywhere in the region" in said
    assert said in sentences(promise, subject="this point", radius_m=600, diameter_m=15_000)


def test_a_flat_guarantee_has_no_such_sentence():
    assert explained(Guarantee.flat(relation=Relation.REPLACE, epsilon=1), radius_m=9, diameter_m=99) == ()


def test_lengths_and_losses_are_rounded_down():
    assert [reach_length(Fraction(metres)) for metres in (999, 1999, 19_999, 1_999_999)] == [
        "999 m",
        "1.99 km",
        "19.9 km",
        "1,999 km",
    ]
    nearly = 1 - Fraction(1, 10**15)
    assert [reach_length(metres * nearly) for metres in (1, 2000, 20_000, 2 * 10**6)] == [
        "0.999 m",
        "1.99 km",
        "19.9 km",
        "1,999 km",
    ]
    assert rounded_down(Fraction(2, 3)) == "0.666666666666"
    assert Fraction(rounded_down(Fraction(1, 804672))) <= Fraction(1, 804672)
