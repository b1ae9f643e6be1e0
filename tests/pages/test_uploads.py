"""Uploads in the browser: stewards only, readable refusals, nothing read of a body that is not welcome."""

import gzip
import io

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import TestCase
from django.urls import reverse
from django.utils import timezone

from heatmaps.ingest import uploads
from heatmaps.masses import column_copies
from heatmaps.models import CheckIn, PackingAttempts, Upload
from heatmaps.numbers import size

ROWS = b"user,time,lat,lon\nann,2026-01-01T00:00:00Z,0.5,0.5\nbob,,0.25,0.75\n"
BAD_ROWS = ROWS + b"".join(b"p%d,,0.5,0.5\n" % at for at in range(200)) + b"eve,,91,0\n"


@pytest.fixture
def send(client_of, dataset):
    def post(content, name="checkins.csv", person="steward", **headers):
        body = {"file": SimpleUploadedFile(name, content), "advance": "1"}
        address = reverse("upload-new", args=[dataset.slug])
        return client_of(person).post(address, body, headers=headers)

    return post


@pytest.fixture
def uncopied(send, monkeypatch):
    """An upload that is worth a copy, after so many attempts at one."""
    monkeypatch.setattr(column_copies, "LEAST_CHECKINS", 1)

    def make(attempts):
        send(ROWS)
        uploads.run(latest().pk)
        PackingAttempts.objects.create(upload=latest(), attempts=attempts, next_at=timezone.now())
        return latest()

    return make


def latest():
    return Upload.objects.order_by("-created_at").first()


def test_it_takes_a_file_and_says_how_far_it_is(send, client_of):
    answer = send(gzip.compress(ROWS), "checkins.csv.gz", accept="application/json")
    assert answer.status_code == 201
    [told] = answer.json()["files"]
    assert told["active"] is True

    uploads.run(latest().pk)

    progress = client_of("steward").get(told["url"]).json()
    assert progress["state"] == "ready"
    assert (progress["percent"], progress["accepted"], progress["rejected"]) == (100, 2, 0)


def test_it_works_without_a_script(send, dataset):
    answer = send(ROWS)

    assert answer["Location"] == reverse("dataset-data", args=[dataset.slug])
    assert latest().file_name == "checkins.csv"


def test_it_lists_rejected_rows_for_the_steward(send, client_of):
    send(BAD_ROWS)
    uploads.run(latest().pk)
    address = reverse("upload-rejected", args=[latest().pk])

    answer = client_of("steward").get(address)

    page = client_of("steward").get(reverse("dataset-data", args=[latest().dataset.slug]))
    assert address in page.content.decode()
    assert b"".join(answer.streaming_content).startswith(b"row,reason\n204,")
    assert client_of("analyst").get(address).status_code == 403
    assert client_of("stranger").get(address).status_code == 404


@pytest.mark.parametrize(
    ("attempts", "told"), [(column_copies.MOST_ATTEMPTS - 1, False), (column_copies.MOST_ATTEMPTS, True)]
)
def test_it_says_that_a_file_has_no_quick_copy(uncopied, client_of, *, attempts, told):
    address = reverse("dataset-data", args=[uncopied(attempts).dataset.slug])

    page = client_of("steward").get(address).content.decode()

    assert ("its faster copy could not be made" in page) == told
    assert (reverse("upload-copy", args=[latest().pk]) in page) == told
    other = client_of("analyst").get(address).content.decode()
    assert "faster copy" not in other
    assert "/copy/" not in other


def test_a_steward_has_the_copy_tried_again_once(uncopied, client_of, sent):
    address, steward = (
        reverse("upload-copy", args=[uncopied(column_copies.MOST_ATTEMPTS).pk]),
        client_of("steward"),
    )
    sent.clear()
    assert client_of("steward", enforce_csrf_checks=True).post(address).status_code == 403
    assert client_of("analyst").post(address).status_code == 403

    with TestCase.captureOnCommitCallbacks(execute=True):
        first, second = (steward.post(address, follow=True).content.decode() for _ in range(2))

    assert "The server tries the copy of" in first
    assert "faster copy" not in first
    assert "only a copy that failed for good" in second
    assert PackingAttempts.objects.get().attempts == 0
    assert sent == [("heatmaps.ingest", str(latest().pk))]


def test_it_says_why_a_file_was_refused(send, client_of, dataset):
    send(ROWS)
    again = send(ROWS, "again.csv", accept="application/json")
    assert again.status_code == 422
    assert "already in the dataset" in again.json()["files"][0]["error"]

    body = client_of("steward").post(reverse("upload-new", args=[dataset.slug]), {}, follow=True)
    assert "choose a file first" in body.content.decode()


def test_it_says_why_a_file_could_not_be_read(send, client_of, dataset):
    send(b"a,b\n1,2\n")
    uploads.run(latest().pk)

    body = client_of("steward").get(reverse("dataset-data", args=[dataset.slug])).content.decode()

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
        assert size(settings.MAX_UPLOAD_BYTES) in answer.content.decode()


