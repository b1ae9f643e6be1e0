"""Bodies that are wrong in every way: refused by name, never with an error of the program."""

import json

import pytest

from api.errors import PROBLEM_JSON
from heatmaps.models import Dataset, Release

NEW = {
    "slug": "town",
    "title": "Town",
    "bbox": [0, 0, 1, 1],
    "relation": "add_remove",
    "limits": {"presence": "1"},
}
NO_OBJECT = {
    "nothing": b"",
    "a list": b"[]",
    "a list of nothing": b"[null]",
    "a string": b'"x"',
    "null": b"null",
}
NO_JSON = {
    "half": b"{",
    "NaN": b'{"epsilon": NaN}',
    "infinity": b'{"epsilon": -Infinity}',
    "beyond a float": b'{"resolution": 1e400}',
    "a huge integer": b'{"resolution": ' + b"9" * 10_000 + b"}",
    "no utf-8": b'{"mechanism": "\xff"}',
    "a lone surrogate": b'{"mechanism": "\\ud800", "epsilon": "1", "resolution": 16}',
    "nested deeply": b'{"parameters": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "the same name twice": b'{"epsilon": "1", "epsilon": "2"}',
}
# What the form of a question does not allow, and what its meaning does not allow.
WRONG_SHAPE = {
    "mechanism": ["nothing", "", None, 1, True, ["sparse-emd"], {}],
    "epsilon": [1, 0.5, 5e-324, None, True, "", "1" * 41, ["1"], {"a": "1"}],
    "resolution": ["16", 16.5, -16, 0, 2**63, 10**300, True, [16]],
    "parameters": [None, [], "x", {"width": None}, {"width": [20]}, {"width": 20.5}, {"width": True}],
    "window": ["2025"],
    "\u0000": [1],
}
WRONG_MEANING = {
    "epsilon": ["0", "-1", "NaN", "inf", "1e400", "1e-31", "٣", "1_0", " 1", "0x1", "20.0000001", "1/2"],
    "resolution": [17, 3, None],  # null: not given
    "parameters": [{"width": "x"}, {"width": 0}, {"width": 10**40}, {"decay": "٠.5"}, {"unknown": "1"}],
}


def ask(api, name, slug, body):
    return api("analyst").send("POST", name, slug, body=body)


def refused(answer, status, field):
    problem = answer.json()
    assert answer["Content-Type"] == PROBLEM_JSON
    assert answer.status_code == status
    assert problem["errors"][0]["field"].startswith(field)
    assert len(answer.content) < 2000
    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["quotes", "releases"])
@pytest.mark.parametrize("body", NO_OBJECT.values(), ids=NO_OBJECT)
def test_it_refuses_what_is_no_object(api, dataset, name, body):
    answer = ask(api, name, dataset.slug, body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("name", ["quotes", "releases"])
@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
def test_it_refuses_what_is_no_json(api, dataset, name, body):
    answer = ask(api, name, dataset.slug, body)

    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


@pytest.mark.parametrize("name", ["quotes", "releases"])
@pytest.mark.parametrize("field", WRONG_SHAPE)
def test_it_refuses_a_question_of_another_shape(api, dataset, question, name, field):
    for value in WRONG_SHAPE[field]:
        refused(ask(api, name, dataset.slug, question(**{field: value})), 400, field.strip("\0"))


@pytest.mark.parametrize("name", ["quotes", "releases"])
@pytest.mark.parametrize("field", WRONG_MEANING)
def test_it_refuses_a_question_that_has_no_answer(api, dataset, question, name, field):
    for value in WRONG_MEANING[field]:
        named = next(iter(value)) if field == "parameters" else field
        refused(ask(api, name, dataset.slug, question(**{field: value})), 422, named)


@pytest.mark.parametrize(("field", "status"), [("mechanism", 400), ("epsilon", 400), ("resolution", 422)])
def test_it_says_which_field_is_missing(api, dataset, question, field, status):
    """A resolution is missing where the mechanism makes a map, which the shape does not know."""
    body = question()
    del body[field]

    refused(ask(api, "releases", dataset.slug, body), status, field)


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"bbox": [0, 0, 1]}, 400, "bbox"),
        ({"bbox": [0, 0, 1, "1"]}, 400, "bbox.3"),
        ({"bbox": [0, 0, 1, True]}, 400, "bbox.3"),
        ({"bbox": [0, 0, 10**400, 1]}, 400, "bbox.2"),
        ({"bbox": [0, 0, 1, 5e-324]}, 422, "north"),
        ({"bbox": [1, 0, 0, 1]}, 422, "east"),
        ({"bbox": [0, 91, 1, 92]}, 422, "south"),
        ({"bbox": "0,0,1,1"}, 400, "bbox"),
        ({"slug": "Town"}, 422, "slug"),
        ({"slug": "new"}, 422, "slug"),
        ({"slug": 5}, 400, "slug"),
        ({"title": "a\u202eb"}, 422, "title"),
        ({"title": "a\u0000b"}, 400, "title"),
        ({"relation": "both"}, 400, "relation"),
        ({"relation": "replace"}, 422, "persons"),
        ({"limits": {}}, 422, "limits.presence"),
        ({"limits": {"presence": 1.0}}, 400, "limits.presence"),
        ({"limits": {"presence": "1", "delta": "1.5"}}, 422, "limits.delta"),
        ({"limits": [["presence", "1"]]}, 400, "limits"),
        ({"persons": 5}, 422, "persons"),
        ({"expected_persons": 10**40}, 400, "expected_persons"),
        ({"key_fingerprint": "x"}, 400, "key_fingerprint"),
    ],
)
def test_it_refuses_a_dataset_that_cannot_be(api, people, changes, status, field):
    answer = api("steward").send("POST", "datasets", body=NEW | changes)

    assert answer.status_code == status
    assert answer.json()["errors"][0]["field"] == field
    assert not Dataset.objects.exists()


