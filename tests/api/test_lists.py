"""Lists answer as each row's own address does, by as many queries as for one row, whatever nobody may see."""

import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from heatmaps.ledger.administrator_reads import first_problem
from heatmaps.models import AdministratorRead, Dataset, Installation, Release, Restoration
from heatmaps.releases import lifecycle, names, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.names import Label
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.draws import carry_out

pytestmark = [pytest.mark.django_db, pytest.mark.unguarded]

ROLES = ("steward", "analyst", "auditor", "administrator")
SHA256 = "5" * 64


@pytest.fixture
def public_map(people, make_dataset):
    """A public map of a dataset, of which another person is the only member."""

    def make(slug):
        dataset = seed.make_dataset(people["stranger"], slug)
        seed.add_checkins(dataset)
        request = ReleaseRequest(mechanism="adaptive", epsilon="0.5", resolution=16)
        release = lifecycle.request_release(people["stranger"], dataset, request)
        carry_out(release.pk)
        return publication.set_public(people["stranger"], Release.objects.get(pk=release.pk), public=True)

    return make


@pytest.fixture
def all_states(people, published, public_map):
    """Releases in every state, that began from everything."""
    soon, later = timezone.now() + timedelta(hours=1), timezone.now() + timedelta(hours=2)
    for state in ("reserved", "spent", "failed", "cancelled"):
        seed.copied(published, state=state, starts_at=soon, visible_at=later, expires_at=later)
        seed.copied(published, state=state, late=2)
    names.rename(people["analyst"], published, Label(name="Nights", note="one\ntwo"))
    publication.set_public(people["steward"], published, public=True)
    names.show(people["steward"], Release.objects.get(pk=published.pk), Label(name="Nights", note="one\ntwo"))
    seed.copied(published, name="Days", note="three", public_since=None, is_name_public=False)
    seed.copied(published, since=0, until=86_400, rectangle=[2**29, 2**29, 2**30, 2**30])
    point = {"mechanism": "exponential", "resolution": None, "parameters": {"spacing_m": "25"}}
    seed.copied(published, **point, expected_error=None)
    hidden = public_map("hidden")
    own = seed.copied(published, guide_release=published, guide_sha256=SHA256)
    elsewhere = seed.copied(published, guide_release=public_map("elsewhere"), guide_sha256=SHA256)
    file = seed.store_guide(people["steward"], published.dataset)
    from_file = seed.copied(published, guide_file=file, guide_sha256=SHA256)
    for guide in (own, elsewhere, hidden, from_file):
        between = seed.copied(published, guide_release=guide, guide_sha256=SHA256)
        seed.copied(published, guide_release=between, guide_sha256=SHA256)
    publication.set_public(people["stranger"], hidden, public=False)
    return published.dataset


@pytest.fixture
def many_datasets(people, make_dataset, dataset):
    """Datasets of all origins and relations, one of which is being restored."""
    make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "90", "radius": "30"})
    seed.make_collection(people["steward"])
    seed.make_dataset(people["stranger"], "strangers")
    restored = make_dataset("restored")
    now = timezone.now()
    Restoration.objects.create(dataset=restored, known_until=now, resumed_at=now, opt_outs_replayed=False)
    return dataset


def listed(client, name, *arguments):
    return client.send("GET", name, *arguments, query="?page_size=200").json()["results"]


def one_by_one(client, rows):
    return [json.loads(client.get(urlsplit(row["links"]["self"]).path).content) for row in rows]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("waits", [False, True])
def test_a_list_has_each_release_as_its_own_address(api, all_states, role, waits):
    if waits:  # as after the machine was started anew
        Installation.objects.update_or_create(
            pk=Installation.ONLY, defaults={"confirm_before": timezone.now() + timedelta(days=1)}
        )
    client = api(role)
    rows = listed(client, "releases", all_states.slug)

    assert len(rows) == Release.objects.filter(dataset=all_states).count() == 23
    assert rows == one_by_one(client, rows)
    assert sum("cancel" in row["links"] for row in rows) == (0 if waits else 1)
    assert {row["state"] for row in rows} == {"queued", "published", "cancelled", "no_result"}
    assert ("Days" in {row["name"] for row in rows}) == (role != "administrator")


