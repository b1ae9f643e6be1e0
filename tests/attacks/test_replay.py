"""The same thing sent again, by whoever holds a copy: nothing is charged, drawn or published twice."""

import pytest
from django.urls import reverse

from heatmaps import tasks
from heatmaps.ledger.verification import verify
from heatmaps.models import Release, Result
from heatmaps.releases import draws, lifecycle
from tests.services.draws import carry_out

HALF = 10**12 // 2


def state_of(dataset):
    """All that a replay could have changed."""
    return (
        list(Release.objects.order_by("pk").values_list("pk", "state", "finished_at")),
        list(Result.objects.order_by("pk").values_list("pk", "sha256", "created_at")),
        list(dataset.accounts.order_by("pk").values_list("committed", "limit")),
        list(dataset.events.order_by("sequence").values_list("sequence", "hash")),
    )


@pytest.mark.parametrize("end", ["reserved", "published", "cancelled", "failed"])
def test_a_request_with_the_same_key_changes_nothing(  # noqa: PLR0917 - fixtures
    api, dataset, question, monkeypatch, settings, end
):
    settings.START_SECONDS = 60 if end == "cancelled" else 0
    analyst = api("analyst")
    send = lambda: analyst.send(  # noqa: E731
        "POST", "releases", dataset.slug, body=question(), **{"idempotency-key": "k1"}
    )
    first = send()
    release = Release.objects.get()
    if end == "cancelled":
        analyst.send("POST", "release-cancel", release.pk)
    elif end != "reserved":
        if end == "failed":
            monkeypatch.setattr(lifecycle, "_draw", lambda *_arguments: 1 / 0)
        carry_out(release.pk)
    before = state_of(dataset)

    again = send()

    assert again.status_code == 202
    assert again.json()["id"] == first.json()["id"] == str(release.pk)
    assert Release.objects.get().state == end
    assert state_of(dataset) == before


def test_a_key_is_worth_nothing_to_another_person(api, people, dataset, question):
    """Whoever copies a key gets a release of his own, for a charge of its own; a stranger gets nothing."""
    key = {"idempotency-key": "k1"}
    first = api("analyst").send("POST", "releases", dataset.slug, body=question(), **key).json()
    other = api("steward").send("POST", "releases", dataset.slug, body=question(), **key).json()
    stranger = api("stranger").send("POST", "releases", dataset.slug, body=question(), **key)

    assert first["id"] != other["id"]
    assert stranger.status_code == 404
    assert dataset.accounts.get(kind="presence").committed == 2 * HALF


def test_a_form_posted_again_from_the_session_changes_nothing(client_of, dataset, question):
    """The browser's back button and a second press, or a proxy that sends the form once more."""
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    form = {**question(), "resolution": "16", "key": "the page's own"}
    del form["parameters"]
    first = analyst.post(address, form)
    before = state_of(dataset)

    again = analyst.post(address, form)

    assert (again.status_code, again["Location"]) == (302, first["Location"])
    assert state_of(dataset) == before


def test_a_form_posted_again_after_signing_out_is_refused(client_of, dataset, question):
    analyst, address = client_of("analyst"), reverse("release-new", args=[dataset.slug])
    cookie = analyst.cookies["sessionid"].value
    analyst.post(reverse("account_logout"))
    analyst.cookies["sessionid"] = cookie

    answer = analyst.post(address, {**question(), "key": "k"})

    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account_login"))
    assert not Release.objects.exists()


@pytest.mark.parametrize("end", ["published", "cancelled", "failed", "spent"])
def test_a_task_delivered_again_does_nothing(dataset, queued, monkeypatch, end):
    if end == "cancelled":
        lifecycle.transitions.cancel(queued.pk, actor=None)
    elif end == "spent":
        lifecycle.transitions.spend(queued.pk)
        draws.claim(queued)
    else:
        if end == "failed":
            monkeypatch.setattr(lifecycle, "_draw", lambda *_arguments: 1 / 0)
        carry_out(queued.pk)
    before, drawn = state_of(dataset), []
    monkeypatch.setattr(lifecycle, "_draw", lambda *arguments: drawn.append(arguments))

    for _ in range(3):
        tasks.release(str(queued.pk))

    assert not drawn
    assert Release.objects.get().state == end
    assert state_of(dataset) == before
    assert verify(dataset).ok


def test_a_cancellation_sent_again_gives_nothing_back_twice(start_later, api, dataset, queued, question):
    analyst = api("analyst")
    other = analyst.send("POST", "releases", dataset.slug, body=question()).json()["id"]
    analyst.send("POST", "release-cancel", queued.pk)

    again = analyst.send("POST", "release-cancel", queued.pk)

    assert (again.status_code, again.json()["code"]) == (409, "too_late_to_cancel")
    assert dataset.accounts.get(kind="presence").committed == HALF
    assert str(Release.objects.get(state="reserved").pk) == other


def test_a_change_of_a_limit_sent_again_is_refused(api, dataset):
    """It names what was seen, and that has moved."""
    steward = api("steward")
    seen = steward.send("GET", "budget", dataset.slug)["ETag"]
    body = {"limits": {"presence": "3"}, "reason": "agreed"}
    first, second = (
        steward.send("PATCH", "budget", dataset.slug, body=body, **{"if-match": seen}) for _ in range(2)
    )

    assert (first.status_code, second.status_code) == (200, 412)
    assert dataset.events.filter(kind="limit").count() == 1
