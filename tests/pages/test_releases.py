"""The page of a release in each of its states, its map, its table, its files."""

import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from heatmaps import queries
from heatmaps.ledger import transitions
from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.wording.release import error_words, for_dataset, for_release
from mechanisms.catalogue import registry
from tests.pages.word_count import RELEASE, released_words
from tests.services import draws


@pytest.fixture
def page(client_of):
    def get(release, person="analyst", name="release", **options):
        return client_of(person).get(reverse(name, args=[release.pk]), **options)

    return get


def test_it_says_that_a_release_is_queued_and_looks_again(page, queued):
    body = page(queued).content.decode()

    assert reverse("release-state", args=[queued.pk]) in body
    assert "hazemap/release.js" in body
    assert "<iframe" not in body
    assert len(released_words(body)) <= RELEASE
    assert page(queued, name="release-state").json() == {"state": "queued", "seconds": 0}
    shown = f"{queued.visible_at:%Y-%m-%d %H:%M:%S} UTC"
    assert re.search(f"appears at <time [^>]+>{shown}</time>", body)
    for name in ("release-map", "release-thumbnail", "release-og-image"):
        assert page(queued, name=name).status_code == 404


def test_it_gives_the_budget_back_when_a_queued_release_is_cancelled(
    start_later, client_of, page, queued, dataset
):
    answer = client_of("analyst").post(reverse("release-cancel", args=[queued.pk]), follow=True)

    assert "its charge is back in the budget" in answer.content.decode()
    assert dataset.accounts.get(kind="presence").committed == 0
    body = page(queued).content.decode()
    assert "cancelled before it began" in body
    assert "<dt>Would have cost</dt>" in body
    assert len(released_words(body)) <= RELEASE


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
    draws.fail(queued.pk)

    body = page(queued).content.decode()

    assert "This release has no result" in body
    assert "Its charge stays" in body
    assert len(released_words(body)) <= RELEASE


def test_it_shows_the_map_in_a_frame_of_its_own_and_the_same_as_a_table(page, published):
    answer = page(published)

    body = answer.content.decode()
    assert f'src="{reverse("release-map", args=[published.pk])}"' in body
    assert "<table" in body
    heatmap = lifecycle.heatmap_of(published)
    first = answer.context["table"]["rows"][0]
    assert float(first["persons"]) == pytest.approx(heatmap.values.max(), rel=0.01)
    assert first["persons"] in body


def test_it_states_the_promise_of_the_release_and_of_all_together(page, published, client_of, question):
    address = reverse("release-new", args=[published.dataset.slug])
    client_of("analyst").post(address, question(epsilon="1"))

    body = page(published).content.decode()

    assert "a factor of at most 1.65 (presence ε = 0.5). <a" in body
    assert "presence ε = 1.5" in body
    sheet = page(published, name="release-sheet").content.decode()
    assert "a factor of at most 1.65 (presence ε = 0.5)." in sheet
    assert "all releases of this dataset so far together" in sheet
    assert "presence ε = 1.5" in sheet


def test_the_sheet_tells_what_the_page_leaves_out(page, published):
    sheet = page(published, name="release-sheet").content.decode()

    for sentence in (*for_release(published), *for_dataset(published.dataset)):
        assert f"<li>{escape(sentence)}</li>" in sheet
    error = error_words(published.mechanism, published.expected_error, queries.released_region(published))
    told = (error.size, error.quantity, error.assumptions, registry.get(published.mechanism).summary)
    assert all(escape(text) in sheet for text in told)
    api = reverse("api:heatmap", args=[published.pk, "geojson"])
    for copied in (published.result.sha256, f"http://testserver{api}"):
        assert f'data-copy="text" data-text="{copied}"' in sheet


def test_what_is_promised_can_be_read_before_there_is_a_result(page, queued):
    sheet = page(queued, name="release-sheet").content.decode()

    assert all(f"<li>{escape(sentence)}</li>" in sheet for sentence in for_release(queued))
    assert "<iframe" not in sheet
    assert "Files and addresses" not in sheet


def test_it_allows_its_own_pages_to_frame_the_map(page, published):
    answer = page(published, name="release-map")

    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in answer["Content-Security-Policy"]
