"""A quote that does not fit says which ε would, and offers to ask for it: without scripts, by one button."""

import re
from html import unescape

import pytest
from django.urls import reverse

from heatmaps.budget import allowances
from heatmaps.models import Release
from mechanisms.guarantee import Relation
from tests.pages.questions import BOTH
from tests.services import seed

OFFER = re.compile(r'<form method="(get|post)" action="([^"]*)#quote">(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'name="([^"]+)" value="([^"]*)"')
FITS = re.compile(r'role="status">The same question fits now with ε of up to <strong>([0-9.]+)</strong>')


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=2000, limits={"record": "90", "radius": "0.3"})
    seed.add_checkins(made)
    return made


def pressed(client, answer):
    """The page behind the button that is offered."""
    method, action, inside = OFFER.search(answer.content.decode()).groups()
    return getattr(client, method)(
        unescape(action), {name: unescape(value) for name, value in FIELD.findall(inside)}
    )


def shown(answer):
    found = FITS.search(answer.content.decode())
    return found and found[1]


def test_the_button_quotes_the_same_question_at_the_epsilon_that_fits(client_of, dataset, queued, question):
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    typed = question(epsilon="1.75", **{"sparse-emd.width": "7"}) | {
        "trusted": "server",
        "since": "2026-03-01",
    }
    refused = analyst.get(address, typed)
    assert shown(refused) == "1.5"
    offered = pressed(analyst, refused)
    assert offered.context["quote"].quote.affordable
    asked = dict(offered.context["typed"])
    assert (asked["epsilon"], asked["sparse-emd.width"], asked["since"]) == ("1.5", "7", "2026-03-01")
    assert asked["trusted"] == "server"
    assert shown(offered) is None
    analyst.post(address, asked)
    assert Release.objects.get(epsilon="3/2").state == "reserved"


def test_it_is_offered_where_spending_was_refused(client_of, dataset, queued, question):
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    refused = analyst.post(address, question(epsilon="1.75"))
    assert (refused.status_code, shown(refused)) == (409, "1.5")
    assert pressed(analyst, refused).status_code == 200


@pytest.mark.parametrize("mechanism", ["emd-linear", "exponential"])
def test_it_is_planned_where_several_accounts_are_charged(client_of, panel, mechanism):
    analyst, address = client_of("analyst"), reverse("release-new", args=[panel.slug])
    refused = analyst.get(address, {"mechanism": mechanism, "epsilon": "3"})
    assert 0.2999 < float(shown(refused)) <= 0.3001
    assert pressed(analyst, refused).context["quote"].quote.affordable


@pytest.mark.parametrize("things", BOTH)
def test_zones_and_places_are_asked_for_again_as_they_are(client_of, panel, things):
    analyst, page = client_of("analyst"), reverse(BOTH[things].page, args=[panel.slug])
    typed = {BOTH[things].parameter: BOTH[things].text}
    refused = analyst.post(page, {"epsilon": "1", "act": "quote"} | typed)
    assert 0.2999 < float(shown(refused)) <= 0.3001
    offered = pressed(analyst, refused)
    assert offered.context["quote"].quote.affordable
    before, after = (dict(answer.context["typed"]) for answer in (refused, offered))
    assert before | {"epsilon": shown(refused)} == after
    assert not Release.objects.exists()


def test_an_allowance_counts_for_whom_it_holds(client_of, dataset, people, question):
    allowed = {"account": "presence", "analyst": "analyst", "allowance": "0.6", "reason": "shares"}
    allowances.change(people["steward"], dataset, **allowed)
    address = reverse("release-new", args=[dataset.slug])
    said = [shown(client_of(name).get(address, question(epsilon="3"))) for name in ("analyst", "steward")]
    assert said == ["0.6", "2"]


def test_nothing_is_offered_without_the_delta_of_a_map_of_check_ins(client_of, panel):
    typed = {"mechanism": "emd-itemwise", "epsilon": "3", "resolution": "16"}
    refused = client_of("analyst").get(reverse("release-new", args=[panel.slug]), typed)
    assert not refused.context["quote"].quote.affordable
    assert shown(refused) is None


def test_nothing_is_offered_where_nothing_fits_or_nothing_is_missing(client_of, dataset, question):
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    assert shown(analyst.get(address, question(epsilon="2"))) is None
    analyst.post(address, question(epsilon="2"))
    refused = analyst.get(address, question(epsilon="1"))
    assert "This cannot be released" in refused.content.decode()
    assert "fits now" not in refused.content.decode()
    assert OFFER.search(refused.content.decode()) is None
