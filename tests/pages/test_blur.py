"""A file of a steward's own, blurred on the page and over the API: rows and statement, nothing kept."""

import csv
import io
import json
import zipfile
from fractions import Fraction

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.blurring import download
from heatmaps.blurring.download import BlurQuestion
from heatmaps.models import Account, CheckIn, Event, Upload
from mechanisms.guarantee import Guarantee, Trust

ROWS = b"user,time,lat,lon\nanna,2026-01-02T03:04:05Z,0.5,0.5\nanna,,0.5,0.5\nbo,,0.4,0.6\n"
TYPED = {"mechanism": "planar-geometric", "epsilon": "2", "radius_m": "20000", "max_reports": "2"}


def send(client, dataset, content=ROWS, **changes):
    file = {"file": SimpleUploadedFile("rows.csv", content)} if content is not None else {}
    return client.post(reverse("blur", args=[dataset.slug]), TYPED | file | changes)


def unpacked(answer):
    """(rows, statement)"""
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    rows = list(csv.reader(io.StringIO(archive.read("blurred.csv").decode())))
    return rows, json.loads(archive.read("statement.json"))


def test_it_gives_blurred_rows_and_says_what_that_promises(client_of, dataset):
    answer = send(client_of("steward"), dataset)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert "no-store" in answer["Cache-Control"]
    (header, *rows), said = unpacked(answer)
    assert header == ["user", "time", "lat", "lon"]
    assert [row[:2] for row in rows] == [["anna", "2026-01-02T03:04:05Z"], ["anna", ""], ["bo", ""]]
    assert all(0 <= float(degrees) <= 1 for row in rows for degrees in row[2:])
    assert any(float(degrees) != 0.5 for row in rows[:2] for degrees in row[2:])
    person = Guarantee.from_json(said["guarantee"])
    # The server has seen the places: nobody may take this for a promise that asks for no trust.
    assert person.trust is Trust.CENTRAL
    assert Fraction(39, 10) < person.loss(20_000) <= 4
    assert Guarantee.from_json(said["per_report"]).loss(20_000) <= 2
    assert any("server that blurred the file saw the true places" in line for line in said["statements"])
    assert said["statements"][-1] == download.NOT_CHARGED


def test_it_keeps_nothing_and_charges_nothing(client_of, dataset):
    before = [list(model.objects.values_list("pk")) for model in (Upload, CheckIn, Event)]
    send(client_of("steward"), dataset)
    assert [list(model.objects.values_list("pk")) for model in (Upload, CheckIn, Event)] == before
    assert not Account.objects.exclude(committed=0).exists()


def test_the_page_says_who_is_trusted_and_that_no_budget_counts_it(client_of, dataset):
    page = client_of("steward").get(reverse("blur", args=[dataset.slug])).content.decode()
    assert "This server is trusted:" in page
    assert "Nothing is charged to the budget and no ledger counts it" in page
    assert (
        reverse("blur", args=[dataset.slug])
        in client_of("steward").get(reverse("dataset-data", args=[dataset.slug])).content.decode()
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"content": None}, "This field is required"),
        ({"content": b"nothing"}, "Nothing was blurred"),
        ({"content": ROWS + b"anna,,0.5,0.5\n"}, "at least 3, the most rows of one person"),
        ({"content": ROWS + b"carl,,95,0\n"}, "1 of 4 rows are invalid"),
        ({"epsilon": "21"}, "21 is not allowed here"),
        ({"radius_m": "0.5"}, "0.5 is not allowed here"),
        ({"max_reports": "10001"}, "10001 is not allowed here"),
        ({"mechanism": "optimal", "cell_m": "10000"}, "10000 is not allowed here. Allowed: larger"),
        ({"mechanism": "laplace"}, "laplace is not one of the available choices"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client_of, dataset, changes, complaint):
    answer = send(client_of("steward"), dataset, **changes)
    assert answer.status_code == 422
    assert complaint in answer.content.decode()


def test_the_page_says_what_no_mechanism_can_do_better_than(client_of, dataset):
    client, address = client_of("steward"), reverse("blur", args=[dataset.slug])
    question = BlurQuestion(mechanism="planar-geometric", epsilon="1", radius_m="500", max_reports="1")
    words = download.no_better(dataset, question)
    page = client.get(address).content.decode()
    assert f"where ε is 1 at 500 m and rises evenly with distance: {words}" in page
    typed = send(client, dataset, content=None, radius_m="20000").content.decode()
    assert "where ε is 2 at 20000 m" in typed
    assert words not in typed
    assert "No mechanism can do better" not in send(client, dataset, radius_m="0.5").content.decode()


def test_the_statement_has_the_bound_beside_the_error(client_of, dataset):
    _, said = unpacked(send(client_of("steward"), dataset))
    least, error = said["least_error"], said["expected_error"]["expected_m"]
    assert 0.4 * error < least["mean_m"] <= error
    assert least["mean_m"] <= least["worst_m"]
    assert any("No mechanism can do better" in line for line in said["statements"])


def test_further_rows_can_be_left_out(client_of, dataset):
    rows, _ = unpacked(send(client_of("steward"), dataset, max_reports="1", leave_out="on"))
    assert [row[0] for row in rows[1:]] == ["anna", "bo"]


def test_large_files_are_refused(client_of, dataset, monkeypatch):
    monkeypatch.setattr(download, "MOST_ROWS", 2)
    assert "the file has more than 2 rows" in send(client_of("steward"), dataset).content.decode()
    monkeypatch.setattr(download, "MOST_BYTES", 10)
    assert "larger than 10 bytes" in send(client_of("steward"), dataset).content.decode()
    big = client_of("steward").post(reverse("blur", args=[dataset.slug]), {}, CONTENT_LENGTH="1000000")
    assert big.status_code == 413


def test_who_blurs_too_often_waits(client_of, dataset, settings):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"blur": 2}
    client = client_of("steward")
    statuses = [send(client, dataset, content=None).status_code for _ in range(3)]
    assert statuses == [422, 422, 429]


def test_a_form_of_another_site_is_refused(client_of, dataset):
    assert send(client_of("steward", enforce_csrf_checks=True), dataset).status_code == 403
