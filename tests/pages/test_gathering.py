"""What the pages of zones and of places share: sentences of what should stay protected, and a period."""

import json
from fractions import Fraction

import pytest
from django.urls import reverse

from heatmaps import quotes, releases
from heatmaps.models import Event, Release
from heatmaps.releases import ReleaseRequest
from mechanisms.guarantee import Relation
from tests.pages.test_distances import GEOJSON as PLACE
from tests.pages.test_zones import GEOJSON as ZONE
from tests.services import seed

DAY = {"wish1_part": "1/30", "wish1_distance_m": "60000", "wish1_epsilon": "0.2"}
ALL = {"wish2_part": "1", "wish2_distance_m": "3000", "wish2_epsilon": "0.3"}
ASKED = {
    "zones": ("release-zones", "emd-zones", {"zones": json.dumps(ZONE)}),
    "places": ("release-distances", "emd-distances", {"places": json.dumps(PLACE)}),
}


@pytest.fixture(params=ASKED)
def asked(request):
    return ASKED[request.param]


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=2000, limits={"record": "90", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def send(client_of, panel, asked):
    def send(act="quote", **typed):
        address, _, things = asked
        data = {"epsilon": "1", "act": act} | things | typed
        return client_of("analyst").post(reverse(address, args=[panel.slug]), data)

    return send


# 0.2 over 2,000 m and 0.3 over 3,000 m are the same α, which the radius of 2,000 m turns into ε = 0.2.
def test_sentences_become_the_epsilon_that_grants_them(send, panel, asked):
    before = Event.objects.count()
    answer = send(**DAY, **ALL)
    page = answer.content.decode()
    found = answer.context["form"]["epsilon"].value()
    assert Fraction("0.199") <= Fraction(found) <= Fraction("0.2")
    assert "Moving a thirtieth of the record (as a day of a month) by up to 60 km costs ε = 0." in page
    request = ReleaseRequest(mechanism=asked[1], epsilon=found, parameters=asked[2])
    loss = quotes.plan(panel, request).guarantee.loss
    assert loss(2000) <= Fraction("0.2") < loss(2000) * Fraction(101, 100)
    assert loss(3000) <= Fraction("0.3")
    assert Event.objects.count() == before


def test_it_spends_what_was_found_and_the_sentences_can_be_changed(send):
    answer = send(**DAY)
    shown = send(**dict(answer.context["looked_for"].wished) | {"act": "add"}).content.decode()
    assert 'name="wish1_distance_m" value="60000"' in shown
    assert 'details id="planner" open' in shown
    assert "What this release costs" not in shown
    send(**dict(answer.context["typed"]), key="k1")
    assert Fraction(Release.objects.get().epsilon) == Fraction(answer.context["form"]["epsilon"].value())


def test_half_a_sentence_is_refused_where_it_matters(send):
    refused = send(wish1_part="1/30")
    assert refused.status_code == 422
    assert refused.context["quote"] is None
    assert refused.context["wish_form"].errors["wish1_epsilon"]
    added = send(act="add", wish1_part="1/30")
    assert added.status_code == 200
    assert len(added.context["gathered"]) == 1


def test_a_period_is_charged_as_a_whole_record_and_kept(send, panel):
    answer = send(epsilon="0.1", since="2026-03-01", until="2026-03-02", until_time="12:00")
    assert "from 2026-03-01 00:00 to before 2026-03-02 12:00 UTC" in answer.content.decode()
    record, radius = answer.context["quote"].quote.lines[:2]
    assert record.amount == radius.amount > 0.1 * 10**12  # what a whole record costs, in units of 1e-12
    assert answer.context["form"]["until_time"].value() == "12:00"
    send(**dict(answer.context["typed"]), key="k1")
    made = Release.objects.get()
    assert made.until - made.since == 36 * 3600
    releases.run(made.pk)
    assert Release.objects.get().state == "published"


def test_a_period_that_is_none_is_refused_beside_its_field(send):
    answer = send(since="2026-03-02", until="2026-03-01")
    assert answer.status_code == 422
    assert answer.context["form"].errors["until"]
    assert 'details id="part" open' in answer.content.decode()
