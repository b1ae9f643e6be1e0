"""Accuracy first: the least ε whose predicted error is small enough."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.contrib.auth.models import User

from heatmaps.releases.epsilon import for_error
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from tests.services import seed

MAP = ReleaseRequest(mechanism="adaptive", epsilon="1", resolution=64)
POINT = ReleaseRequest(mechanism="exponential", epsilon="1", resolution=None)


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward")


@pytest.fixture
def panel(steward):
    return seed.make_dataset(steward, "panel", Relation.REPLACE)


@pytest.mark.parametrize(
    ("question", "error_m"), [(MAP, "9000"), (MAP, "30000.5"), (POINT, "20000"), (POINT, "700")]
)
def test_it_is_the_least_of_two_digits(panel, question, error_m):
    found = for_error.epsilon_for(panel, question, error_m)

    assert found == Fraction(f"{float(found):.2g}")
    before = found - Fraction(10) ** (len(str(int(found))) - 2 if found >= 1 else -_places(found))
    assert for_error.predicted_m(panel, question, found) <= float(error_m)
    assert for_error.predicted_m(panel, question, before) > float(error_m)


def _places(number):
    return len(f"{float(number):.2g}".split(".")[1])


def test_a_part_of_the_region_is_measured_by_its_own_side(panel):
    half = replace(MAP, rectangle=[0, 0, 0.5, 0.5])
    assert for_error.predicted_m(panel, half, Fraction(1)) == pytest.approx(
        for_error.predicted_m(panel, MAP, Fraction(1)) / 2, rel=0.01
    )


def test_it_says_what_can_be_had(panel):
    with pytest.raises(ParameterError, match="predicted for the largest ε") as caught:
        for_error.epsilon_for(panel, MAP, "0.01")
    assert caught.value.parameter == "error_m"


def test_nothing_is_predicted_without_a_number_of_persons(steward):
    unknown = seed.make_dataset(steward, "unknown", expected_persons=None)
    with pytest.raises(ParameterError, match="nothing is predicted here"):
        for_error.epsilon_for(unknown, replace(MAP, mechanism="sparse-emd"), "500")


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "1e400", "٣", "", "1e9"])
def test_it_refuses_what_is_no_distance(panel, wrong):
    with pytest.raises(ParameterError, match="error_m"):
        for_error.epsilon_for(panel, MAP, wrong)
