"""Pages of datasets that read a table in their owner's lake: no Spark is asked here."""

import re

import pytest
from django.urls import reverse

from heatmaps.ingest.versions import surveys
from heatmaps.models import Dataset, Event, Profile, SourceSurvey
from mechanisms.guarantee import Relation
from tests.pages.word_count import words_of
from tests.sources.lake import TELLTALES, plant

MEMBERS = ("analyst", "auditor", "administrator")
TABS = ("dataset", "dataset-releases", "dataset-data", "dataset-budget", "people", "ledger")
STAYS = "Check-ins stay in your lake; this server reads sums only"
NEW = {
    "source": "lake",
    "lake": "trips",
    "title": "Trips",
    "slug": "trips",
    "west": "0",
    "south": "0",
    "east": "1",
    "north": "1",
    "relation": "add_remove",
    "presence_limit": "4",
}


@pytest.fixture
def steward(client_of):
    return client_of("steward")


@pytest.fixture
def read(client_of):
    """What a page says to somebody."""

    def make(person, name, *about, query=""):
        answer = client_of(person).get(reverse(name, args=about) + query)
        assert answer.status_code == 200, name
        return answer.content.decode()

    return make


@pytest.fixture
def fleet(lake, make_dataset):
    """Of the other relation, where more can be asked of uploads."""
    return make_dataset("fleet", Relation.REPLACE, source="trips")


def fail(dataset, failure="the table has no files"):
    SourceSurvey.objects.filter(pk=dataset.pk).update(state="failed", found=None, failure=failure)


# --- a new dataset ------------------------------------------------------------------------------------


def test_the_form_offers_lakes_only_where_there_are_some(read, lake, settings):
    assert "From a table in your lake" in read("steward", "dataset-new")
    settings.SOURCES_FILE = None
    for query in ("", "?source=lake"):
        page = read("steward", "dataset-new", query=query)
        assert "From files" in page
        assert "lake" not in page


def test_the_form_of_a_lake_asks_for_its_table_and_for_no_size(read, lake):
    page = read("steward", "dataset-new", query="?source=lake&more=1")
    assert '<option value="trips"' in page
    assert "this server reads sums only" in page
    assert 'name="row_capacity"' not in page
    assert "up to 10 million" not in page
    assert 'name="row_capacity"' in read("steward", "dataset-new", query="?more=1")
    assert len(words_of(read("steward", "dataset-new", query="?source=lake"))) <= 175


def test_a_dataset_is_made_of_a_table(steward, lake):
    answer = steward.post(reverse("dataset-new"), NEW)
    assert (answer.status_code, answer.url) == (302, reverse("dataset-data", args=["trips"]))
    assert Dataset.objects.get().source == "trips"
    assert "row_capacity" not in Event.objects.get(sequence=1).after


def test_more_settings_keep_the_chosen_table(steward, lake):
    page = steward.post(reverse("dataset-new"), NEW | {"act": "more"}).content.decode()
    assert '<option value="trips" selected' in page
    assert 'name="source" value="lake"' in page


def test_a_table_of_other_stewards_is_not_offered(read, steward, lake):
    lake.sources_file.write_text(lake.sources_file.read_text() + '\nstewards = ["somebody-else"]\n')
    assert "lake" not in read("steward", "dataset-new", query="?source=lake")
    assert '<option value="trips"' in read("administrator", "dataset-new", query="?source=lake")
    assert steward.post(reverse("dataset-new"), NEW).status_code == 422
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("lake_name", ["", "walks"])
def test_a_table_that_there_is_not_is_refused_at_its_field(steward, lake, lake_name):
    answer = steward.post(reverse("dataset-new"), NEW | {"lake": lake_name})
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["lake"]
    assert not Dataset.objects.exists()


def test_a_table_is_chosen_only_together_with_lakes(steward, lake):
    steward.post(reverse("dataset-new"), NEW | {"source": "files"})
    assert Dataset.objects.get().source == ""


@pytest.mark.parametrize(("person", "is_told"), [("steward", False), ("administrator", True)])
def test_a_broken_file_hides_lakes_and_tells_administrators_why(read, lake, person, is_told):
    lake.sources_file.write_text("not toml")
    page = read(person, "dataset-new")
    assert "From a table" not in page
    assert (str(lake.sources_file) in page) == is_told
    assert ("ask an administrator" in page) != is_told


def test_who_may_not_make_datasets_learns_no_table(client_of, people, lake):
    Profile.objects.update_or_create(user=people["stranger"], defaults={"may_create_datasets": False})
    answer = client_of("stranger").get(reverse("dataset-new") + "?source=lake")
    assert answer.status_code == 403
    assert "trips" not in answer.content.decode()


# --- its data tab -------------------------------------------------------------------------------------


def test_without_a_version_stewards_are_led_to_one(read, trips):
    assert "Make a version" in read("steward", "home")
    assert "Make a version" in read("steward", "dataset", "trips")
    page = read("steward", "dataset-data", "trips")
    assert STAYS in page
    assert "Make a new version</button>" in page
    assert "table of opt-outs" in page
    for of_uploads in ("upload-form", "uploads.js", "preview.js", 'name="users"', "up to 10 million"):
        assert of_uploads not in page
    assert len(words_of(page)) <= 250


def test_a_version_under_way_is_told_with_its_moment(steward, read, trips):
    answer = steward.post(reverse("version-new", args=["trips"]))
    assert answer.url == reverse("dataset-data", args=["trips"])
    page = read("steward", "dataset-data", "trips")
    assert re.search(r"the version appears at <strong><time datetime=\"[-\dT:]+Z\">", page)
    assert "Make a new version" not in page
    again = steward.post(reverse("version-new", args=["trips"]), follow=True).content.decode()
    assert "on its way already" in again


