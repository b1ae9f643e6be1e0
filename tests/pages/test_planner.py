"""The page of a new release: sentences of what should stay protected, and the mechanisms it shows first."""

import re
from fractions import Fraction

import pytest
from django.urls import reverse

from heatmaps.models import Event
from heatmaps.regions import region_of
from heatmaps.releases.epsilon import for_protection
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from mechanisms.guarantee import Relation
from mechanisms.metric.protection_planner import spent
from tests.services import seed

DAY = {"wish1_part": "1/30", "wish1_distance_m": "60000", "wish1_epsilon": "0.2"}
OPEN = {"open": "method"}  # the list of mechanisms
ALL = {"wish2_part": "1", "wish2_distance_m": "3000", "wish2_epsilon": "0.3"}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=2000, limits={"record": "90", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def asked(client_of, panel):
    """GET of the page with a question and sentences typed."""

    def ask(mechanism="emd-linear", **typed):
        typed = {"mechanism": mechanism, "epsilon": "1", "resolution": "64"} | typed
        return client_of("analyst").get(reverse("release-new", args=[panel.slug]), typed)

    return ask


def found(answer):
    return Fraction(answer.context["form"]["epsilon"].value())


def loss(panel, request, wish):
    diameter_m = region_of(panel).diameter_m
    return spent(Plan.of(panel, request).guarantee, wish, diameter_m=diameter_m)


# 0.2 over 2,000 m and 0.3 over 3,000 m are the same α, which the radius of 2,000 m turns into ε = 0.2.
def test_two_sentences_become_the_epsilon_of_the_release(asked):
    before = Event.objects.count()
    answer = asked(**DAY, **ALL)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert Fraction("0.1999") <= found(answer) <= Fraction("0.2")
    assert "Moving a thirtieth of the record (as a day of a month) by up to 60 km costs ε = 0." in page
    assert "Spend and publish" in page
    assert Event.objects.count() == before
    again = re.search(r'href="(\?[^"]*again=1)#planner"', page)[1].replace("&amp;", "&")
    shown = answer.client.get(answer.request["PATH_INFO"] + again).content.decode()
    assert 'name="wish2_distance_m" value="3000"' in shown
    assert 'id="planner"' in shown
    assert "What this release costs" not in shown


@pytest.mark.parametrize(
    ("mechanism", "wished"),
    [
        ("emd-linear", ("1/100", "700", "0.01")),
        ("emd-linear", ("1", "900000", "3")),  # farther than the region goes
        ("exponential", ("1", "5000", "1.5")),
        ("frequency", ("1/30", "5000", "1.5")),
        ("sgdl-shuffle", ("1/100", "700", "0.01")),
    ],
)
def test_the_guarantee_of_the_release_grants_what_was_wished(panel, mechanism, wished):
    entry = 64 if mechanism == "frequency" else None
    request = ReleaseRequest(mechanism=mechanism, epsilon="1", resolution=entry)
    wish = for_protection.wish(*wished)
    epsilon = for_protection.epsilon_for(panel, request, [wish])
    for factor, grants in ((1, True), (Fraction(101, 100), False)):
        asked = ReleaseRequest(
            mechanism=mechanism, epsilon=for_protection.rounded_down(epsilon * factor), resolution=entry
        )
        assert (loss(panel, asked, wish) <= wish.epsilon) is grants


def test_a_period_costs_a_whole_record_and_the_plan_knows(asked):
    assert found(asked(**ALL, since="2026-03-01")) < Fraction("0.1") < found(asked(**ALL))


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        (DAY | {"wish1_part": "2"}, "wish1_part"),
        (DAY | {"wish1_distance_m": "-1"}, "wish1_distance_m"),
        (DAY | {"wish2_epsilon": "0.1"}, "wish2_part"),
        (DAY | {"wish1_epsilon": "21"}, "wish1_epsilon"),
    ],
)
def test_errors_are_beside_their_fields(asked, typed, field):
    answer = asked(**typed)
    assert answer.status_code == 422
    assert answer.context["wish_form"].errors[field]
    assert answer.context["quote"] is None
    assert f'id="id_{field}_error"' in answer.content.decode()


def test_either_an_error_or_sentences(asked):
    answer = asked(**DAY, error_m="900")
    assert answer.status_code == 422
    assert "nothing beside sentences" in str(answer.context["form"].errors["error_m"])


def test_it_is_for_datasets_with_a_distance(client_of, dataset):
    typed = {"open": "protect"}
    page = client_of("analyst").get(reverse("release-new", args=[dataset.slug]), typed).content.decode()
    assert 'id="planner"' not in page
    assert 'value="protect"' not in page.replace('name="open" value="protect"', "")


def shown_first(page):
    """Names of the mechanisms outside of what is folded away, and whether that is open."""
    outside = re.sub(r'<details class="others".*?</details>', "", page, flags=re.DOTALL)
    return re.findall(r'name="mechanism" value="([\w-]+)"', outside), 'class="others" open' in page


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ({}, "adaptive"),
        ({"protects": "moves"}, "emd-linear"),
        ({"trusted": "server", "protects": "moves"}, "emd-linear"),
        ({"trusted": "shuffler"}, "shuffle-emd"),
        ({"trusted": "shuffler", "protects": "moves"}, "emd-itemwise"),  # the only map of these
    ],
)
def test_what_is_chosen_from_the_start_fits_and_is_usual_where_it_can_be(client_of, panel, answers, chosen):
    answers = answers | {"open": "method"}
    page = client_of("analyst").get(reverse("release-new", args=[panel.slug]), answers).content.decode()
    assert re.findall(r'name="mechanism" value="([\w-]+)"[^>]* checked', page) == [chosen]


def test_a_newcomer_sees_the_few_that_matter(client_of, panel, dataset):
    analyst, address = client_of("analyst"), reverse("release-new", args=[panel.slug])
    assert 'value="sparse-emd"' not in analyst.get(address).content.decode()
    page = analyst.get(address, OPEN).content.decode()
    assert shown_first(page) == (["adaptive", "sparse-emd", "k-median", "emd-linear"], False)
    assert 'value="laplace"' in page
    chosen = analyst.get(address, OPEN | {"mechanism": "laplace", "epsilon": "1", "resolution": "64"})
    assert shown_first(chosen.content.decode())[1]
    assert shown_first(analyst.get(address, {"trusted": "shuffler"}).content.decode())[1]
    plain = analyst.get(reverse("release-new", args=[dataset.slug]), OPEN).content.decode()
    assert shown_first(plain) == (["adaptive", "sparse-emd", "k-median"], False)
