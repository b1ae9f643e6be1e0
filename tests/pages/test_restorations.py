"""A dataset after a restore: members wait, and a steward confirms who they are and who is left out."""

import json
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from heatmaps import sources
from heatmaps.ingest import opt_outs, restorations
from heatmaps.ingest.versions import scheduled, surveys
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.models import AccountKind, Event, Membership, Restoration, SourceSurvey, Suppression
from mechanisms.guarantee import Relation
from tests.collections.test_pages import question as round_question
from tests.services.seed import make_collection
from tests.sources.lake import plant

TABS = ("dataset", "dataset-releases", "dataset-data", "dataset-budget", "people", "ledger")
BANNER = "This dataset came back from a backup"
LEFT = {AccountKind.PRESENCE: 10**12}


def restore(dataset, charges=LEFT, **facts):
    unknown = transitions.Unknown(charges=charges, other_copy="unknown", reason="the disk broke", **facts)
    return transitions.restore(dataset, unknown)


@pytest.fixture
def restored(dataset):
    restore(dataset)
    return dataset


@pytest.fixture
def steward(client_of):
    return client_of("steward")


def address(dataset, name="restoration"):
    return reverse(name, args=[dataset.slug])


def text_of(client, dataset, name="restoration"):
    answer = client.get(address(dataset, name))
    assert answer.status_code == 200, name
    return answer.content.decode()


def spend(client, dataset, question):
    return client.post(address(dataset, "release-new"), question)


def assert_verifies(dataset):
    report = verify(dataset)
    assert report.ok, report.problem


# --- who waits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", ["analyst", "auditor"])
def test_members_are_strangers_until_a_steward_confirms(client_of, people, published, person):
    """Not by the dataset's pages, a list, home, one's account or a release's address."""
    restored = published.dataset
    restore(restored)
    client = client_of(person)
    pages = [address(restored, name) for name in TABS]
    pages += [reverse(name, args=[published.pk]) for name in ("release", "release-map", "release-sheet")]
    assert {client.get(page).status_code for page in pages} == {404}
    for page in ("home", "datasets", "account", "public"):
        assert restored.title not in client.get(reverse(page)).content.decode(), page

    restorations.confirm(people["steward"], restored, members_kept=[people[person].pk], opt_outs_entered=True)

    assert client.get(address(restored, "dataset")).status_code == 200
    for page in ("home", "datasets", "account"):
        assert restored.title in client.get(reverse(page)).content.decode(), page


def test_an_administrator_keeps_what_is_an_administrators(client_of, restored):
    client = client_of("administrator")
    for name in TABS:
        page = text_of(client, restored, name)
        assert BANNER in page
        assert "a steward confirms its members and opt-outs" in page
        assert address(restored) not in page
    assert client.get(address(restored)).status_code == 403


def test_an_administrator_who_is_an_analyst_reads_as_an_administrator(client_of, people, restored):
    Membership.objects.create(dataset=restored, user=people["administrator"], role="analyst")
    client = client_of("administrator")

    assert client.get(address(restored, "release-new")).status_code == 403
    text_of(client, restored, "people")
    assert restored.administrator_reads.filter(page="people").exists()


def test_stewards_see_it_on_every_tab_and_at_home(steward, restored):
    for name in TABS:
        page = text_of(steward, restored, name)
        assert page.count(BANNER) == 1
        assert f'href="{address(restored)}"' in page
    assert f'href="{address(restored)}"' in steward.get(reverse("home")).content.decode()


def test_a_question_is_refused_with_the_reason(steward, restored, question):
    answer = spend(steward, restored, question())

    assert answer.status_code == 409
    assert "Nothing was spent: this dataset was restored from a backup" in answer.content.decode()
    assert not restored.releases.exists()


def test_a_round_is_refused_with_the_reason(steward, people):
    walks = make_collection(people["steward"])
    restore(walks)
    rounds = address(walks, "dataset-rounds")
    seen = steward.post(rounds, round_question(act="quote")).context["quote"].fingerprint
    answer = steward.post(rounds, round_question(act="plan", seen=seen))

    assert "This dataset was restored from a backup" in answer.content.decode()
    assert not walks.releases.exists()


