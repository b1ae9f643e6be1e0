"""What somebody has queued who loses a role or an account: cancelled where it has not begun."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from heatmaps.ledger.verification import verify
from heatmaps.models import Event, Release
from heatmaps.people import accounts, members
from heatmaps.people.reservations import Ending
from heatmaps.releases import clock, draws, lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from tests.pages.confirming import confirm
from tests.services import seed

pytestmark = pytest.mark.usefixtures("start_later")
REQUEST = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)


@pytest.fixture
def town(make_dataset):
    """Another dataset with the same members."""
    made = make_dataset("town")
    seed.add_checkins(made)
    return made


@pytest.fixture
def ask(people, dataset):
    def make(name="analyst", about=dataset):
        return lifecycle.request_release(people[name], about, REQUEST)

    return make


@pytest.fixture
def remove(people, steward, dataset, member_of):
    """A steward removes the analyst."""
    member = member_of(people["analyst"])
    return lambda **options: members.remove(steward, member, **options)


@pytest.fixture
def close(people, administrator):
    """An administrator closes the analyst's account."""
    return lambda **options: accounts.close(administrator, people["analyst"], **options)


@pytest.fixture
def later(monkeypatch):
    """The product's clock is ahead."""

    def move(by):
        at = timezone.now() + by
        monkeypatch.setattr(timezone, "now", lambda: at)

    return move


def state_of(release):
    return Release.objects.values_list("state", flat=True).get(pk=release.pk)


def committed(dataset):
    return dataset.accounts.get(kind="presence").committed


def test_what_a_removed_member_has_queued_is_cancelled(ask, remove, steward, dataset, town):
    """There alone, and of that person alone; who removes is the one who cancels."""
    own, other, elsewhere = ask(), ask("steward"), ask(about=town)
    before = committed(dataset)

    assert remove() == Ending(cancelled=1)

    assert [state_of(release) for release in (own, other, elsewhere)] == ["cancelled", "reserved", "reserved"]
    assert committed(dataset) * 2 == before
    event = Event.objects.get(kind="cancel")
    assert (event.actor, event.release) == (steward, own.pk)
    assert verify(dataset).ok


def test_it_may_be_kept(ask, remove):
    release = ask()
    assert remove(keep_queued=True) == Ending(retained=1)
    assert state_of(release) == "reserved"
    assert not Event.objects.filter(kind="cancel").exists()


def test_who_leaves_cancels_it_as_well(ask, people, dataset, member_of):
    release = ask()
    assert members.remove(people["analyst"], member_of(people["analyst"])) == Ending(cancelled=1)
    assert state_of(release) == "cancelled"


def test_a_role_that_asks_for_nothing_cancels_it(ask, people, steward, dataset, member_of):
    release = ask()
    members.change_role(steward, member_of(people["analyst"]), "steward")
    assert state_of(release) == "reserved"
    members.change_role(steward, member_of(people["analyst"]), "auditor")
    assert state_of(release) == "cancelled"
    assert committed(dataset) == 0
    assert verify(dataset).ok


@pytest.mark.parametrize("stage", ["due", "spent", "drawn", "failed"])
def test_what_has_begun_stays_and_the_answer_is_the_same(ask, remove, dataset, later, stage):
    """Whatever a worker has made of it, and whether there is one."""
    release = ask()
    charged = committed(dataset)
    later(timedelta(seconds=61))
    if stage != "due":
        clock.tick()
    if stage == "drawn":
        lifecycle.run(release.pk)
    elif stage == "failed":
        draws.claim(release)
        draws.give_up(release.pk)

    assert remove() == Ending(begun=1)

    assert state_of(release) == ("reserved" if stage == "due" else "spent")
    assert committed(dataset) == charged
    assert verify(dataset).ok


def test_closing_an_account_cancels_in_all_datasets(ask, remove, close, administrator, town):
    """Also where the role ended before, and what was queued was kept."""
    releases = [ask(), ask(about=town)]
    remove(keep_queued=True)

    assert close() == Ending(cancelled=2)

    assert [state_of(release) for release in releases] == ["cancelled"] * 2
    assert set(Event.objects.filter(kind="cancel").values_list("actor", flat=True)) == {administrator.pk}
    assert all(verify(release.dataset).ok for release in releases)


def test_closing_an_account_may_keep_it(ask, close):
    release = ask()
    assert close(keep_queued=True) == Ending(retained=1)
    assert state_of(release) == "reserved"


@pytest.mark.parametrize("act", ["remove", "close"])
def test_nothing_is_reserved_for_who_goes_while_a_question_is_planned(
    ask, request, dataset, monkeypatch, act
):
    """Planning takes seconds: the role is looked at again where the charge is made."""
    plan, end = Plan.of, request.getfixturevalue(act)

    def planned(*about):
        end()
        return plan(*about)

    monkeypatch.setattr(Plan, "of", planned)
    with pytest.raises(Http404):
        ask()
    assert not Release.objects.exists()
    assert committed(dataset) == 0


def test_the_page_offers_to_keep_it_and_says_what_became_of_it(ask, people, dataset, client_of):
    ask(), ask()
    page = reverse("member-remove", args=["city", people["analyst"].pk])
    shown = client_of("steward").get(page).content.decode()
    assert "2 queued releases will be cancelled, and the budget comes back." in shown
    assert 'name="keep_queued"' in shown
    done = client_of("steward").post(page, follow=True).content.decode()
    assert "is no longer a member. 2 queued releases were cancelled, and the budget is back." in done
    assert not Release.objects.exclude(state="cancelled").exists()


def test_a_page_without_anything_queued_says_nothing_of_it(people, dataset, client_of):
    page = reverse("member-remove", args=["city", people["analyst"].pk])
    assert "queued" not in client_of("steward").get(page).content.decode()


def test_the_page_that_closes_an_account_offers_the_same(ask, people, dataset, town, client_of):
    kept = ask(about=town)
    page = reverse("account-close", args=[people["analyst"].pk])
    administrator = client_of("administrator")
    confirm(administrator, people["administrator"])
    reads = dataset.administrator_reads.count(), town.administrator_reads.count()
    assert "1 queued release will be cancelled" in administrator.get(page).content.decode()
    assert (dataset.administrator_reads.count(), town.administrator_reads.count()) == (reads[0], reads[1] + 1)
    done = administrator.post(page, {"keep_queued": "on"}, follow=True).content.decode()
    assert "1 queued release stays and will be drawn." in done
    assert state_of(kept) == "reserved"