@pytest.mark.parametrize("role", ROLES)
def test_a_list_has_each_dataset_as_its_own_address(api, many_datasets, role):
    client = api(role)
    rows = listed(client, "datasets")
    assert rows == one_by_one(client, rows)
    assert ("strangers" in {row["slug"] for row in rows}) == (role == "administrator")
    assert ("restored" in {row["slug"] for row in rows}) == (role in ("administrator", "steward"))


def test_a_list_of_datasets_is_a_reading_of_each_by_an_administrator(api, people, many_datasets):
    listed(api("administrator"), "datasets")
    reads = AdministratorRead.objects.filter(reader=people["administrator"])
    assert sorted(reads.values_list("dataset__slug", flat=True)) == sorted(
        ["city", "panel", "walks", "strangers", "restored"]
    )
    assert not AdministratorRead.objects.exclude(reader=people["administrator"]).exists()


def test_strangers_have_no_list(api, all_states):
    assert api("stranger").send("GET", "releases", all_states.slug).status_code == 404
    assert api("anonymous").send("GET", "releases", all_states.slug).status_code == 401


@pytest.mark.parametrize(("role", "most"), [("analyst", 8), ("administrator", 10)])
def test_releases_take_as_many_queries_however_many_there_are(api, published, role, most):
    client = api(role)
    client.send("GET", "releases", published.dataset.slug)  # the reading is noted once a minute
    few = queries_of(client, "releases", published.dataset.slug)
    for _ in range(10):
        seed.copied(published)
    assert queries_of(client, "releases", published.dataset.slug) == few <= most


def test_chains_of_guides_take_one_query(api, published):
    client = api("analyst")
    few, latest = queries_of(client, "releases", published.dataset.slug), published
    for _ in range(6):
        latest = seed.copied(published, guide_release=latest, guide_sha256=SHA256)
    assert queries_of(client, "releases", published.dataset.slug) == few + 1


@pytest.mark.parametrize("role", ["analyst", "administrator"])
def test_datasets_take_as_many_queries_however_many_there_are(api, many_datasets, make_dataset, role):
    client = api(role)
    client.send("GET", "datasets")
    few = queries_of(client, "datasets")
    for number in range(5):
        make_dataset(f"more-{number}")
    client.send("GET", "datasets")
    assert queries_of(client, "datasets") == few <= 8


def test_the_first_reading_of_many_datasets_is_written_at_once(api, people, many_datasets, make_dataset):
    client = api("administrator")
    client.send("GET", "datasets")
    for number in range(5):
        make_dataset(f"more-{number}")
    assert queries_of(client, "datasets") <= 12  # with a savepoint around one statement
    assert AdministratorRead.objects.filter(dataset__slug__startswith="more").count() == 5
    assert all(first_problem(dataset) == "" for dataset in Dataset.objects.all())


def test_what_happens_before_its_moment_changes_no_answer_and_no_count_of_queries(api, published):
    """Of one row queued for the public: reserved, drawn or failed, once it has begun."""
    client, begun = api("analyst"), timezone.now() - timedelta(seconds=5)
    visible_at = timezone.now() + timedelta(hours=1)
    row = seed.copied(
        published, state="reserved", starts_at=begun, visible_at=visible_at, expires_at=visible_at
    )
    answers = set()
    client.send("GET", "releases", published.dataset.slug)
    for state in ("reserved", "spent"):
        Release.objects.filter(pk=row.pk).update(state=state)
        with CaptureQueriesContext(connection) as captured:
            body = client.send("GET", "releases", published.dataset.slug).content
        answers.add((len(captured), body))
    assert len(answers) == 1


def queries_of(client, name, *arguments):
    with CaptureQueriesContext(connection) as captured:
        assert client.send("GET", name, *arguments).status_code == 200
    return len(captured)