# --- the page -------------------------------------------------------------------------------------------


def test_it_says_what_happened(steward, restored):
    page = text_of(steward, restored)

    restoration = Restoration.objects.get()
    for moment in (restoration.known_until, restoration.resumed_at):
        assert f"{moment:%Y-%m-%d %H:%M}" in page
    assert "the disk broke" in page
    assert "presence (ε) 1" in page
    assert "Public maps were hidden" in page
    assert address(restored, "embedding") in page
    assert address(restored, "dataset-releases") in page


def test_nobody_is_ticked_beforehand(steward, people, restored):
    page = text_of(steward, restored)

    boxes = re.findall(r'<input type="checkbox" name="members" value="(\d+)"[^>]*>', page)
    assert {int(box) for box in boxes} == {people["analyst"].pk, people["auditor"].pk}
    assert "checked" not in page


def test_it_removes_whoever_is_not_ticked(steward, people, restored):
    body = {"members": [people["analyst"].pk], "opt_outs_entered": "on"}
    answer = steward.post(address(restored), body, follow=True)

    text = answer.content.decode()
    assert answer.redirect_chain == [(address(restored, "people"), 302)]
    assert "Confirmed" in text
    assert BANNER not in text
    assert set(restored.memberships.values_list("user__username", flat=True)) == {"steward", "analyst"}
    restoration = Restoration.objects.get()
    assert restoration.confirmed_by == people["steward"]
    assert restoration.confirmed_at is not None
    events = Event.objects.filter(dataset=restored).order_by("-sequence")
    assert [event.kind for event in events[:3]] == ["confirmed", "version", "member"]
    assert json.loads(events[2].after) == {"member": people["auditor"].pk, "role": "none"}
    assert json.loads(events[0].after) == {"opt_outs": "entered again by a steward"}
    assert {event.actor for event in events[:3]} == {people["steward"]}
    assert_verifies(restored)


def test_other_stewards_are_asked_about_too(steward, people, restored):
    Membership.objects.create(dataset=restored, user=people["stranger"], role="steward")
    steward.post(address(restored), {"opt_outs_entered": "on"})

    assert list(restored.memberships.values_list("user__username", "role")) == [("steward", "steward")]


def test_it_needs_the_opt_outs_first(steward, restored):
    page = text_of(steward, restored)
    assert f"{address(restored, 'dataset-data')}?show=opt-outs#opt-outs" in page

    answer = steward.post(address(restored), {})

    assert answer.status_code == 422
    assert "Enter the opt-outs first" in answer.content.decode()
    assert restored.memberships.count() == 3
    assert restorations.waits(restored)


def test_it_asks_for_none_that_the_record_had(steward, dataset):
    restore(dataset, opt_outs_replayed=True)
    assert "opt_outs_entered" not in text_of(steward, dataset)

    assert steward.post(address(dataset), {}).status_code == 302

    event = Event.objects.filter(dataset=dataset).latest("sequence")
    assert json.loads(event.after) == {"opt_outs": "from the record of this server"}


def test_it_refuses_a_person_who_is_no_member(steward, people, restored):
    body = {"members": [people["stranger"].pk], "opt_outs_entered": "on"}

    assert steward.post(address(restored), body).status_code == 422
    assert restorations.waits(restored)


def test_it_is_there_once(steward, restored):
    steward.post(address(restored), {"opt_outs_entered": "on"})

    assert steward.get(address(restored)).status_code == 404
    assert steward.post(address(restored), {}).status_code == 404


def test_it_is_not_there_without_a_restore(steward, dataset):
    assert steward.get(address(dataset)).status_code == 404