def test_it_refuses_a_name_that_is_taken(api, dataset):
    answer = api("steward").send("POST", "datasets", body=NEW | {"slug": dataset.slug})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "slug")


@pytest.mark.parametrize(
    "row",
    [
        {"user": "a", "lat": "0.5", "lon": 0.5},
        {"user": "a", "lat": 91, "lon": 0.5},
        {"user": 5, "lat": 0.5, "lon": 0.5},
        {"user": "", "lat": 0.5, "lon": 0.5},
        {"user": "a", "lat": 0.5},
        {"user": "a", "lat": 0.5, "lon": 0.5, "time": 5},
        {"user": "a", "lat": 0.5, "lon": 0.5, "weight": 2},
        "a,0.5,0.5",
        None,
    ],
)
def test_it_refuses_a_list_with_something_that_is_no_checkin(api, dataset, row):
    good = {"user": "a", "lat": 0.5, "lon": 0.5}

    answer = api("steward").send("POST", "checkins", dataset.slug, body=[good, row])

    assert answer.status_code == 400
    assert dataset.uploads.count() == 1


def test_it_reads_no_more_json_than_fits_in_memory(api, dataset, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = json.dumps([{"user": "a", "lat": 0.5, "lon": 0.5}] * 100).encode()

    answer = api("steward").send("POST", "checkins", dataset.slug, body=body)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("query", ["?page=0", "?page=-1", "?page=٣", "?page=x", "?page_size=201", "?pages=1"])
def test_it_refuses_a_page_that_is_none(api, dataset, query):
    assert api("analyst").send("GET", "releases", dataset.slug, query=query).status_code == 400


def test_it_gives_long_lists_in_pages(api, dataset, published, question):
    analyst = api("analyst")
    analyst.send("POST", "releases", dataset.slug, body=question(epsilon="0.25"))

    first = analyst.send("GET", "releases", dataset.slug, query="?page_size=1").json()
    second = analyst.get(first["next"]).json()

    assert (first["count"], first["previous"], second["next"]) == (2, None, None)
    assert [first["results"][0]["state"], second["results"][0]["state"]] == ["queued", "published"]
    assert analyst.send("GET", "releases", dataset.slug, query="?page=3").status_code == 404


@pytest.mark.parametrize("address", ["/api/", "/api/v1/", "/api/v1/nothing/", "/api/v2/datasets/"])
@pytest.mark.parametrize("method", ["get", "post", "options"])
def test_it_answers_at_wrong_addresses_as_everywhere(client, db, address, method):
    answer = getattr(client, method)(address)

    assert answer.status_code == 404
    assert answer["Content-Type"] == PROBLEM_JSON


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_it_says_which_methods_there_are(api, dataset, method):
    answer = api("steward").send(method, "budget", dataset.slug)

    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD, PATCH"


def test_it_says_nothing_of_an_error_of_the_program(api, dataset, monkeypatch, caplog):
    def break_down(*_arguments):
        raise RuntimeError("persons: 12345")

    monkeypatch.setattr("heatmaps.queries.versions_of", break_down)
    client = api("analyst")
    client.raise_request_exception = False

    answer = client.send("GET", "versions", dataset.slug)

    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "12345" not in answer.content.decode() + caplog.text
    assert "RuntimeError at " in caplog.text
