"""Comparing two maps: who may, with what, and what the pages say."""

import re

import pytest
from django.urls import reverse

from heatmaps.config.streets import TileServer
from heatmaps.models import AdministratorRead, Release
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.space.grid import Region
from tests.pages.test_access import without_its_name
from tests.services import seed
from tests.services.draws import carry_out

NOWHERE = "00000000-0000-4000-8000-000000000000"
TILES = TileServer(
    address="https://tiles.example.org/{z}/{x}/{y}.png",
    origin="https://tiles.example.org",
    host="tiles.example.org",
    attribution="© Example",
    public=False,
)
NAMES = ("release-comparison", "release-comparison-map")


@pytest.fixture
def ask(people):
    def make(dataset, **question):
        request = ReleaseRequest(**{"mechanism": "laplace", "epsilon": "0.2", "resolution": 16} | question)
        release = lifecycle.request_release(people["steward"], dataset, request)
        carry_out(release.pk)
        release.refresh_from_db()
        return release

    return make


@pytest.fixture
def pair(dataset, ask):
    """Of two years; nobody was there in either."""
    return [ask(dataset, since=f"{year}-01-01", until=f"{year + 1}-01-01") for year in (2001, 2002)]


def text(client, name, *releases):
    answer = client.get(reverse(name, args=[getattr(release, "pk", release) for release in releases]))
    assert answer.status_code == 200
    return answer.content.decode()


def heading(page):
    return re.findall("<h1>([^<]+)", page)[0]


def statuses(client, *releases):
    about = [getattr(release, "pk", release) for release in releases]
    return [client.get(reverse(name, args=about)).status_code for name in NAMES]


def test_a_release_leads_to_the_maps_on_the_same_ground_the_newest_first(client_of, people, pair, ask):
    overlapping = seed.make_dataset(people["steward"], "beside", region=Region(0.5, 0.5, 2, 2))
    elsewhere = seed.make_dataset(people["steward"], "elsewhere", region=Region(1, 0, 2, 1))
    for dataset in (overlapping, elsewhere):
        seed.add_checkins(dataset)
    third, far = ask(overlapping), ask(elsewhere)
    one, other = pair
    client = client_of("steward")
    assert reverse("release-comparable", args=[one.pk]) in text(client, "release", one)
    listed = re.findall(r"/compare/([0-9a-f-]{36})/", text(client, "release-comparable", one))
    assert listed == [str(third.pk), str(other.pk)]
    assert statuses(client, one, far) == [404, 404]  # they only touch
    assert statuses(client, one, one) == [404, 404]
    said = text(client, "release-comparison", one, third)
    assert "Only the ground that both maps cover is compared" in said
    # Who is a member of one dataset alone is shown its maps alone.
    theirs = text(client_of("analyst"), "release-comparable", one)
    assert str(third.pk) not in theirs
    assert str(other.pk) in theirs
    # An administrator's look is noted for every dataset in the list.
    text(client_of("administrator"), "release-comparable", one)
    noted = set(AdministratorRead.objects.values_list("dataset__slug", flat=True))
    assert noted == {"city", "beside"}


def test_the_page_says_what_differs_and_names_the_maps_by_it(client_of, pair, ask, dataset):
    one, other = pair
    page = text(client_of("analyst"), "release-comparison", one, other)
    address = reverse("release-comparison", args=[one.pk, other.pk])
    assert f'data-copy="link" data-text="http://testserver{address}"' in page
    assert heading(page) == "2001 and 2002"
    assert re.findall(r'<tr><th scope="row">([^<]+)', page) == ["Period"]
    assert "Comparing costs no budget" in page
    assert "Only the ground" not in page
    document = text(client_of("analyst"), "release-comparison-map", one, other)
    assert document.count('"function": "compare"') == 1
    assert document.count("/scripts/compared_maps.js") == 1
    assert "<script nonce=" not in document
    month, stronger = ask(dataset, since="2001-02-01", until="2001-03-01"), ask(dataset, epsilon="0.4")
    page = text(client_of("analyst"), "release-comparison", month, stronger)
    assert heading(page) == "February 2001, ε 0.2 and all times, ε 0.4"
    assert re.findall(r'<tr><th scope="row">([^<]+)', page) == ["ε asked for", "Period"]


@pytest.mark.unguarded
def test_only_maps_of_people_are_compared(client_of, pair):
    """A point is not beside a map; a map without stated errors is told so."""
    heat, point = pair
    Release.objects.filter(pk=point.pk).update(mechanism="exponential", expected_error=None)
    client = client_of("steward")
    assert "Only maps of people can be compared" in text(client, "release-comparable", point)
    assert str(point.pk) not in text(client, "release-comparable", heat)
    assert statuses(client, heat, point) == statuses(client, point, heat) == [404, 404]


def test_a_map_without_errors_has_no_difference(client_of, pair, published):
    client = client_of("steward")
    assert "states no errors" in text(client, "release-comparison", pair[0], published)
    assert statuses(client, pair[0], published) == [200, 404]


def test_both_maps_must_be_there_for_whoever_looks(client_of, people, pair):
    """Hidden, waiting and unknown maps are alike; hiding one ends it at once."""
    one, other = pair
    stranger, anonymous, steward = (client_of(name) for name in ("stranger", "anonymous", "steward"))

    def answers():
        return statuses(stranger, one, other), statuses(stranger, other, one), statuses(anonymous, one, other)

    assert answers() == ([404, 404], [404, 404], [302, 302])
    publication.set_public(people["steward"], one, public=True)
    assert answers() == ([404, 404], [404, 404], [302, 302])
    hidden, missing = (
        stranger.get(reverse("release-comparison", args=[one.pk, about])) for about in (other.pk, NOWHERE)
    )
    assert without_its_name(hidden) == without_its_name(missing)
    for name in NAMES:
        there, nowhere = (anonymous.get(reverse(name, args=[one.pk, about])) for about in (other.pk, NOWHERE))
        assert there["Location"].replace(str(other.pk), NOWHERE) == nowhere["Location"]
    assert str(other.pk) not in text(anonymous, "release-comparable", one)
    publication.set_public(people["steward"], other, public=True)
    assert answers() == ([200, 200], [200, 200], [200, 200])
    assert str(other.pk) in text(anonymous, "release-comparable", one)
    shown = text(anonymous, "release-comparison", one, other)
    assert "by steward" not in shown
    assert reverse("dataset", args=["city"]) not in shown
    publication.set_public(people["steward"], one, public=False)
    assert answers() == ([404, 404], [404, 404], [302, 302])
    assert statuses(steward, one, other) == [200, 200]


def test_a_map_that_is_not_visible_yet_is_not_compared(client_of, pair, queued):
    client = client_of("steward")
    assert statuses(client, pair[0], queued) == statuses(client, queued, pair[0]) == [404, 404]
    assert client.get(reverse("release-comparable", args=[queued.pk])).status_code == 404
    assert str(queued.pk) not in text(client, "release-comparable", pair[0])


def test_another_host_of_streets_is_asked_by_members_alone(client_of, pair, people, settings):
    settings.TILES = TILES
    address = reverse("release-comparison-map", args=[release.pk for release in pair])
    for release in pair:
        publication.set_public(people["steward"], release, public=True)
    for person, asks in (("analyst", True), ("anonymous", False)):
        answer = client_of(person).get(address)
        assert (TILES.origin in answer["Content-Security-Policy"]) == asks
        assert (TILES.host in answer.content.decode()) == asks
