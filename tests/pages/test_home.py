"""Home tells people what their datasets hold, what waits for them and what just finished: nothing else."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from heatmaps.models import Membership, Release, Upload
from heatmaps.people import invitations
from heatmaps.releases import publication
from heatmaps.wording.budget_left import more_like_the_last, part_left
from tests.pages.word_count import words_of


@pytest.fixture
def home(client_of):
    return lambda name: client_of(name).get(reverse("home")).content.decode()


@pytest.fixture
def add_upload(people):
    """A row alone: home reads no file."""

    def make(dataset, state):
        return Upload.objects.create(
            dataset=dataset,
            state=state,
            uploaded_by=people["steward"],
            file_name="names-of-people.csv",
            size_bytes=1,
            content_digest=str(uuid4()),
        )

    return make


def picture(release):
    return f'<img src="{reverse("release-thumbnail", args=[release.pk])}"'


def test_members_see_the_newest_map_and_strangers_nothing(home, published):
    for name in ("steward", "analyst", "auditor"):
        page = home(name)
        assert picture(published) in page
        assert "Just finished" in page
    for name in ("stranger", "administrator"):  # who finds it in the list of all datasets, which is recorded
        assert "/datasets/city/" not in home(name)
        assert str(published.pk) not in home(name)


@pytest.mark.unguarded
def test_nothing_of_a_release_is_told_before_its_moment(home, published):
    """Whatever its state says already."""
    Release.objects.update(visible_at=timezone.now() + timedelta(hours=1))
    for name in ("steward", "analyst", "auditor"):
        assert str(published.pk) not in home(name)


def test_a_queued_release_waits_for_who_asked_only(home, queued):
    mine = home("analyst")

    assert "Waiting for you" in mine
    assert f'data-state-url="{reverse("release-state", args=[queued.pk])}"' in mine
    assert str(queued.pk) not in home("steward")
    assert "Just finished" not in mine
    Membership.objects.filter(user__username="analyst").delete()
    assert str(queued.pk) not in home("analyst")


def test_hidden_maps_stay_with_members(home, people, published):
    for public in (True, False):
        publication.set_public(people["steward"], published, public=public)
        assert picture(published) in home("analyst")
        assert str(published.pk) not in home("stranger")


@pytest.mark.unguarded
def test_what_finished_long_ago_is_no_news(home, published):
    Release.objects.update(visible_at=timezone.now() - timedelta(days=7, seconds=1))

    assert "Just finished" not in home("analyst")
    assert picture(published) in home("analyst")


def test_uploads_wait_for_stewards_only(home, dataset, add_upload):
    add_upload(dataset, "failed")
    add_upload(dataset, "failed")
    assert "2 files failed" in home("steward")
    for name in ("analyst", "auditor", "administrator", "stranger"):
        assert "file" not in home(name).partition("<main")[2].partition("</main")[0]
    add_upload(dataset, "ready")
    page = home("steward")
    assert "failed" not in page  # a file was read since
    assert "1 file not in the data yet" in page
    assert "names-of-people" not in page


def test_the_budget_is_told_in_maps_like_the_last(home, published):
    assert "About 3 more maps like the last" in home("analyst")  # ε = 0.5 of 2


@pytest.mark.parametrize(
    ("word", "more", "told"),
    [
        ("map", 1, "about 1 more map like the last"),
        ("map of zones", 2, "about 2 more maps of zones like the last"),
        ("point", 1001, "over 1,000 more points like the last"),
        ("map", 0, "too little left for another map like the last"),
        ("map", None, "no limit"),
    ],
)
def test_it_words_what_is_left(word, more, told):
    assert more_like_the_last(word, more, is_used_up=False) == told
    assert more is None or more_like_the_last(word, 0, is_used_up=True) == "budget used up"
    assert (part_left("99.5"), part_left("100"), part_left("")) == (
        "0.5 % of the budget left",
        "budget used up",
        "no limit",
    )


@pytest.mark.parametrize("name", ["steward", "auditor"])
def test_more_datasets_cost_no_more_queries(home, make_dataset, published, name):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as asked:
            home(name)
        return len(asked)

    few = queries()
    for slug in ("town", "village", "hamlet"):
        make_dataset(slug)

    assert queries() == few


def test_administrators_are_told_of_open_invitations(home, people):
    invitations.invite_to_installation(people["administrator"], may_create_datasets=False)
    page = home("administrator")

    assert "1 invitation not used yet" in page
    assert f'href="{reverse("accounts")}#invite-heading"' in page
    assert reverse("accounts") not in home("stranger")


def test_an_auditor_goes_straight_to_the_ledger(home, dataset):
    assert f'href="{reverse("ledger", args=[dataset.slug])}"' in home("auditor")
    assert f'href="{reverse("ledger", args=[dataset.slug])}"' not in home("analyst")


@pytest.mark.parametrize("name", ["stranger", "administrator"])
def test_an_empty_installation_greets_in_few_words(home, name):
    page = home(name)

    assert "Welcome to Hazemap" in page
    assert 20 < len(words_of(page)) <= 60
    assert page.count('class="button main"') == 1
