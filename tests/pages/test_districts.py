"""District files of a dataset: kept by stewards, shown with maps, and maps added up in them."""

import csv
import io
import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.districts import children, files
from heatmaps.districts.files import DistrictFileFacts
from heatmaps.exports import district_sums
from heatmaps.models import DistrictFile, Event
from heatmaps.releases import lifecycle, publication
from mechanisms.check import ParameterError
from mechanisms.results.district_sums import district_sum
from mechanisms.space.grid import Region
from tests.geojson import districts, square
from tests.mechanisms.results.test_district_sums import squares_in
from tests.services.seed import store_districts

HALVES = districts(North=square(0, 0.5, 0.5), South=square(0, 0, 0.5), Far=square(40, 40))
TYPED = {"title": "Halves", "source": "City of Hazel, 2026", "licence": "CC0", "is_public": "on"}


def sent(body=HALVES, **changes):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return TYPED | {"file": SimpleUploadedFile("halves.geojson", content)} | changes


@pytest.fixture
def stored(people, dataset):
    facts = DistrictFileFacts(title="Halves", source="City of Hazel, 2026", licence="CC0")
    return files.store(people["steward"], dataset, json.dumps(HALVES).encode(), facts)


@pytest.fixture
def send(client_of, dataset, settings):
    """Small files only."""
    settings.MAX_DISTRICT_BYTES = 1000
    client, address = client_of("steward"), reverse("districts", args=[dataset.slug])
    return lambda typed: client.post(address, typed)


def test_a_steward_stores_changes_replaces_and_deletes_a_file(client_of, dataset):
    client, address = client_of("steward"), reverse("districts", args=[dataset.slug])
    events = Event.objects.count()
    assert client.post(address, sent()).status_code == 302
    file = DistrictFile.objects.get()
    assert (file.areas, file.corners, file.source) == (3, 15, "City of Hazel, 2026")
    assert "City of Hazel, 2026" in client_of("auditor").get(address).content.decode()

    own = reverse("district-file", args=[dataset.slug, file.pk])
    renamed = {"title": "Two halves", "source": "City of Hazel", "licence": ""}
    assert client.post(own, renamed).status_code == 302
    smaller = districts(One=square(0, 0))
    replaced = renamed | {"file": SimpleUploadedFile("one.geojson", json.dumps(smaller).encode())}
    assert client.post(own, replaced).status_code == 302
    changed = DistrictFile.objects.get()
    assert (changed.pk, changed.title, changed.areas) == (file.pk, "Two halves", 1)
    assert changed.sha256 != file.sha256

    gone = reverse("district-file-delete", args=[dataset.slug, file.pk])
    assert "Delete Two halves?" in client.get(gone).content.decode()
    assert client.post(gone).status_code == 302
    assert not DistrictFile.objects.exists()
    assert Event.objects.count() == events  # public, and no part of the ledger


@pytest.mark.parametrize(
    ("body", "changes", "told"),
    [
        (HALVES, {"title": ""}, "This field is required"),
        (HALVES, {"source": "  "}, "This field is required"),
        (HALVES, {"is_public": ""}, "This field is required"),
        (HALVES, {"source": "x" * 301}, "1 to 300 characters"),
        (HALVES, {"name_property": "quarter"}, "feature 1 has name"),
        (b"user,time,lat,lon", {}, "a GeoJSON FeatureCollection"),
        (districts(A={"type": "Point", "coordinates": [0, 0]}), {}, "the Point of feature 1 (A)"),
        (b" " * 2000, {}, "at most 1000 bytes"),
    ],
)
def test_what_is_refused_is_said_beside_its_field(send, body, changes, told):
    answer = send(sent(body, **changes))
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not DistrictFile.objects.exists()


def test_titles_are_told_apart_and_files_are_few(people, dataset, stored, monkeypatch):
    again = DistrictFileFacts(title="Halves", source="somebody else")
    with pytest.raises(ParameterError, match="a title that no other"):
        files.store(people["steward"], dataset, b"", again)
    with pytest.raises(ParameterError, match="a title that no other"):
        files.change(people["steward"], store_districts(people["steward"], dataset), again)
    monkeypatch.setattr(files, "MOST_FILES", 1)
    with pytest.raises(ParameterError, match="1 files a dataset"):
        files.store(people["steward"], dataset, b"", DistrictFileFacts(title="More", source="somebody"))


