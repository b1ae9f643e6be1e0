"""Public releases: what outsiders are shown, what they are not, and what caches are told."""

import importlib
import re

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from heatmaps.ledger.verification import verify
from heatmaps.models import Publication, Release
from heatmaps.people import embedding
from heatmaps.releases import publication
from heatmaps.releases.publication import NotPublished
from mechanisms.catalogue import registry

CHECKED = importlib.import_module("heatmaps.migrations.0030_checked_events")


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


ADDRESSES = ("release", "release-map", "release-sheet", "embed", "api:release", "gis:tilejson")


def answers_of(client, release):
    """How each address of a release answers, with what lists it."""
    pages = [reverse(name, args=[release.pk]) for name in ADDRESSES]
    pages += [file_of(release), reverse("gis:tile", args=[release.pk, 0, 0, 0])]
    lists = (reverse("public"), reverse("gis:collections"))
    listed = [str(release.pk) in client.get(page).content.decode() for page in lists]
    return [client.get(page).status_code for page in pages], listed


def test_a_row_without_an_event_shows_nothing_to_strangers(client_of, steward, published, dataset):
    """And verification names it; a steward who hides or shows it puts it right."""
    stranger = client_of("anonymous")
    hidden = answers_of(stranger, published)
    row = Release.objects.filter(pk=published.pk)
    row.update(public_since=timezone.now())
    assert answers_of(stranger, published) == hidden
    assert "its readers are not those of its events" in verify(dataset).problem
    publication.set_public(steward, published, public=False)
    assert verify(dataset).ok

    publication.set_public(steward, published, public=True)
    shown = answers_of(stranger, published)
    assert set(shown[0]) == {200}
    assert shown[1] == [True, True]
    row.update(public_since=None)
    assert answers_of(stranger, published) == hidden
    assert "its readers are not those of its events" in verify(dataset).problem


def test_readers_are_known_without_another_query(shown, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert publication.readable_release(AnonymousUser(), shown.pk).is_public
    with django_assert_num_queries(1):
        assert publication.is_public(shown.pk)


def test_verification_finds_readers_that_no_event_made(steward, published, dataset):
    Publication.objects.create(release=published, sequence=1, is_public=True)
    Release.objects.filter(pk=published.pk).update(public_since=timezone.now())
    assert "its readers are not those of its events" in verify(dataset).problem


def test_an_upgrade_shows_what_events_show_and_nothing_else(steward, published, dataset):
    """Rows of before, with the table of readers still empty."""
    Release.objects.filter(pk=published.pk).update(public_since=timezone.now())
    CHECKED.publish(apps, None)
    assert not publication.is_public(published.pk)
    for public in (False, True):
        publication.set_public(steward, published, public=public)
    Publication.objects.all().delete()
    CHECKED.publish(apps, None)
    assert publication.is_public(published.pk)
    assert verify(dataset).ok


def test_outsiders_see_the_map_and_nothing_else_of_the_dataset(client_of, shown, dataset):
    outsider = client_of("anonymous")
    address = reverse("release", args=[shown.pk])
    page = outsider.get(address).content.decode()
    members_page = client_of("analyst").get(address).content.decode()

    assert "What this map promises" in page
    assert reverse("release-map", args=[shown.pk]) in page
    own = ("<dt>Cost</dt>", "All releases together", "by analyst", reverse("dataset", args=["city"]))
    for told in own:
        assert told not in page
        assert told in members_page
    address = reverse("release-sheet", args=[shown.pk])
    sheet, members_sheet = (client_of(who).get(address).content.decode() for who in ("anonymous", "analyst"))
    for told in (*own, "With all other releases", "all releases of this dataset so far together"):
        assert told not in sheet
        assert told in members_sheet


def test_public_pages_alone_describe_themselves_to_other_programs(client_of, steward, shown, dataset):
    address = reverse("release", args=[shown.pk])
    told = dict(
        re.findall(
            r'<meta property="og:([a-z_]+)" content="([^"]*)">', page_of(client_of("anonymous"), address)
        )
    )
    assert told["title"] == dataset.title
    assert told["url"] == f"http://testserver{address}"
    image = told["image"].removeprefix("http://testserver")
    assert client_of("anonymous").head(image)["Content-Type"] == "image/png"
    assert f"<p>{told['description']} <a" in page_of(client_of("anonymous"), address)
    publication.set_public(steward, shown, public=False)
    assert "og:" not in page_of(client_of("analyst"), address)
    assert client_of("anonymous").get(image).status_code == 302


def page_of(client, address):
    return client.get(address).content.decode()


def test_a_release_is_linked_and_cited_by_who_may_read_it_and_embedded_where_stewards_say(
    client_of, steward, shown, dataset
):
    address = reverse("release", args=[shown.pk])
    page = page_of(client_of("anonymous"), address)
    assert f'data-copy="link" data-text="http://testserver{address}"' in page
    day = shown.finished_at.date().isoformat()
    title = f"{dataset.title}, {registry.get(shown.mechanism).title}"
    cited = f"{title}. Released {day} with Hazemap, ε = 0.5 (presence), δ = 0. http://testserver{address}"
    assert f'data-text="{cited}"' in page
    assert 'data-copy="embed"' not in page
    embedding.change(steward, dataset, ["https://news.example"], reason="x")
    page = page_of(client_of("anonymous"), address)
    assert f'data-text="http://testserver{reverse("embed", args=[shown.pk])}"' in page
    publication.set_public(steward, shown, public=False)
    page = page_of(client_of("analyst"), address)
    assert 'data-copy="embed"' not in page
    assert "Only members can open the link." in page


def test_it_is_in_the_public_list_while_it_is_public(client_of, steward, shown):
    listed = client_of("anonymous").get(reverse("public")).content.decode()
    publication.set_public(steward, shown, public=False)
    hidden = client_of("anonymous").get(reverse("public")).content.decode()

    assert str(shown.pk) in listed
    assert f'<img src="{reverse("release-thumbnail", args=[shown.pk])}"' in listed
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
