"""What does not fit: the answer says at which ε the same question would, where there is one."""

import pytest

from heatmaps.budget import allowances
from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.guarantee import Relation
from tests.services import seed


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=2000, limits={"record": "7", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def both(api):
    """The quote of a question that is refused, and the refusal."""

    def ask(dataset, body, name="analyst"):
        client = api(name)
        quote = client.send("POST", "quotes", dataset.slug, body=body)
        refusal = client.send("POST", "releases", dataset.slug, body=body)
        assert (quote.status_code, refusal.status_code) == (200, 409)
        return quote.json(), refusal.json()

    return ask


def test_a_limit_tells_what_is_left(api, both, dataset, queued, question):
    quote, refusal = both(dataset, question(epsilon="1.75"))
    assert refusal["code"] == "budget_exceeded"
    assert quote["largest_epsilon"] == refusal["largest_epsilon"] == "1.5"
    taken = api("analyst").send("POST", "releases", dataset.slug, body=question(epsilon="1.5"))
    assert taken.status_code == 202


def test_a_whole_record_is_charged_by_its_distance(api, both, panel):
    body = {"mechanism": "emd-linear", "epsilon": "1"}  # and 78 times that for a whole record
    quote, refusal = both(panel, body)
    found = refusal["largest_epsilon"]
    assert (refusal["account"], quote["largest_epsilon"]) == ("record", found)
    assert 0.089 < float(found) < 0.09
    more = f"{float(found) * 1.0001:.9f}"
    tried = [
        api("analyst").send("POST", "quotes", panel.slug, body=body | {"epsilon": epsilon}).json()
        for epsilon in (found, more)
    ]
    assert [one["affordable"] for one in tried] == [True, False]
    assert tried[0]["largest_epsilon"] is None


def test_an_allowance_tells_what_is_left_of_it(both, dataset, people, question):
    allowed = {"account": "presence", "analyst": "analyst", "allowance": "0.6", "reason": "shares"}
    allowances.change(people["steward"], dataset, **allowed)
    lifecycle.request_release(people["analyst"], dataset, ReleaseRequest(**question(epsilon="0.25")))
    quote, refusal = both(dataset, question(epsilon="1"))
    assert refusal["code"] == "allowance_exceeded"
    assert quote["largest_epsilon"] == refusal["largest_epsilon"] == "0.35"


def test_nothing_is_said_where_nothing_fits(both, dataset, people, question):
    lifecycle.request_release(people["analyst"], dataset, ReleaseRequest(**question(epsilon="2")))
    quote, refusal = both(dataset, question(epsilon="1"))
    assert quote["largest_epsilon"] is None
    assert "largest_epsilon" not in refusal
    assert Release.objects.count() == 1


def test_nothing_is_said_before_the_first_version(both, make_dataset, question):
    quote, refusal = both(make_dataset("empty"), question(epsilon="3"))
    assert (refusal["code"], quote["largest_epsilon"]) == ("no_data_version", None)
    assert "largest_epsilon" not in refusal