# --- what follows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [None, Schedule(every="weekly", weekday="monday", hour=3)])
def test_opt_outs_count_at_once(steward, people, restored, schedule):
    """With or without one that waits, and on a schedule, too: nobody reads from it who opted out."""
    if schedule is not None:
        scheduled.change(people["steward"], restored, schedule, reason="agreed")
    entry, _ = opt_outs.enter(people["steward"], restored, "u1")

    steward.post(address(restored), {"opt_outs_entered": "on"})

    version = restored.versions.latest("number")
    assert version.number == entry.since == 2
    assert Suppression.in_effect(version).get() == entry
    assert_verifies(restored)


def test_a_version_does_not_tell_whether_somebody_opted_out(steward, restored):
    steward.post(address(restored), {"opt_outs_entered": "on"})

    assert restored.versions.count() == 2


def test_nothing_is_made_of_no_data(steward, make_dataset):
    empty = make_dataset("empty")
    restore(empty)
    steward.post(address(empty), {"opt_outs_entered": "on"})

    assert not empty.versions.exists()
    assert not restorations.waits(empty)


def test_questions_are_asked_again(steward, restored, question):
    steward.post(address(restored), {"opt_outs_entered": "on"})

    assert spend(steward, restored, question()).status_code == 302
    assert_verifies(restored)


def test_a_lake_is_read_first(steward, people, lake, trips):
    """Also on a schedule: a version of before has who opted out in the lake since."""
    plant(trips, lake)  # a version, and the next one on its way
    weekly = Schedule(every="weekly", weekday="monday", hour=3)
    scheduled.change(people["steward"], trips, weekly, reason="agreed")
    restore(trips)
    assert not SourceSurvey.objects.exists()  # it may have looked before
    for _ in range(2):
        answer = steward.post(address(trips), {})
        assert answer.status_code == 422
        assert "the table in your lake is read again first" in answer.content.decode()
        assert SourceSurvey.objects.get().requested_by == people["steward"]
    assert restorations.waits(trips)

    counts = {"no_lon": 0, "no_lat": 0, "no_time": 0, "no_user": 0}
    looked = sources.pinned(sources.of(trips)).store(trips, rows=1, invalid=counts)
    SourceSurvey.objects.update(state="done", found=looked)
    surveys.appear(timezone.now() + timedelta(days=1))
    assert trips.versions.count() == 2
    assert steward.post(address(trips), {}).status_code == 302
    assert trips.versions.count() == 2
    assert not restorations.waits(trips)
    assert_verifies(trips)


def test_a_collection_has_no_opt_outs(steward, people):
    walks = make_collection(people["steward"])
    restore(walks)
    assert "Opt-outs" not in text_of(steward, walks)

    assert steward.post(address(walks), {}).status_code == 302
    assert not restorations.waits(walks)


# --- ledger and budget ------------------------------------------------------------------------------------


def test_the_ledger_words_it(steward, dataset, queued):
    restore(dataset)
    steward.post(address(dataset), {"opt_outs_entered": "on"})
    page = text_of(steward, dataset, "ledger")

    for words in (
        "Release not drawn after a restore, its charge stays",
        "Database restored, what is not known is charged",
        "Members and opt-outs confirmed after the restore",
        "the disk broke",
        "charge to presence (ε)",
    ):
        assert words in page, words


def test_the_budget_shows_what_was_charged(steward, dataset, published):
    """As a row, a step of the chart, and in the sum."""
    restore(dataset)
    page = text_of(steward, dataset, "dataset-budget")

    assert "not known (the database was restored)" in page
    amounts = re.findall(r'data-label="(?:presence \(ε\)|Sum)">([^<]*)<', page)
    assert amounts == ["1", "1.5", "0.5", "0.5"]
    assert page.count("<circle") >= 2
    spending = text_of(steward, dataset, "spending")
    assert spending.count("not known (the database was restored)") >= 3


def test_the_budget_of_an_account_without_a_limit_has_no_sum(steward, make_dataset):
    made = make_dataset("open", Relation.REPLACE)
    restore(made, {})
    page = text_of(steward, made, "dataset-budget")

    assert "no bound" in page
    assert made.accounts.get(kind="record").committed == 2 * 10**12
