"""Public releases: what outsiders are shown, what they are not, and what caches are told."""

import re

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from heatmaps import publication
from heatmaps.ledger.verification import verify
from heatmaps.publication import NotPublished


@pytest.fixture
def shown(steward, published):
    return publication.set_public(steward, published, public=True)


def file_of(release, suffix="npy"):
    return reverse("release-download", args=[release.pk, suffix])


def test_each_act_is_an_event(steward, published, dataset, events):
    for public in (True, True, False, False, True):
        publication.set_public(steward, published, public=public)

    told = [(kind, actor, after) for kind, actor, _, after in events()]
    readable = [
        f'{{"readable_by":"{who}","shown_release":"{published.pk}"}}'
        for who in ("everybody", "members", "everybody")
    ]
    assert told == [("publication", "steward", after) for after in readable]
    assert verify(dataset).ok


def test_only_stewards_do_it(people, published):
    for name in ("analyst", "auditor", "administrator"):
        with pytest.raises(PermissionDenied):
            publication.set_public(people[name], published, public=True)
    with pytest.raises(Http404):
        publication.set_public(people["stranger"], published, public=True)
    assert not publication.is_public(published.pk)


def test_only_a_published_release_is_made_public(steward, queued):
    with pytest.raises(NotPublished):
        publication.set_public(steward, queued, public=True)


def test_outsiders_see_the_map_and_nothing_else_of_the_dataset(client_of, shown, dataset):
    outsider = client_of("anonymous")
    address = reverse("release", args=[shown.pk])
    page = outsider.get(address).content.decode()
    members_page = client_of("analyst").get(address).content.decode()

    assert "What this map promises" in page
    assert reverse("release-map", args=[shown.pk]) in page
    for told in ("What it cost", "With all other releases", "by analyst", reverse("dataset", args=["city"])):
        assert told not in page
        assert told in members_page
    sheet = outsider.get(reverse("release-sheet", args=[shown.pk])).content.decode()
    assert reverse("dataset", args=["city"]) not in sheet


def test_it_is_in_the_public_list_while_it_is_public(client_of, steward, shown):
    listed = client_of("anonymous").get(reverse("public")).content.decode()
    publication.set_public(steward, shown, public=False)
    hidden = client_of("anonymous").get(reverse("public")).content.decode()

    assert str(shown.pk) in listed
    assert str(shown.pk) not in hidden


def test_caches_ask_each_time(client_of, steward, shown):
    """Whatever was kept, a map that is hidden again is gone at once."""
    outsider = client_of("anonymous")
    first = outsider.get(file_of(shown))
    known = {"If-None-Match": first["ETag"]}

    assert first["Cache-Control"] == "public, no-cache"
    assert "Cookie" in first["Vary"]
    again = outsider.get(file_of(shown), headers=known)
    assert (again.status_code, again.content) == (304, b"")
    publication.set_public(steward, shown, public=False)
    assert outsider.get(file_of(shown), headers=known).status_code == 302
    assert client_of("stranger").get(file_of(shown), headers=known).status_code == 404
    assert client_of("analyst").get(file_of(shown), headers=known).status_code == 304


def test_members_files_and_pages_are_kept_by_their_own_caches_only(client_of, shown):
    for name in ("release", "release-map", "release-sheet"):
        for person in ("analyst", "anonymous"):
            answer = client_of(person).get(reverse(name, args=[shown.pk]))
            assert answer["Cache-Control"] == "private, no-cache"
            assert "Cookie" in answer["Vary"]
    assert client_of("analyst").get(file_of(shown))["Cache-Control"] == "private, no-cache"


def test_anonymous_visitors_do_not_learn_whether_a_hidden_release_exists(client_of, published):
    nowhere = "00000000-0000-4000-8000-000000000000"
    for name in ("release", "release-map", "release-sheet"):
        there = client_of("anonymous").get(reverse(name, args=[published.pk]))
        missing = client_of("anonymous").get(reverse(name, args=[nowhere]))
        assert there.status_code == missing.status_code == 302
        assert there["Location"].replace(str(published.pk), nowhere) == missing["Location"]


@pytest.mark.parametrize("suffix", ["npy", "tif", "geojson", "csv", "png", "html", "json", "yaml", "npy.zip"])
def test_outsiders_get_every_file_as_members_do(client_of, shown, suffix):
    theirs, members = (
        b"".join(client_of(person).get(file_of(shown, suffix)).streaming_content)
        for person in ("anonymous", "auditor")
    )

    assert theirs == members
    assert not re.search(rb"analyst|steward", theirs)
