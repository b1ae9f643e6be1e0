"""Uploads in the browser: stewards only, readable refusals, nothing read of a body that is not welcome."""

import gzip
import io

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.ingest import uploads
from heatmaps.models import Upload

ROWS = b"user,time,lat,lon\nann,2026-01-01T00:00:00Z,0.5,0.5\nbob,,0.25,0.75\n"
BAD_ROWS = ROWS + b"".join(b"p%d,,0.5,0.5\n" % at for at in range(200)) + b"eve,,91,0\n"


@pytest.fixture
def send(client_of, dataset):
    def post(content, name="checkins.csv", person="steward", **headers):
        body = {"file": SimpleUploadedFile(name, content), "advance": "1"}
        address = reverse("upload-new", args=[dataset.slug])
        return client_of(person).post(address, body, headers=headers)

    return post


def latest():
    return Upload.objects.order_by("-created_at").first()


def test_it_takes_a_file_and_says_how_far_it_is(send, client_of):
    answer = send(gzip.compress(ROWS), "checkins.csv.gz", accept="application/json")
    assert answer.status_code == 201
    assert answer.json()["active"] is True

    uploads.run(latest().pk)

    progress = client_of("steward").get(answer.json()["url"]).json()
    assert progress["state"] == "ready"
    assert (progress["percent"], progress["accepted"], progress["rejected"]) == (100, 2, 0)


def test_it_works_without_a_script(send, dataset):
    answer = send(ROWS)

    assert answer["Location"] == reverse("dataset", args=[dataset.slug])
    assert latest().file_name == "checkins.csv"


def test_it_lists_rejected_rows_for_the_steward(send, client_of):
    send(BAD_ROWS)
    uploads.run(latest().pk)
    address = reverse("upload-rejected", args=[latest().pk])

    answer = client_of("steward").get(address)

    page = client_of("steward").get(reverse("dataset", args=[latest().dataset.slug]))
    assert address in page.content.decode()
    assert b"".join(answer.streaming_content).startswith(b"row,reason\n204,")
    assert client_of("analyst").get(address).status_code == 403
    assert client_of("stranger").get(address).status_code == 404


def test_it_says_why_a_file_was_refused(send, client_of, dataset):
    send(ROWS)
    again = send(ROWS, "again.csv", accept="application/json")
    assert again.status_code == 422
    assert "in the dataset already" in again.json()["error"]

    body = client_of("steward").post(reverse("upload-new", args=[dataset.slug]), {}, follow=True)
    assert "choose a file first" in body.content.decode()


def test_it_says_why_a_file_could_not_be_read(send, client_of, dataset):
    send(b"a,b\n1,2\n")
    uploads.run(latest().pk)

    body = client_of("steward").get(reverse("dataset", args=[dataset.slug])).content.decode()

    assert "header" in body
    assert "failed" in body


class NeverRead(io.BytesIO):
    def read(self, *arguments):
        raise AssertionError("the body was read")


@pytest.mark.parametrize(
    ("person", "length", "status"),
    [
        ("steward", 3 * 2**30, 413),
        ("analyst", 100, 403),
        ("stranger", 100, 404),
        ("anonymous", 100, 302),
    ],
)
def test_it_reads_nothing_of_a_body_that_is_not_welcome(client_of, dataset, person, length, status):
    answer = client_of(person).generic(
        "POST",
        reverse("upload-new", args=[dataset.slug]),
        content_type="multipart/form-data; boundary=x",
        **{"wsgi.input": NeverRead(), "CONTENT_LENGTH": str(length)},
    )

    assert answer.status_code == status
    if status == 413:
        assert f"{settings.MAX_UPLOAD_BYTES / 2**20:,.0f} MiB" in answer.content.decode()


def test_it_asks_for_a_token_against_forged_forms(client_of, dataset):
    client = client_of("steward", enforce_csrf_checks=True)

    body = {"file": SimpleUploadedFile("checkins.csv", ROWS)}
    answer = client.post(reverse("upload-new", args=[dataset.slug]), body)

    assert answer.status_code == 403
    assert dataset.uploads.count() == 1
