"""Files that are blurred over the API."""

import io
import json
import zipfile

import pytest

from heatmaps.blurring import download
from mechanisms.guarantee import Guarantee, Trust

ROWS = b"user,lat,lon\na,0.5,0.5\na,0.5,0.5\n"
QUERY = "?mechanism=planar-laplace&epsilon=1&radius_m=20000&max_reports={}"
TWO = QUERY.format(2)


def send(client, dataset, query=TWO, content=ROWS, content_type="text/csv"):
    return client.send("POST", "blurred", dataset.slug, body=content, query=query, content_type=content_type)


def test_it_answers_with_rows_and_statement(api, dataset):
    answer = send(api("steward"), dataset)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert archive.namelist() == ["blurred.csv", "statement.json"]
    assert len(archive.read("blurred.csv").splitlines()) == 3
    said = json.loads(archive.read("statement.json"))
    assert Guarantee.from_json(said["guarantee"]).trust is Trust.CENTRAL


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("?epsilon=1", 400, "mechanism"),
        (QUERY.format(2) + "&further_rows=drop", 400, "further_rows"),
        (QUERY.format(2) + "&what=1", 400, "what"),
        (QUERY.format(1), 422, "max_reports"),
        (QUERY.format(2) + "&cell_m=1", 422, "cell_m"),
    ],
)
def test_what_is_wrong_is_named(api, dataset, query, status, field):
    answer = send(api("steward"), dataset, query)
    assert answer.status_code == status
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_other_files_are_refused(api, dataset, monkeypatch):
    assert send(api("steward"), dataset, content=b"nothing").status_code == 422
    assert send(api("steward"), dataset, content_type="text/html").status_code == 415
    monkeypatch.setattr(download, "MOST_BYTES", 10)
    assert send(api("steward"), dataset).status_code == 413
