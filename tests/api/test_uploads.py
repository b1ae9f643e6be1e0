"""Files and check-ins that come in over HTTP, and what is refused of them."""

import gzip
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from heatmaps.masses import column_copies
from heatmaps.models import CheckIn, PackingAttempts, Upload
from tests.triggers import disabled

ROWS = "".join(f"u{at % 30},2025-03-01T08:30:00Z,0.{at % 10},0.0{at % 7}\n" for at in range(20))
CSV = f"user,time,lat,lon\n{ROWS}".encode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("advance", [True, False])
def test_it_takes_a_form_with_a_file(api, dataset, work, advance):
    query = "" if advance else "?advance=false"
    address = reverse("api:uploads", args=[dataset.slug]) + query
    file = SimpleUploadedFile("march.csv.gz", gzip.compress(b"user,lat,lon\na,0.5,0.5\n"))

    answer = api("steward").post(address, {"file": file})
    work()

    assert answer.status_code == 201
    assert answer.json()["file_name"] == "march.csv.gz"
    upload = Upload.objects.get(pk=answer.json()["id"])
    assert (upload.state, upload.rows_accepted, bool(upload.version)) == ("ready", 1, advance)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("application/json", json.dumps([{"user": 'a,"b', "lat": 0.25, "lon": 1e-7, "time": "2025-03-01"}])),
        ("application/x-ndjson", '{"user": "a", "lat": 0.25, "lon": 0.5}\n'),
    ],
)
def test_it_takes_checkins(api, dataset, work, content_type, content):
    before = CheckIn.objects.count()

    answer = api("steward").send(
        "POST", "checkins", dataset.slug, body=content.encode(), content_type=content_type
    )
    work()

    assert api("steward").get(answer["Location"]).json()["rows_accepted"] == 1
    assert CheckIn.objects.count() == before + 1


@pytest.mark.django_db(transaction=True)
def test_it_reads_a_file_as_it_is_told(api, dataset, work):
    query = "?columns=user%3Duid&time_zone=Europe/Madrid&max_rejected=50&name=m.csv"
    content = b"uid,time,lat,lon\na,2025-03-01T01:00:00,0.5,0.5\n,,x,y\n"

    answer = api("steward").send(
        "POST", "uploads", dataset.slug, body=content, query=query, content_type="text/csv"
    )
    work()

    done = api("steward").get(answer["Location"]).json()
    listed = b"".join(api("steward").get(done["links"]["rejected"]).streaming_content)
    assert listed.startswith(b"row,reason")
    assert (done["file_name"], done["rows_accepted"], done["rows_rejected"]) == ("m.csv", 1, 1)
    assert CheckIn.objects.get(extent__upload=done["id"]).time == 1740787200  # midnight in UTC


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *((f"?advance={text}", "advance") for text in ["no", "True", "1", "on", "", "true%20"]),
        ("?advance=false&advance=true", "advance"),
        ("?advnace=false", "advnace"),
        ("?time_zone=Mars", "time_zone"),
    ],
)
def test_it_refuses_a_parameter_that_it_does_not_know(api, dataset, query, field):
    """A word mistyped must not make data available."""
    answer = api("steward").send(
        "POST", "uploads", dataset.slug, body=CSV, query=query, content_type="text/csv"
    )

    assert answer.status_code in {400, 422}
    assert answer.json()["errors"][0]["field"] == field
    assert Upload.objects.count() == 1


def test_it_takes_the_same_file_once(api, dataset):
    steward = api("steward")
    first, second = (
        steward.send("POST", "uploads", dataset.slug, body=CSV, content_type="text/csv") for _ in range(2)
    )

    assert (first.status_code, second.status_code) == (201, 409)
    assert second.json()["code"] == "duplicate_upload"


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"body": b"", "content_type": "text/csv"}, 422, "empty"),
        ({"body": b"<x/>", "content_type": "text/xml"}, 415, "unsupported_media_type"),
        ({"body": b"{}", "content_type": "application/json"}, 415, "unsupported_media_type"),
        ({"body": b"--x", "content_type": "multipart/form-data"}, 400, "parse_error"),
        ({"body": b"--x--", "content_type": "multipart/form-data; boundary=x"}, 422, "empty"),
    ],
)
def test_it_refuses_what_is_no_file(api, dataset, changes, status, code):
    answer = api("steward").send("POST", "uploads", dataset.slug, **changes)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("content_type", ["application/json", "application/x-ndjson"])
def test_it_refuses_checkins_that_are_none(api, dataset, content_type):
    answer = api("steward").send("POST", "checkins", dataset.slug, body=b"", content_type=content_type)

    assert (answer.status_code, answer.json()["code"]) == (422, "empty")


@pytest.mark.parametrize("count", [1, 2])
def test_it_refuses_a_name_that_is_too_long(api, dataset, count):
    address = reverse("api:uploads", args=[dataset.slug]) + "?name=" + "n" * 201
    before = Upload.objects.count()

    answer = api("steward").post(
        address, {"file": [SimpleUploadedFile(f"{number}.csv", CSV) for number in range(count)]}
    )

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "name")
    assert Upload.objects.count() == before


