"""How a file is read, undoing an upload and opting people out, in the browser; all for stewards only."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.ingest import opt_outs, uploads
from heatmaps.models import CheckIn, Suppression, Upload, UploadState

OTHER = b"uid,when,latitude,lon\nann,2024-07-01T12:00,0.5,0.5\n"
CHOICE = "user=uid,time=when,lat=latitude"


@pytest.fixture
def send(client_of, dataset):
    """Post a file to one of the dataset's addresses."""

    def post(name="upload-new", content=OTHER, person="steward", **fields):
        body = {"file": SimpleUploadedFile("other.csv", content)} | fields
        headers = {"accept": "application/json"}
        return client_of(person).post(reverse(name, args=[dataset.slug]), body, headers=headers)

    return post


@pytest.fixture
def waiting(send):
    """A ready upload that no version includes."""
    send(columns=CHOICE)
    row = Upload.objects.order_by("-created_at").first()
    uploads.run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.version) == (UploadState.READY, None)
    return row


def page(client_of, dataset, person="steward"):
    return client_of(person).get(reverse("dataset-data", args=[dataset.slug])).content.decode()


def test_it_shows_what_a_file_has_and_stores_nothing(send, dataset, settings):
    before = sorted(settings.UPLOAD_DIR.iterdir())
    answer = send("upload-preview")
    assert answer.json() == {
        "columns": ["uid", "when", "latitude", "lon"],
        "guess": {"user": "uid", "time": "", "lat": "latitude", "lon": "lon"},
        "rows": [["ann", "2024-07-01T12:00", "0.5", "0.5"]],
    }
    assert dataset.uploads.count() == 1  # the fixture's own
    assert sorted(settings.UPLOAD_DIR.iterdir()) == before


def test_it_says_why_a_file_cannot_be_shown(send, client_of, dataset):
    assert "spreadsheet" in send("upload-preview", b"PK\x03\x04" + bytes(99)).json()["error"]
    nothing = client_of("steward").post(reverse("upload-preview", args=[dataset.slug]))
    assert (nothing.status_code, nothing.json()["error"]) == (422, "choose a file first")


def test_a_preview_takes_no_large_body(client_of, dataset):
    address = reverse("upload-preview", args=[dataset.slug])
    answer = client_of("steward").generic("POST", address, CONTENT_LENGTH=str(9 * 2**20))
    assert answer.status_code == 413


def test_a_preview_asks_for_a_token_against_forged_forms(client_of, dataset):
    client = client_of("steward", enforce_csrf_checks=True)
    body = {"file": SimpleUploadedFile("other.csv", OTHER)}
    assert client.post(reverse("upload-preview", args=[dataset.slug]), body).status_code == 403


@pytest.mark.parametrize(("person", "status"), [("analyst", 403), ("auditor", 403), ("stranger", 404)])
def test_only_stewards_preview_undo_and_opt_out(send, client_of, waiting, person, status):
    assert send("upload-preview", person=person).status_code == status
    assert send("opt-out", person=person).status_code == status
    undo = reverse("upload-undo", args=[waiting.pk])
    assert client_of(person).post(undo).status_code == status
    assert client_of("steward").get(undo).status_code == 405
    waiting.refresh_from_db()
    assert waiting.state == UploadState.READY
    assert not Suppression.objects.exists()


def test_an_upload_is_read_as_the_form_says(send):
    said = {"columns": CHOICE, "time_zone": "Europe/Madrid", "max_rejected": "50"}
    assert send(content=OTHER + b"ann,,91,0\n", **said).status_code == 201
    row = Upload.objects.order_by("-created_at").first()
    uploads.run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.rows_rejected) == (UploadState.READY, 1)
    assert CheckIn.objects.get(extent__upload=row).time == 1719828000  # 10:00 UTC


@pytest.mark.parametrize("said", [{"columns": "uid"}, {"time_zone": "Mars"}, {"max_rejected": "many"}])
def test_it_refuses_to_be_told_nonsense(send, dataset, said):
    answer = send(**said)
    assert answer.status_code == 422
    assert next(iter(said)) in answer.json()["error"]
    assert dataset.uploads.count() == 1


def test_a_steward_undoes_an_upload_until_a_version_includes_it(client_of, upload, waiting, dataset):
    address = reverse("upload-undo", args=[waiting.pk])
    assert address in page(client_of, dataset)
    assert reverse("upload-undo", args=[upload.pk]) not in page(client_of, dataset)
    client_of("steward").post(address)
    waiting.refresh_from_db()
    assert waiting.state == UploadState.UNDONE
    assert "undone" in page(client_of, dataset)
    uploads.run(waiting.pk)
    assert not CheckIn.objects.filter(extent__upload=waiting).exists()


def test_it_says_why_an_upload_stays(client_of, upload):
    answer = client_of("steward").post(reverse("upload-undo", args=[upload.pk]), follow=True)
    assert "data version 1 includes this upload" in answer.content.decode()


def test_a_steward_opts_people_out_by_text_and_file(send, client_of, dataset):
    send("opt-out", b"carl\n", users="ann\r\nbob\r\n")
    assert Suppression.objects.filter(dataset=dataset).count() == 3
    assert "3 opt-outs will take effect" in page(client_of, dataset)
    assert "opt-out" not in page(client_of, dataset, "analyst")
    client_of("steward").post(reverse("version-new", args=[dataset.slug]))
    assert opt_outs.pending(dataset) == 0
    assert "will take effect" not in page(client_of, dataset)


@pytest.mark.parametrize("content", [b"", b"\0", b"a" * 10_000])
def test_it_says_why_nobody_was_opted_out(client_of, dataset, content):
    body = {"users": "", "file": SimpleUploadedFile("users.txt", content)}
    answer = client_of("steward").post(reverse("opt-out", args=[dataset.slug]), body, follow=True)
    assert "Nobody was opted out" in answer.content.decode()


def test_it_says_that_the_key_is_missing(client_of, dataset, settings):
    for path in settings.KEY_DIR.glob("*.key"):
        path.rename(path.with_suffix(".away"))
    try:
        answer = client_of("steward").post(
            reverse("opt-out", args=[dataset.slug]), {"users": "ann"}, follow=True
        )
    finally:
        for path in settings.KEY_DIR.glob("*.away"):
            path.rename(path.with_suffix(".key"))
    assert "restore it from the backup" in answer.content.decode()
    assert not Suppression.objects.exists()
