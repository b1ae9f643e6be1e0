"""The page of a release in each of its states, its map, its table, its files."""

import pytest
from django.urls import reverse

from heatmaps import releases
from heatmaps.ledger import transitions
from heatmaps.models import Release


@pytest.fixture
def page(client_of):
    def get(release, person="analyst", name="release", **options):
        return client_of(person).get(reverse(name, args=[release.pk]), **options)

    return get


def test_it_says_that_a_release_is_queued_and_looks_again(page, queued):
    body = page(queued).content.decode()

    assert "The budget is reserved" in body
    assert reverse("release-state", args=[queued.pk]) in body
    assert "hazemap/release.js" in body
    assert "<iframe" not in body
    assert page(queued, name="release-state").json() == {"state": "queued"}
    assert page(queued, name="release-map").status_code == 404


def test_it_gives_the_budget_back_when_a_queued_release_is_cancelled(client_of, page, queued, dataset):
    answer = client_of("analyst").post(reverse("release-cancel", args=[queued.pk]), follow=True)

    assert "its charge is back in the budget" in answer.content.decode()
    assert dataset.accounts.get(kind="presence").committed == 0
    assert "cancelled before it began" in page(queued).content.decode()


def test_it_lets_nobody_cancel_what_somebody_else_asked_for(client_of, page, queued):
    answer = client_of("steward").post(reverse("release-cancel", args=[queued.pk]))

    assert answer.status_code == 403
    assert "Cancel and give" not in page(queued, "steward").content.decode()
    assert Release.objects.get().state == "reserved"


def test_it_says_when_it_is_too_late_to_cancel(client_of, queued):
    transitions.spend(queued.pk)

    answer = client_of("analyst").post(reverse("release-cancel", args=[queued.pk]), follow=True)

    assert "can no longer be cancelled" in answer.content.decode()
    assert Release.objects.get().state == "spent"


def test_it_keeps_the_reason_of_a_failure_to_itself(page, queued):
    transitions.spend(queued.pk)
    transitions.fail(queued.pk)

    body = page(queued).content.decode()

    assert "This release has no result" in body
    assert "Its charge stays" in body


def test_it_shows_the_map_in_a_frame_of_its_own_and_the_same_as_a_table(page, published):
    answer = page(published)

    body = answer.content.decode()
    assert f'src="{reverse("release-map", args=[published.pk])}"' in body
    assert "<table" in body
    heatmap = releases.heatmap_of(published)
    first = answer.context["rows"][0]
    assert float(first.persons) == pytest.approx(heatmap.values.max(), rel=0.01)
    assert first.persons in body


def test_it_states_the_promise_of_the_release_and_of_all_together(page, published, client_of, question):
    address = reverse("release-new", args=[published.dataset.slug])
    client_of("analyst").post(address, question(epsilon="1"))

    body = page(published).content.decode()

    assert "presence ε = 0.5" in body
    assert "all releases of this dataset so far together" in body
    assert "presence ε = 1.5" in body


def test_it_allows_its_own_pages_to_frame_the_map(page, published):
    answer = page(published, name="release-map")

    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in answer["Content-Security-Policy"]