def test_it_refuses_other_fields_of_a_form(api, dataset):
    file = SimpleUploadedFile("march.csv", CSV)

    answer = api("steward").post(
        reverse("api:uploads", args=[dataset.slug]), {"file": file, "advance": "false"}
    )

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "advance")


def test_it_refuses_a_file_that_is_too_large_unread(api, dataset, settings, tmp_path):
    settings.MAX_UPLOAD_BYTES, settings.UPLOAD_DIR = 500, tmp_path
    body = CSV + b" " * 70_000

    told = api("steward").send("POST", "uploads", dataset.slug, body=body, content_type="text/csv")
    silent = api("steward").send("POST", "uploads", dataset.slug, body=CSV, content_type="text/csv")

    assert (told.status_code, told.json()["code"]) == (413, "too_large")
    assert (silent.status_code, silent.json()["code"]) == (413, "too_large")
    assert not list(tmp_path.iterdir())


def test_it_never_holds_a_file_in_memory(api, dataset, monkeypatch):
    """Read from the connection in blocks, straight to disk."""
    sizes = []

    def receive(_person, _dataset, file, **_options):
        sizes.extend(len(block) for block in iter(lambda: file.read(100), b""))
        raise RuntimeError("enough")

    monkeypatch.setattr("heatmaps.ingest.uploads.receive", receive)
    client = api("steward")
    client.raise_request_exception = False
    client.send("POST", "uploads", dataset.slug, body=CSV, content_type="text/csv")

    assert sum(sizes) == len(CSV)
    assert max(sizes) == 100


@pytest.mark.django_db(transaction=True)
def test_it_takes_an_upload_back_until_a_version_includes_it(api, dataset, work):
    steward = api("steward")
    query = "?advance=false"
    sent = steward.send("POST", "uploads", dataset.slug, body=CSV, query=query, content_type="text/csv")
    work()
    ready = steward.get(sent["Location"]).json()

    undone = steward.post(ready["links"]["undo"])
    again = steward.post(ready["links"]["undo"])
    work()

    assert (ready["rows_accepted"], undone.json()["state"]) == (20, "undone")
    assert "undo" not in undone.json()["links"]
    assert (again.status_code, again.json()["code"]) == (409, "not_undoable")
    assert not CheckIn.objects.filter(extent__upload=ready["id"]).exists()


@pytest.mark.parametrize(
    ("least", "attempts", "told"),
    [
        (1, column_copies.MOST_ATTEMPTS, "given_up"),
        (1, column_copies.MOST_ATTEMPTS - 1, None),
        (100_000, column_copies.MOST_ATTEMPTS, "none"),
    ],
)
def test_it_tells_how_far_the_copy_of_an_upload_is(api, upload, monkeypatch, *, least, attempts, told):
    monkeypatch.setattr(column_copies, "LEAST_CHECKINS", least)
    given(upload, attempts)
    steward = api("steward")

    read = steward.send("GET", "upload", upload.pk).json()
    [listed] = steward.send("GET", "uploads", upload.dataset.slug).json()["results"]

    usual = "waiting" if connection.vendor == "postgresql" else "none"
    assert read["copy"] == listed["copy"] == (told or usual)
    assert ("copy" in read["links"]) == (told == "given_up")
    assert api("analyst").send("GET", "upload", upload.pk).status_code == 403


def test_it_tries_a_copy_again_that_was_given_up(api, upload, monkeypatch):
    monkeypatch.setattr(column_copies, "LEAST_CHECKINS", 1)
    given(upload, column_copies.MOST_ATTEMPTS)
    steward = api("steward")
    address = steward.send("GET", "upload", upload.pk).json()["links"]["copy"]
    assert api("analyst").post(address).status_code == 403

    first, second = steward.post(address), steward.post(address)

    assert (first.status_code, "copy" in first.json()["links"]) == (200, False)
    assert first.json()["copy"] != "given_up"
    assert (second.status_code, second.json()["code"]) == (409, "copy_not_given_up")
    assert PackingAttempts.objects.get().attempts == 0


def given(upload, attempts):
    """The upload's rows as they were counted, and so many attempts at a copy."""
    with disabled():
        Upload.objects.filter(pk=upload.pk).update(rows_accepted=120)
    PackingAttempts.objects.create(upload=upload, attempts=attempts, next_at=timezone.now())


@pytest.mark.django_db(transaction=True)
def test_it_takes_several_files_into_one_version(api, dataset, work):
    address = reverse("api:uploads", args=[dataset.slug])
    contents = [b"user,lat,lon\na,0.5,0.5\n", b"user,lat,lon\na,0.25,0.5\nb,0.5,0.5\n"]
    files = [SimpleUploadedFile(f"{at}.csv", content) for at, content in enumerate([*contents, contents[0]])]

    answer = api("steward").post(address, {"file": files})
    work()

    told = answer.json()
    assert answer.status_code == 201
    assert [row["file_name"] for row in told["results"]] == ["0.csv", "1.csv"]
    assert [(row["file_name"], row["code"]) for row in told["refused"]] == [("2.csv", "duplicate_upload")]
    taken = Upload.objects.filter(pk__in=[row["id"] for row in told["results"]])
    assert {row.version.number for row in taken} == {2}
    assert CheckIn.objects.filter(extent__upload__in=taken).values("person").distinct().count() == 2
