"""Maps that others start from: their pages, lists of guided maps, and what may be made public."""

import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.front.admission import BodyWanted, Unread
from heatmaps.guides.release_sheets import FileSheet
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, GuideFile, Release, Upload
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.wording.guides import HIDDEN
from heatmaps.wording.heatmap import SET_ASIDE
from heatmaps.wording.unchecked_files import UNCHECKED
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.guide import Guide
from tests.guides.rasters import raster
from tests.pages.word_count import released_words, words_of
from tests.services import seed
from tests.services.draws import carry_out

TYPED = {"title": "Built-up area", "source": "Hazel Institute, 2025", "licence": "CC0", "is_public": "on"}
TIFF = raster(np.arange(1.0, 65.0).reshape(8, 8), bounds=(0, 0, 1, 1))
FORM = 'enctype="multipart/form-data"'


def sent(body=TIFF, **changes):
    return TYPED | {"file": SimpleUploadedFile("built.tif", body)} | changes


@pytest.fixture
def empty(make_dataset):
    return make_dataset("empty")


@pytest.fixture
def keep_file(people):
    return partial(seed.store_guide, people["steward"])


@pytest.fixture
def make_town(make_dataset):
    def make(slug):
        made = make_dataset(slug, limits={"presence": "40"})
        seed.add_checkins(made)
        return made

    return make


@pytest.fixture
def publish(people):
    def make(dataset, **changes):
        plain = {"mechanism": "adaptive", "epsilon": "4", "resolution": 16}
        made = lifecycle.request_release(people["analyst"], dataset, ReleaseRequest(**(plain | changes)))
        carry_out(made.pk)
        made.refresh_from_db()
        assert made.state == "published"
        return made

    return make


@pytest.fixture
def guided(make_town, publish):
    """A map and one that started from it."""
    town = make_town("town")
    first = publish(town)
    return first, publish(town, guide=str(first.pk))


@pytest.fixture
def read(client_of):
    def make(name, page, *arguments):
        answer = client_of(name).get(reverse(page, args=arguments))
        assert answer.status_code == 200
        return answer.content.decode()

    return make


@pytest.fixture
def show(people):
    def make(release, *, public=True):
        return publication.set_public(people["steward"], release, public=public)

    return make


def test_a_steward_adds_a_file_before_the_first_upload(client_of, read, empty):
    assert "Add before the first upload" in read("steward", "dataset-data", empty.slug)
    assert "Start from" not in read("analyst", "dataset-data", empty.slug)
    assert client_of("steward").post(reverse("guides", args=[empty.slug]), sent()).status_code == 302
    file = GuideFile.objects.get()
    assert json.loads(Event.objects.get(kind="guide").after)["guide"] == str(file.pk)
    assert verify(empty).problem == ""
    for name in ("steward", "auditor"):
        page = read(name, "guides", empty.slug)
        assert all(text in page for text in ("Hazel Institute, 2025", "CC0", file.file_sha256))
        assert (FORM in page) is (name == "steward")
        assert len(words_of(page)) <= 190
    assert "Built-up area" in read("auditor", "dataset-data", empty.slug)


def test_the_page_says_what_a_stored_map_of_hazemap_promises(read, empty, keep_file):
    keep_file(empty)
    assert "Hazemap map with" not in read("auditor", "guides", empty.slug)
    guarantee = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=1, delta=Fraction(1, 1000))
    GuideFile.objects.update(sheet=FileSheet(guarantee=guarantee).to_json())
    page = read("auditor", "guides", empty.slug)
    assert "A Hazemap map with ε = 1, δ = 0.001. Maps that start from it state the sum." in page


def test_the_form_is_gone_after_the_first_upload(client_of, people, read, empty):
    Upload.objects.create(
        dataset=empty,
        state="received",
        uploaded_by=people["steward"],
        file_name="x",
        size_bytes=1,
        content_digest="x",
    )
    page = read("steward", "guides", empty.slug)
    assert FORM not in page
    assert "only before the first upload" in page
    assert "upload" not in read("analyst", "guides", empty.slug)  # that there is one is for stewards
    refused = client_of("steward").post(reverse("guides", args=[empty.slug]), sent())
    assert refused.status_code == 422
    assert "this one has had an upload" in refused.content.decode()
    assert not GuideFile.objects.exists()