def test_it_asks_for_a_token_against_forged_forms(client_of, dataset):
    client = client_of("steward", enforce_csrf_checks=True)

    body = {"file": SimpleUploadedFile("checkins.csv", ROWS)}
    answer = client.post(reverse("upload-new", args=[dataset.slug]), body)

    assert answer.status_code == 403
    assert dataset.uploads.count() == 1


@pytest.fixture
def send_all(client_of, dataset):
    def post(*contents, **headers):
        files = [SimpleUploadedFile(f"file-{at}.csv", content) for at, content in enumerate(contents)]
        address = reverse("upload-new", args=[dataset.slug])
        return client_of("steward").post(address, {"file": files, "advance": "1"}, headers=headers)

    return post


def run_all():
    for upload in Upload.objects.filter(state="received").order_by("created_at"):
        uploads.run(upload.pk)


OTHER = b"user,lat,lon\nann,0.1,0.1\ncat,0.2,0.2\n"


def test_several_files_become_available_together_with_the_last_of_them(send_all, dataset):
    told = send_all(ROWS, OTHER, accept="application/json").json()["files"]
    first, last = Upload.objects.filter(state="received").order_by("created_at")
    assert [row["name"] for row in told] == ["file-0.csv", "file-1.csv"]

    uploads.run(first.pk)
    assert dataset.versions.count() == 1  # the one of the seed
    uploads.run(last.pk)

    assert {row.version.number for row in Upload.objects.filter(batch=first.batch)} == {2}
    assert dataset.versions.count() == 2
    # ann is in both files and one person.
    assert CheckIn.objects.filter(extent__upload__batch=first.batch).values("person").distinct().count() == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_file_that_cannot_be_read_does_not_hold_up_the_others(send_all, dataset, order):
    send_all(ROWS, b"a,b\n1,2\n")
    waiting = list(Upload.objects.filter(state="received").order_by("created_at"))
    for at in order:
        uploads.run(waiting[at].pk)

    states = list(Upload.objects.filter(batch__isnull=False).order_by("created_at").values_list("state"))
    assert states == [("ready",), ("failed",)]
    assert Upload.objects.get(pk=waiting[0].pk).version.number == 2


def test_files_that_all_fail_make_no_version(send_all, dataset):
    send_all(b"a,b\n1,2\n", b"c,d\n1,2\n")
    run_all()
    assert dataset.versions.count() == 1


def test_each_file_is_refused_for_itself(send_all, dataset):
    answer = send_all(ROWS, ROWS, OTHER, accept="application/json")
    told = answer.json()["files"]

    assert answer.status_code == 201
    assert [("error" in row) for row in told] == [False, True, False]
    assert "it was uploaded as file-0.csv" in told[1]["error"]
    assert dataset.uploads.filter(state="received").count() == 2
    page = send_all(ROWS, b"user,lat,lon\n", accept="text/html")
    assert page.status_code == 302


def test_it_finds_uploads_by_name_and_state_and_in_pages(send, client_of, dataset):
    for at in range(25):
        send(ROWS + b"x%d,,0.5,0.5\n" % at, f"march-{at}.csv")
    steward, page = client_of("steward"), reverse("dataset-data", args=[dataset.slug])

    assert steward.get(page).content.count(b'class="upload-name"') == 20
    assert steward.get(page, {"uploads": 2}).content.count(b'class="upload-name"') == 6
    assert steward.get(page, {"state": "ready"}).content.count(b'class="upload-name"') == 1
    found = steward.post(reverse("uploads-found", args=[dataset.slug]), {"name": "march-1"})
    assert found.content.count(b'class="upload-name"') == 11  # 1, 10 to 19
    for person, status in (("analyst", 403), ("stranger", 404)):
        answer = client_of(person).post(reverse("uploads-found", args=[dataset.slug]), {"name": "m"})
        assert answer.status_code == status


@pytest.mark.parametrize("damage", ["missing", "different"])
def test_a_file_is_refused_at_once_without_the_datasets_own_key(send, client_of, dataset, settings, damage):
    path = settings.KEY_DIR / f"{dataset.slug}-{dataset.key_fingerprint[:12]}.key"
    path.unlink() if damage == "missing" else path.write_text("00" * 32)
    preview = client_of("steward").post(
        reverse("upload-preview", args=[dataset.slug]), {"file": SimpleUploadedFile("a.csv", ROWS)}
    )
    sent = send(ROWS, accept="application/json")
    left = client_of("steward").post(
        reverse("opt-out", args=[dataset.slug]), {"users": "ann", "back": "1"}, follow=True
    )
    for answer in (preview, sent):
        assert (answer.status_code, "restore it from the backup" in answer.json()["error"]) == (422, True)
    assert "restore it from the backup" in left.content.decode()
    assert dataset.uploads.count() == 1