def test_a_file_that_takes_too_much_ends_its_child_and_not_the_server(people, dataset, monkeypatch):
    monkeypatch.setattr(children, "_CLOCK_SECONDS", 0.0)
    with pytest.raises(ParameterError, match="fewer corners"):
        files.store(people["steward"], dataset, b"{}", DistrictFileFacts(title="Slow", source="somebody"))
    assert not DistrictFile.objects.exists()


def test_the_release_page_adds_the_map_up(client_of, counted, stored):
    heatmap = lifecycle.heatmap_of(counted)
    squares = squares_in(heatmap)
    polygons = [[feature["geometry"]["coordinates"]] for feature in HALVES["features"][:2]]
    region = Region(0, 0, 1, 1)
    expected = [district_sum(squares, region, one[0:1]) for one in polygons]

    found = district_sums.sums_of_file(counted, stored)
    assert [row.name for row in found.rows] == ["North", "South"]
    assert found.outside == 1
    assert [row.value for row in found.rows] == pytest.approx([one.value for one in expected])
    assert [row.error for row in found.rows] == pytest.approx([one.error for one in expected])

    client = client_of("analyst")
    page = client.get(reverse("release", args=[counted.pk])).content.decode()
    assert "People in districts" in page
    assert "City of Hazel, 2026, CC0" in page
    assert "1 more lie outside this map" in page
    assert all(row.people in page and row.within in page for row in district_sums.rows_for_people(found))

    table = client.get(reverse("release-district-sums", args=[counted.pk, stored.pk]))
    lines = list(csv.DictReader(io.StringIO(table.content.decode())))
    assert [line["area"] for line in lines] == ["North", "South"]
    people_in, within = (np.array([float(line[name]) for line in lines]) for name in ("people", "within"))
    assert people_in == pytest.approx([one.value for one in expected])
    assert within == pytest.approx([2 * one.error for one in expected])


def test_the_map_knows_where_its_districts_are(client_of, published, stored):
    client = client_of("analyst")
    document = client.get(reverse("release-map", args=[published.pk])).content.decode()
    address = reverse("release-districts", args=[published.pk, stored.pk])
    told = json.loads(document.split('<script id="districts" type="application/json">')[1].split("<")[0])
    facts = {"title": "Halves", "source": "City of Hazel, 2026", "licence": "CC0", "address": address}
    assert told == [facts]
    shown = client.get(address)
    assert shown["Content-Type"] == "application/geo+json"
    assert [one["properties"] for one in shown.json()["features"]] == [
        {"name": "North"},
        {"name": "South"},
        {"name": "Far"},
    ]


def test_who_reads_a_public_map_reads_its_districts_until_it_is_hidden(client_of, people, counted, stored):
    addresses = [
        reverse(page, args=[counted.pk, stored.pk]) for page in ("release-districts", "release-district-sums")
    ]

    def seen():
        return [client_of("anonymous").get(address).status_code for address in addresses]

    assert seen() == [302, 302]
    publication.set_public(people["steward"], counted, public=True)
    assert seen() == [200, 200]
    publication.set_public(people["steward"], counted, public=False)
    assert seen() == [302, 302]


def test_nothing_is_added_up_before_a_result_may_be_seen(client_of, queued, stored):
    for page in ("release-districts", "release-district-sums"):
        address = reverse(page, args=[queued.pk, stored.pk])
        assert client_of("steward").get(address).status_code == 404
    assert (
        "People in districts"
        not in client_of("steward").get(reverse("release", args=[queued.pk])).content.decode()
    )


def test_a_file_of_another_dataset_is_not_found(client_of, make_dataset, published, stored):
    other = make_dataset("other")
    moved = DistrictFile.objects.get()
    moved.dataset = other
    moved.save()
    address = reverse("release-districts", args=[published.pk, stored.pk])
    assert client_of("steward").get(address).status_code == 404


def test_a_map_that_states_no_errors_has_no_sums(client_of, published, stored):
    client = client_of("steward")
    page = client.get(reverse("release", args=[published.pk]))
    assert page.status_code == 200
    assert "People in districts" not in page.content.decode()
    table = client.get(reverse("release-district-sums", args=[published.pk, stored.pk]))
    assert table.status_code == 404
