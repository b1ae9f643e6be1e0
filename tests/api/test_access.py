"""Who may ask for what: every address for steward, analyst, auditor, administrator, stranger, anonymous."""

import pytest

from api.errors import PROBLEM_JSON
from heatmaps.models import Scope

EVERYBODY = ("steward", "analyst", "auditor", "administrator", "stranger", "anonymous")
MEMBERS = (200, 200, 200, 200, 404, 401)
STEWARDS = (200, 403, 403, 403, 404, 401)
ASKING = (200, 200, 403, 403, 404, 401)

# (method, name, what it is about, status by person, scope that it needs)
ADDRESSES = [
    ("GET", "tokens", None, (200, 200, 200, 200, 200, 401), "read"),
    ("GET", "mechanisms", None, (200, 200, 200, 200, 200, 401), "read"),
    ("GET", "datasets", None, (200, 200, 200, 200, 200, 401), "read"),
    ("POST", "datasets", None, (201, 201, 201, 201, 201, 401), "steward"),
    ("GET", "dataset", "slug", MEMBERS, "read"),
    ("GET", "versions", "slug", MEMBERS, "read"),
    ("POST", "versions", "slug", (201, 403, 403, 403, 404, 401), "steward"),
    ("GET", "uploads", "slug", STEWARDS, "steward"),
    ("POST", "uploads", "slug", (201, 403, 403, 403, 404, 401), "steward"),
    ("POST", "checkins", "slug", (201, 403, 403, 403, 404, 401), "steward"),
    ("POST", "quotes", "slug", ASKING, "release"),
    ("GET", "releases", "slug", MEMBERS, "read"),
    ("POST", "releases", "slug", (202, 202, 403, 403, 404, 401), "release"),
    ("GET", "ledger", "slug", (200, 403, 200, 200, 404, 401), "read"),
    ("GET", "budget", "slug", MEMBERS, "read"),
    ("PATCH", "budget", "slug", (200, 403, 403, 200, 404, 401), "steward"),
    ("GET", "upload", "upload", STEWARDS, "steward"),
    ("GET", "upload-rejected", "upload", (404, 403, 403, 403, 404, 401), "steward"),
    ("POST", "upload-undo", "upload", (409, 403, 403, 403, 404, 401), "steward"),
    ("GET", "release", "release", MEMBERS, "read"),
    ("POST", "release-cancel", "release", (403, 409, 403, 403, 404, 401), "release"),
    ("GET", "heatmap", "release", MEMBERS, "read"),
]
IDS = [f"{method} {name}" for method, name, *_ in ADDRESSES]
CSV = b"user,time,lat,lon\na,,0.5,0.5\n"


@pytest.fixture
def call(dataset, upload, published, question):
    """Asks for an address of the table with a body that a steward may send."""
    about = {None: (), "slug": (dataset.slug,), "upload": (upload.pk,), "release": (published.pk,)}
    limits = {"presence": "1"}
    new = {"slug": "town", "title": "Town", "bbox": [0, 0, 1, 1], "relation": "add_remove", "limits": limits}
    bodies = {
        ("POST", "datasets"): {"body": new},
        ("POST", "uploads"): {"body": CSV, "content_type": "text/csv"},
        ("POST", "checkins"): {"body": [{"user": "a", "lat": 0.5, "lon": 0.5}]},
        ("POST", "quotes"): {"body": question()},
        ("POST", "releases"): {"body": question()},
        ("PATCH", "budget"): {"body": {"limits": {"presence": "3"}, "reason": "agreed"}, "if-match": "*"},
    }

    def ask(client, method, name, kind):
        arguments = about[kind] + (("npy",) if name == "heatmap" else ())
        return client.send(method, name, *arguments, **bodies.get((method, name), {}))

    return ask


@pytest.mark.parametrize("row", ADDRESSES, ids=IDS)
@pytest.mark.parametrize("person", EVERYBODY)
def test_it_answers_everybody_as_the_table_says(api, call, row, person):
    *asked, expected, _scope = row

    answer = call(api(person), *asked)

    assert answer.status_code == dict(zip(EVERYBODY, expected, strict=True))[person]
    if answer.status_code >= 400:
        problem = answer.json()
        assert answer["Content-Type"] == PROBLEM_JSON
        assert problem["status"] == answer.status_code
        assert problem["code"]
        assert problem["detail"]


@pytest.mark.parametrize("row", ADDRESSES, ids=IDS)
def test_it_refuses_a_token_without_the_scope(api, call, row):
    """Also where nothing of that name exists: the scope is looked at first."""
    *asked, _expected, scope = row
    others = [other.value for other in Scope if other != scope]

    answer = call(api("steward", others), *asked)

    assert answer.status_code == 403
    assert answer.json()["code"] == "insufficient_scope"
    assert scope in answer.json()["detail"]


@pytest.mark.parametrize("row", ADDRESSES, ids=IDS)
def test_it_needs_no_other_scope(api, call, row):
    *asked, expected, scope = row

    assert call(api("steward", [scope]), *asked).status_code == expected[0]


def test_it_does_not_tell_a_stranger_whether_something_exists(api, dataset, published, question):
    stranger = api("stranger")
    nobody = "00000000-0000-4000-8000-000000000000"

    for name, there, nowhere in (
        ("dataset", dataset.slug, "nowhere"),
        ("ledger", dataset.slug, "nowhere"),
        ("release", published.pk, nobody),
        ("upload", dataset.uploads.get().pk, nobody),
    ):
        found, missing = stranger.send("GET", name, there), stranger.send("GET", name, nowhere)
        assert found.status_code == missing.status_code == 404
        assert found.content == missing.content


def test_it_lists_a_persons_own_datasets_only(api, dataset, make_dataset):
    make_dataset("town").memberships.filter(user__username="analyst").delete()

    def slugs(name):
        return [row["slug"] for row in api(name).send("GET", "datasets").json()["results"]]

    assert slugs("analyst") == ["city"]
    assert sorted(slugs("administrator")) == ["city", "town"]
    assert slugs("stranger") == []


def test_it_takes_no_session_for_a_token(client, people, dataset):
    client.force_login(people["steward"])

    assert client.get("/api/v1/datasets/").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer a b",
        "Basic c3Rld2FyZDp4",
        "Bearer " + "f" * 64,
        "Bearer \xd9\xa3",
        "Bearer \x00",
        "Bearer " + "a" * 9999,
    ],
)
def test_it_refuses_whatever_is_no_token(client, db, header):
    answer = client.get("/api/v1/datasets/", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_it_refuses_the_token_of_a_closed_account(api, people):
    client = api("analyst")
    people["analyst"].is_active = False
    people["analyst"].save()

    assert client.send("GET", "datasets").status_code == 401
