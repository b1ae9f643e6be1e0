"""Accuracy first: the least ε whose predicted error is small enough."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.contrib.auth.models import User

from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.releases.epsilon import for_error
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.draws import carry_out

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
    with pytest.raises(ParameterError, match="the least predicted for any ε") as caught:
        for_error.epsilon_for(panel, MAP, "0.01")
    assert caught.value.parameter == "error_m"


def test_nothing_is_predicted_without_a_number_of_persons(steward):
    unknown = seed.make_dataset(steward, "unknown", expected_persons=None)
    with pytest.raises(ParameterError, match="nothing is predicted here"):
        for_error.epsilon_for(unknown, replace(MAP, mechanism="sparse-emd"), "500")


def test_it_is_the_least_where_another_way_of_measuring_begins(steward, monkeypatch):
    """1,000 people: at ε = 1 the error jumps up."""
    crowd = seed.make_dataset(steward, "crowd", expected_persons=1000)
    epsilons = [epsilon for stretch in for_error._falling(crowd, MAP) for epsilon in stretch]
    assert epsilons == sorted({*epsilons})
    assert (epsilons[0], epsilons[-1]) == (Fraction(1, 1000), 20)
    predicted = {epsilon: for_error.predicted_m(crowd, MAP, epsilon) for epsilon in epsilons[150:350]}
    # As if walks were far more accurate than rounds, and with a guide more so.
    tenth = Fraction(1, 10)
    steps = {epsilon: 0.2 if epsilon < tenth else 0.1 if epsilon <= 1 else 1 for epsilon in predicted}
    monkeypatch.setattr(for_error, "predicted_m", lambda _dataset, _request, one: predicted[one] * steps[one])
    monkeypatch.setattr(for_error, "_CHOICES", tuple(predicted))
    errors = {epsilon: predicted[epsilon] * steps[epsilon] for epsilon in predicted}
    for wished in sorted(errors.values())[::20]:
        least = min(epsilon for epsilon, error in errors.items() if error <= wished)
        assert for_error.epsilon_for(crowd, MAP, f"{wished + 1e-6:.6f}") == least


def test_with_a_guide_it_is_one_at_which_a_guide_may_be_named(steward):
    crowd = seed.make_dataset(steward, "crowd", expected_persons=1000)
    release = publish_at_once(crowd, steward)
    guided = replace(MAP, guide=str(release.pk))
    for error_m, epsilon in (("100000", Fraction(1, 10)), ("8000", None)):
        found = for_error.epsilon_for(crowd, guided, error_m)
        assert Fraction(1, 10) <= found <= 1
        assert epsilon in (None, found)
        assert for_error.predicted_m(crowd, guided, found) <= float(error_m)
    with pytest.raises(for_error.TooExact, match="the least predicted for any ε with a guide") as caught:
        for_error.epsilon_for(crowd, guided, "1")
    assert caught.value.parameter == "error_m"
    assert caught.value.least_m == for_error.predicted_m(crowd, guided, Fraction(1))
    few = replace(guided, parameters={"expected_persons": "4"})
    for question, allowed in (
        (replace(guided, guide="no-such"), "the id of a published map"),
        (few, "none for this number of people, one for 5 to 1,000,000"),
    ):
        with pytest.raises(ParameterError) as caught:
            for_error.epsilon_for(crowd, question, "8000")
        assert (caught.value.parameter, caught.value.value) == ("guide", question.guide)
        assert caught.value.allowed.startswith(allowed)


def publish_at_once(dataset, steward):
    seed.add_checkins(dataset)
    release = lifecycle.request_release(steward, dataset, MAP)
    carry_out(release.pk)
    return Release.objects.get(pk=release.pk, state="published")


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "1e400", "٣", "", "1e9"])
def test_it_refuses_what_is_no_distance(panel, wrong):
    with pytest.raises(ParameterError, match="error_m"):
        for_error.epsilon_for(panel, MAP, wrong)