def test_a_failure_is_told_in_words_with_a_button(steward, read, trips):
    steward.post(reverse("version-new", args=["trips"]))
    surveys.run(trips.pk)  # the folder has no files
    page = read("steward", "dataset-data", "trips")
    assert "The table has no files." in page
    assert "Try again</button>" in page
    assert "the table in your lake was not read" in read("steward", "home")
    steward.post(reverse("version-new", args=["trips"]))
    assert "The table has no files." not in read("steward", "dataset-data", "trips")


def test_on_a_schedule_there_is_no_button(steward, read, trips):
    body = {"every": "daily", "hour": "3", "reason": "as announced"}
    assert steward.post(reverse("schedule", args=["trips"]), body).status_code == 302
    page = read("steward", "dataset-data", "trips")
    assert "The schedule makes the next version" in page
    assert reverse("version-new", args=["trips"]) not in page


def test_stewards_see_what_a_version_leaves_out(read, trips, lake):
    plant(trips, lake)
    page = read("steward", "dataset-data", "trips")
    assert "7,654,321 rows in the table; left out: 54,321 without a valid longitude" in page
    assert "32,109 without a valid user" in page


@pytest.mark.parametrize("person", MEMBERS)
def test_nobody_else_sees_anything_of_the_lake(client_of, read, trips, lake, person):
    """Whatever is found in it, or fails: others see pages as if nothing was there."""
    plant(trips, lake)

    def everything():
        names = [name for name in TABS if name != "ledger" or person != "analyst"]
        pages = [read(person, name, "trips") for name in names] + [read(person, "home")]
        if person == "analyst":
            pages.append(read(person, "release-new", "trips"))
            pages.append(
                read(person, "release-new", "trips", query="?mechanism=sparse-emd&epsilon=1&resolution=16")
            )
        return [re.sub(r'nonce="[^"]+"|name="(csrf\w+|key)" value="[^"]+"', "", page) for page in pages]

    client_of(person).get(reverse("home"))
    before = everything()
    fail(trips, "an unmistakable failure")
    failed = everything()
    SourceSurvey.objects.all().delete()

    assert before == failed == everything()
    assert not TELLTALES.search(" ".join(before))
    assert STAYS not in " ".join(before)


@pytest.mark.parametrize("person", ["steward", *MEMBERS])
def test_all_members_read_who_has_to_be_trusted(read, trips, person):
    page = read(person, "dataset-data", "trips")
    assert "in a lake: <code>trips</code>" in page
    assert "Whoever administers the Spark cluster is as trusted as whoever administers" in page


def test_other_datasets_say_nothing_of_lakes(read, dataset):
    assert "lake" not in read("steward", "dataset-data", dataset.slug)


def test_older_check_ins_are_left_out_and_not_deleted(steward, read, trips):
    page = read("steward", "retention", "trips")
    assert "stay in your lake" in page
    assert "deleted" not in page
    body = {"retention_days": "30", "reason": "as announced"}
    assert steward.post(reverse("retention", args=["trips"]), body).status_code == 302
    assert "of the last <strong>30 days" in read("analyst", "dataset-data", "trips")


def test_a_source_that_was_changed_is_told_and_breaks_no_page(steward, trips, lake):
    lake.time_zone = "Europe/Vienna"
    lake.write()
    body = {"retention_days": "30", "reason": "as announced"}
    answer = steward.post(reverse("retention", args=["trips"]), body)
    assert answer.status_code == 503
    assert "changed since the dataset was made" in answer.content.decode()
    assert steward.get(reverse("dataset-data", args=["trips"])).status_code == 200


@pytest.mark.parametrize("address", ["upload-new", "upload-preview", "opt-out"])
def test_what_belongs_into_the_lake_is_refused_with_where(steward, trips, address):
    body = {"users": "u1"}
    answer = steward.post(reverse(address, args=["trips"]), body, headers={"accept": "application/json"})
    if address == "opt-out":
        answer = steward.get(answer.url)
    else:
        assert answer.status_code == 409
    assert "table" in answer.content.decode()
    assert not trips.uploads.exists()
    assert not trips.suppressions.exists()


# --- the question -------------------------------------------------------------------------------------


def test_only_what_can_be_asked_is_offered(read, client_of, fleet, panel):
    page, elsewhere = (
        read("analyst", "release-new", slug, query="?act=method&mechanism=adaptive&epsilon=1")
        for slug in ("fleet", "panel")
    )
    offered, others = (
        set(re.findall(r'name="mechanism" value="([\w-]+)"', one)) for one in (page, elsewhere)
    )
    assert offered < others
    assert others - offered == {"emd-itemwise"}
    for kind in ("release-zones", "release-distances"):
        assert client_of("analyst").get(reverse(kind, args=["fleet"])).status_code == 404
        assert reverse(kind, args=["fleet"]) not in page


def test_it_says_when_the_answer_appears(read, trips, lake, settings):
    settings.SOURCE_SLOT_SECONDS = 900
    for query in ("", "?mechanism=adaptive&epsilon=1&resolution=64"):
        page = read("analyst", "release-new", "trips", query=query)
        assert "the answer appears in about 15 minutes" in page
    assert "a steward has to make one first" in read("analyst", "release-new", "trips")


def test_the_ledger_names_the_table(read, trips):
    page = read("auditor", "ledger", "trips")
    assert "trips" in page
    assert "check-ins" not in page