@pytest.mark.parametrize(
    ("body", "changes", "told"),
    [
        (TIFF, {"title": ""}, "This field is required"),
        (TIFF, {"is_public": ""}, "This field is required"),
        (TIFF, {"source": "x" * 301}, "1 to 300 characters"),
        (b"user,time,lat,lon", {}, "a GeoTIFF of at most 64 MiB"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(client_of, empty, body, changes, told):
    answer = client_of("steward").post(reverse("guides", args=[empty.slug]), sent(body, **changes))
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not GuideFile.objects.exists()


def test_who_sends_files_too_often_waits(client_of, empty):
    steward, address = client_of("steward"), reverse("guides", args=[empty.slug])
    assert [steward.post(address, TYPED).status_code for _ in range(4)] == [422, 422, 422, 429]
    refused = steward.post(address, sent())
    assert "You sent or asked for many files" in refused.content.decode()
    assert 0 < int(refused["Retry-After"]) <= 61
    assert not GuideFile.objects.exists()
    assert steward.get(address).status_code == 200
    assert steward.post(reverse("blur", args=[empty.slug])).status_code == 422


def test_a_file_that_is_too_large_or_sent_by_another_site_is_refused(client_of, empty):
    address = reverse("guides", args=[empty.slug])
    large = client_of("steward").post(address, {}, CONTENT_LENGTH=str(2**27))
    assert (large.status_code, "gzip" in large.content.decode()) == (413, False)
    assert client_of("steward", enforce_csrf_checks=True).post(address, sent()).status_code == 403
    assert client_of("auditor").post(address, sent()).status_code == 403


def test_a_map_says_what_it_started_from(read, guided):
    first, second = guided
    page, at = read("auditor", "release", second.pk), reverse("release", args=[first.pk])
    assert "Started from" in page
    assert f'<a href="{at}"><bdi>Map, ε 4</bdi></a>' in page
    assert 80 < len(released_words(page)) <= 220
    assert "Started from" not in read("auditor", "release", first.pk)
    assert read("auditor", "dataset-releases", first.dataset.slug).count("started from a map") == 1
    Release.objects.filter(pk=first.pk).update(name="Harbour days")
    assert "Harbour days</bdi></a> (ε 4)" in read("auditor", "release-sheet", second.pk)


def test_a_map_that_started_from_a_file_says_what_nobody_can_check(make_town, publish, read, show, keep_file):
    town = make_town("town")
    release = show(publish(town, guide=str(keep_file(town).pk)))
    for name in ("analyst", "anonymous"):
        page = read(name, "release", release.pk)
        assert "Built-up area</bdi> (Hazel Institute, 2025)" in page
        assert "This holds only if the file behind it was not made from these people." in page
        assert len(released_words(page)) <= 220
        assert UNCHECKED in read(name, "release-sheet", release.pk)
    assert "Started from a file" in read("anonymous", "public")


def test_a_start_that_did_not_fit_is_told(make_town, publish, read, keep_file):
    """All of it is in one square, and people are everywhere. What starts from the new map says nothing."""
    town = make_town("town")
    file, guide = keep_file(town), Guide.of_values(np.eye(64) * (np.arange(64) == 0))
    GuideFile.objects.update(shares=guide.shares.astype("<i8").tobytes(), sha256=guide.sha256)
    release = publish(town, guide=str(file.pk))
    for page in ("release", "release-sheet"):
        assert read("auditor", page, release.pk).count(SET_ASIDE) == 1
    assert len(released_words(read("auditor", "release", release.pk))) <= 220
    later = publish(town, guide=str(release.pk))
    plain = publish(town, guide=str(publish(town).pk))
    for other in (later, plain):
        for page in ("release", "release-sheet"):
            assert SET_ASIDE not in read("auditor", page, other.pk)


def test_readers_get_links_to_what_they_may_open(read, guided, show):
    first, second = guided
    Release.objects.filter(pk=first.pk).update(name="Secret plans")
    for release in guided:
        show(release)
    page = read("anonymous", "release", second.pk)
    assert reverse("release", args=[first.pk]) in page
    assert "Secret plans" not in page


def test_a_map_of_another_dataset_that_was_hidden_again_has_no_title(make_town, publish, read, show):
    foreign = show(publish(make_town("other")))
    release = publish(make_town("town"), guide=str(foreign.pk))
    assert "(A city)" in read("auditor", "release", release.pk)
    show(foreign, public=False)
    page = read("auditor", "release", release.pk)
    assert HIDDEN in page
    assert str(foreign.pk) not in page


def test_what_has_to_be_public_first_is_linked(client_of, read, guided, show):
    first, second = guided
    page = read("steward", "release-publication", second.pk)
    assert "Make that one public first" in page
    assert reverse("release-publication", args=[first.pk]) in page
    assert "<button" not in page[page.index("<main") :]
    assert len(words_of(page)) <= 70
    address = reverse("release-publication", args=[second.pk])
    refused = client_of("steward").post(address, {"public": "yes"}, follow=True)
    assert "is not public: make that one public first" in refused.content.decode()
    for release in guided:
        show(release)
    assert "Hide that one first" in read("steward", "release-publication", first.pk)
    assert "<button" in read("steward", "release-publication", second.pk)


def test_nothing_of_another_dataset_is_linked(make_town, publish, read, show):
    foreign = show(publish(make_town("other")))
    release = publish(make_town("town"), guide=str(foreign.pk))
    show(foreign, public=False)
    page = read("steward", "release-publication", release.pk)
    assert HIDDEN in page
    assert str(foreign.pk) not in page


@pytest.mark.parametrize("name", ["guides", "blur"])
def test_a_large_form_counts_once_it_is_here(client_of, empty, name):
    """Its CSRF token is in the body. Who has no minute left is refused before the body comes."""
    address, coming = reverse(name, args=[empty.slug]), {"wsgi.input": Unread(), "CONTENT_LENGTH": "300000"}
    steward = client_of("steward", enforce_csrf_checks=True)
    steward.cookies["csrftoken"] = "a" * 32
    for _ in range(20):
        with pytest.raises(BodyWanted):
            steward.post(address, {}, **coming)

    own = client_of("steward")
    statuses = [own.post(address).status_code for _ in range(11)]

    assert statuses == [422] * (most := settings.MOST_A_MINUTE[name]) + [429] * (11 - most)
    assert steward.post(address, {}, **coming).status_code == 429
