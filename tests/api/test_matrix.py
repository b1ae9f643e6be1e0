"""Who may ask for what: every address and every method of the API, for six persons.

An operation without a row fails `test_it_has_a_row_for_every_operation`. Put its row into `OPERATIONS`: the
status that steward, analyst, auditor, administrator, stranger (an account without a role) and anonymous (no
token) get, the scope that its token needs, what its address is about, and a body that a steward may send.
Each request is undone afterwards.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from api.errors import PROBLEM_JSON
from heatmaps.ingest import opt_outs
from heatmaps.ledger import transitions
from heatmaps.models import AdministratorRead, ApiToken, Membership, Scope
from heatmaps.people import invitations
from heatmaps.releases import publication
from tests.addresses import EVERYBODY, by_person
from tests.services.seed import make_collection, plan_round, store_districts

READ, RELEASE, STEWARD, NO_SCOPE = "read", "release", "steward", ""
ALL = (200, 200, 200, 200, 200, 401)
MEMBERS = (200, 200, 200, 200, 404, 401)
STEWARDS = (200, 403, 403, 403, 404, 401)
UNCONFIRMED = (200, 404, 404, 403, 404, 401)
MANAGERS = (200, 403, 403, 200, 404, 401)
ASKING = (200, 200, 403, 403, 404, 401)


def instead(row, status):
    """The same row with another status for success."""
    return tuple(status if told == 200 else told for told in row)


@dataclass(frozen=True, kw_only=True)
class Operation:
    statuses: tuple
    scope: str
    about: tuple = ()  # names of `things`, or values after "="
    body: Any = None
    options: dict = field(default_factory=dict)  # of the request


SLUG, ONE_UPLOAD, ONE_RELEASE = ("slug",), ("upload",), ("release",)
COLLECTION = ("collection",)
ROUND = {
    "mechanism": "geo-shuffle",
    "epsilon": "2",
    "delta": "0.000001",
    "least_honest": 20,
    "parameters": {"cell_m": "600"},
}
_OPENS = timezone.now() + timedelta(days=30)
MOMENTS = {"opens_at": _OPENS.isoformat(), "closes_at": (_OPENS + timedelta(days=1)).isoformat()}
LIMITS = {"presence": "1"}
TOWN = {"slug": "town", "title": "Town", "bbox": [0, 0, 1, 1], "relation": "add_remove", "limits": LIMITS}
WEEKLY = {"schedule": {"every": "weekly", "weekday": "monday", "hour": 3}, "reason": "agreed"}
QUESTION = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16}
PLAN = {"wishes": [{"part": "1/30", "distance_m": "1000", "epsilon": "0.2"}]}
BLUR = "?mechanism=planar-geometric&epsilon=1&radius_m=20000&max_reports=1"
AREA = {"type": "Polygon", "coordinates": [[[0, 0], [0.5, 0], [0.5, 0.5], [0, 0]]]}
DISTRICTS = ("slug", "districts")
NO_SUMS = (422, 422, 422, 422, 404, 401)  # the release is a map that states no errors of sums
FILE_ID = UUID("33333333-3333-4333-8333-333333333333")
OF_DISTRICTS = {"query": f"?districts={FILE_ID}"}
FORM_TYPE = {"content_type": "multipart/form-data; boundary=b"}
FORM = b"".join(
    b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\nx\r\n' % name for name in (b"title", b"source")
) + (b'--b\r\nContent-Disposition: form-data; name="file"; filename="map.tif"\r\n\r\nx\r\n--b--\r\n')
CSV = b"user,time,lat,lon\na,,0.5,0.5\n"

OPERATIONS = {
    ("GET", "tokens"): Operation(statuses=ALL, scope=READ),
    ("POST", "tokens"): Operation(  # with name and password, whatever the token
        statuses=(401,) * 6,
        scope=NO_SCOPE,
        body={"username": "x", "password": "y", "name": "z", "scopes": [READ]},
    ),
    ("DELETE", "token"): Operation(statuses=(204, 404, 404, 404, 404, 401), scope=NO_SCOPE, about=("token",)),
    ("GET", "mechanisms"): Operation(statuses=ALL, scope=READ),
    ("GET", "sources"): Operation(statuses=ALL, scope=STEWARD),  # of nobody who may not make datasets
    ("POST", "plans"): Operation(statuses=ALL, scope=READ, body=PLAN),
    ("GET", "datasets"): Operation(statuses=ALL, scope=READ),
    ("POST", "datasets"): Operation(statuses=instead(ALL, 201), scope=STEWARD, body=TOWN),
    ("GET", "dataset"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("PATCH", "dataset"): Operation(
        statuses=STEWARDS,
        scope=STEWARD,
        about=SLUG,
        body=WEEKLY,
    ),
    ("GET", "versions"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "versions"): Operation(statuses=instead(STEWARDS, 201), scope=STEWARD, about=SLUG),
    ("GET", "uploads"): Operation(statuses=STEWARDS, scope=STEWARD, about=SLUG),
    ("POST", "uploads"): Operation(
        statuses=instead(STEWARDS, 201),
        scope=STEWARD,
        about=SLUG,
        body=CSV,
        options={"content_type": "text/csv"},
    ),
    ("POST", "checkins"): Operation(
        statuses=instead(STEWARDS, 201),
        scope=STEWARD,
        about=SLUG,
        body=[{"user": "a", "lat": 0.5, "lon": 0.5}],
    ),
    ("POST", "blurred"): Operation(
        statuses=STEWARDS,
        scope=STEWARD,
        about=SLUG,
        body=CSV,
        options={"content_type": "text/csv", "query": BLUR},
    ),
    ("GET", "opt-outs"): Operation(statuses=STEWARDS, scope=STEWARD, about=SLUG),
    ("POST", "opt-outs"): Operation(
        statuses=instead(STEWARDS, 201), scope=STEWARD, about=SLUG, body={"user": "u1"}
    ),
    ("DELETE", "opt-out"): Operation(
        statuses=instead(STEWARDS, 204), scope=STEWARD, about=("slug", "opt-out")
    ),
    ("POST", "opt-out-take-back"): Operation(
        statuses=instead(STEWARDS, 204), scope=STEWARD, about=SLUG, body={"user": "left out"}
    ),
    ("GET", "districts"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "districts"): Operation(
        statuses=instead(STEWARDS, 201),
        scope=STEWARD,
        about=SLUG,
        body=AREA,
        options={"query": "?title=Quarters&source=City"},
    ),
    ("GET", "district"): Operation(statuses=MEMBERS, scope=READ, about=DISTRICTS),
    ("PATCH", "district"): Operation(
        statuses=STEWARDS, scope=STEWARD, about=DISTRICTS, body={"licence": "CC0"}
    ),
    ("DELETE", "district"): Operation(statuses=instead(STEWARDS, 204), scope=STEWARD, about=DISTRICTS),
    ("GET", "release-districts"): Operation(statuses=MEMBERS, scope=READ, about=ONE_RELEASE),
    ("GET", "release-district"): Operation(statuses=MEMBERS, scope=READ, about=("release", "districts")),
    ("GET", "areas"): Operation(statuses=NO_SUMS, scope=READ, about=ONE_RELEASE, options=OF_DISTRICTS),
    ("POST", "areas"): Operation(statuses=NO_SUMS, scope=READ, about=ONE_RELEASE, body=AREA),
    ("GET", "areas-csv"): Operation(statuses=NO_SUMS, scope=READ, about=ONE_RELEASE, options=OF_DISTRICTS),
    ("POST", "areas-csv"): Operation(statuses=NO_SUMS, scope=READ, about=ONE_RELEASE, body=AREA),
    ("GET", "guides"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "guides"): Operation(  # the dataset has had an upload
        statuses=instead(STEWARDS, 409), scope=STEWARD, about=SLUG, body=FORM, options=FORM_TYPE
    ),
    ("POST", "quotes"): Operation(statuses=ASKING, scope=RELEASE, about=SLUG, body=QUESTION),
    ("GET", "releases"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "releases"): Operation(statuses=instead(ASKING, 202), scope=RELEASE, about=SLUG, body=QUESTION),
    ("GET", "device-mechanisms"): Operation(statuses=ALL, scope=READ),
    ("GET", "rounds"): Operation(statuses=MEMBERS, scope=READ, about=COLLECTION),
    ("POST", "rounds"): Operation(
        statuses=instead(STEWARDS, 201), scope=STEWARD, about=COLLECTION, body=ROUND | MOMENTS
    ),
    ("POST", "round-quotes"): Operation(statuses=MEMBERS, scope=READ, about=COLLECTION, body=ROUND),
    ("GET", "round"): Operation(statuses=MEMBERS, scope=READ, about=("collection", "=1")),
    ("POST", "round-cancel"): Operation(statuses=STEWARDS, scope=STEWARD, about=("collection", "=1")),
    ("POST", "shuffler-token"): Operation(statuses=instead(STEWARDS, 201), scope=STEWARD, about=COLLECTION),
    # By the token of a collection's shuffler alone.
    ("GET", "shuffler-rounds"): Operation(statuses=(401,) * 6, scope=NO_SCOPE),
    ("PUT", "shuffler-round"): Operation(statuses=(401,) * 6, scope=NO_SCOPE, about=("round",), body={}),
    ("GET", "shuffler-table"): Operation(statuses=(401,) * 6, scope=NO_SCOPE, about=("round",)),
    ("PUT", "shuffler-batch"): Operation(
        statuses=(401,) * 6,
        scope=NO_SCOPE,
        about=("round",),
        body=b"",
        options={"content_type": "application/octet-stream"},
    ),
    ("GET", "ledger"): Operation(statuses=(200, 403, 200, 200, 404, 401), scope=READ, about=SLUG),
    ("GET", "budget"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("PATCH", "budget"): Operation(
        statuses=MANAGERS,
        scope=STEWARD,
        about=SLUG,
        body={"limits": {"presence": "3"}, "reason": "agreed"},
        options={"if-match": "*"},
    ),
    ("GET", "ledger-file"): Operation(
        statuses=(200, 403, 200, 200, 404, 401), scope=READ, about=("slug", "=csv")
    ),
    ("GET", "administrator-reads"): Operation(statuses=STEWARDS, scope=STEWARD, about=SLUG),
    ("GET", "spending"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("GET", "allowances"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "allowances"): Operation(
        statuses=MANAGERS,
        scope=STEWARD,
        about=SLUG,
        body={"account": "presence", "allowance": "1", "reason": "agreed"},
    ),
    ("GET", "members"): Operation(statuses=MEMBERS, scope=READ, about=SLUG),
    ("POST", "members"): Operation(
        statuses=instead(MANAGERS, 201),
        scope=STEWARD,
        about=SLUG,
        body={"username": "stranger", "role": "analyst"},
    ),
    ("PATCH", "member"): Operation(
        statuses=MANAGERS, scope=STEWARD, about=("slug", "analyst"), body={"role": "auditor"}
    ),
    ("DELETE", "member"): Operation(  # one's own as well
        statuses=(200, 200, 403, 200, 404, 401), scope=STEWARD, about=("slug", "analyst")
    ),
    ("GET", "invitations"): Operation(statuses=MANAGERS, scope=STEWARD, about=SLUG),
    ("POST", "invitations"): Operation(
        statuses=instead(MANAGERS, 201), scope=STEWARD, about=SLUG, body={"role": "analyst"}
    ),
    ("DELETE", "invitation"): Operation(
        statuses=instead(MANAGERS, 204), scope=STEWARD, about=("slug", "invitation")
    ),
    # Of one that nobody confirmed: a member who is no steward is a stranger to it.
    ("GET", "restoration"): Operation(statuses=UNCONFIRMED, scope=STEWARD, about=("restored",)),
    ("POST", "restoration"): Operation(
        statuses=UNCONFIRMED,
        scope=STEWARD,
        about=("restored",),
        body={"members": [], "opt_outs_entered": True},
    ),
    ("GET", "upload"): Operation(statuses=STEWARDS, scope=STEWARD, about=ONE_UPLOAD),
    ("GET", "upload-rejected"): Operation(statuses=instead(STEWARDS, 404), scope=STEWARD, about=ONE_UPLOAD),
    ("POST", "upload-undo"): Operation(statuses=instead(STEWARDS, 409), scope=STEWARD, about=ONE_UPLOAD),
    ("POST", "upload-copy"): Operation(statuses=instead(STEWARDS, 409), scope=STEWARD, about=ONE_UPLOAD),
    ("GET", "release"): Operation(statuses=MEMBERS, scope=READ, about=ONE_RELEASE),
    ("PATCH", "release"): Operation(
        statuses=STEWARDS, scope=STEWARD, about=ONE_RELEASE, body={"public": True}
    ),
    ("PATCH", "release-name"): Operation(  # the analyst asked for it
        statuses=ASKING, scope=RELEASE, about=ONE_RELEASE, body={"name": "Nights"}
    ),
    ("POST", "release-cancel"): Operation(
        statuses=(403, 409, 403, 403, 404, 401), scope=RELEASE, about=ONE_RELEASE
    ),
    ("GET", "release-thumbnail"): Operation(statuses=MEMBERS, scope=READ, about=ONE_RELEASE),
    ("GET", "release-og-image"): Operation(statuses=MEMBERS, scope=READ, about=ONE_RELEASE),
    ("GET", "heatmap"): Operation(statuses=MEMBERS, scope=READ, about=("release", "=npy")),
    ("GET", "point"): Operation(  # the release is a map
        statuses=(422, 422, 422, 422, 404, 401), scope=READ, about=("release", "=json")
    ),
    ("GET", "zones"): Operation(
        statuses=(422, 422, 422, 422, 404, 401), scope=READ, about=("release", "=json")
    ),
    ("GET", "distances"): Operation(
        statuses=(422, 422, 422, 422, 404, 401), scope=READ, about=("release", "=json")
    ),
}
OPEN = {"schema", "docs"}  # the product's documentation: for everybody
UNBOUND = {"tokens", "mechanisms", "sources", "device-mechanisms"}  # about no dataset
PUBLIC = (
    *(("GET", name) for name in ("release", "heatmap", "release-thumbnail", "release-og-image")),
    *(("GET", name) for name in ("release-districts", "release-district")),
)
OF_RELEASES = (
    *PUBLIC,
    *((method, name) for method in ("GET", "POST") for name in ("areas", "areas-csv")),
    *(("GET", name) for name in ("point", "zones", "distances")),
)
SCOPED = [key for key, operation in OPERATIONS.items() if operation.scope != NO_SCOPE]
HINT = "give it a row in OPERATIONS of tests/api/test_matrix.py, as the head of that file says"


@pytest.fixture
def things(people, dataset, upload, published, make_dataset):
    """What addresses are about, by the names that the rows use."""
    token, _ = ApiToken.objects.create(user=people["steward"], name="test", scopes=["read"])
    entry, _ = opt_outs.enter(people["steward"], dataset, "left out")
    walks = make_collection(people["steward"])
    for name in ("analyst", "auditor"):
        Membership.objects.create(dataset=walks, user=people[name], role=name)
    restored = make_dataset("restored")
    transitions.restore(restored, transitions.Unknown(charges={}, other_copy="unknown", reason="a test"))
    return {name: person.pk for name, person in people.items()} | {
        "slug": dataset.slug,
        "restored": restored.slug,
        "upload": upload.pk,
        "release": published.pk,
        "districts": store_districts(people["steward"], dataset, file_id=FILE_ID).pk,
        "token": token.token_key,
        "opt-out": entry.entry,
        "invitation": invitations.invite(people["steward"], dataset, "analyst").row.pk,
        "collection": walks.slug,
        "round": plan_round(people["steward"], walks).pk,
    }


@pytest.fixture
def ask(things):
    """The answer to one operation, which is undone afterwards."""

    def make(client, method, name):
        row = OPERATIONS[method, name]
        about = [word[1:] if word.startswith("=") else things[word] for word in row.about]
        with transaction.atomic():
            answer = client.send(method, name, *about, body=row.body, **row.options)
            transaction.set_rollback(True)
        return answer

    return make


def operations():
    """(method, name) of everything that the API's views do."""
    for pattern in import_module("api.urls").urlpatterns:
        if pattern.name and pattern.name not in OPEN:
            for method in ("get", "post", "put", "patch", "delete"):
                if hasattr(pattern.callback.cls, method):
                    yield method.upper(), pattern.name


def test_it_has_a_row_for_every_operation():
    found = set(operations())

    assert found - set(OPERATIONS) == set(), HINT
    assert set(OPERATIONS) - found == set(), "rows of operations that are gone"


@pytest.mark.parametrize("person", EVERYBODY)
def test_it_answers_everybody_as_the_table_says(api, ask, person):
    client, wrong = api(person), {}
    for (method, name), row in OPERATIONS.items():
        answer, wanted = ask(client, method, name), by_person(row.statuses)[person]
        if answer.status_code != wanted:
            wrong[method, name] = f"{answer.status_code} instead of {wanted}: {answer.content[:200]}"
        elif wanted >= 400:
            problem = answer.json()
            assert answer["Content-Type"] == PROBLEM_JSON
            assert problem["status"] == wanted
            assert problem["code"]
            assert problem["detail"]
    assert wrong == {}


def test_it_records_what_an_administrator_reads_of_a_dataset(api, things):
    client = api("administrator")
    for (method, name), row in OPERATIONS.items():
        if method == "GET" and by_person(row.statuses)["administrator"] == 200 and name not in UNBOUND:
            about = [word[1:] if word.startswith("=") else things[word] for word in row.about]
            client.send(method, name, *about)
            slug = things["collection" if "collection" in row.about else "slug"]
            last = AdministratorRead.objects.get(page=f"api:{name}", dataset__slug=slug)
            assert last.reader.username == "administrator"


@pytest.mark.parametrize("missing", [scope.value for scope in Scope])
def test_it_refuses_a_token_without_the_scope(api, ask, missing):
    """Also where nothing of that name exists: the scope is looked at first."""
    client = api("steward", [scope.value for scope in Scope if scope != missing])
    for method, name in SCOPED:
        if OPERATIONS[method, name].scope == missing:
            answer = ask(client, method, name)
            assert answer.status_code == 403, (method, name)
            assert answer.json()["code"] == "insufficient_scope", (method, name)
            assert missing in answer.json()["detail"], (method, name)


@pytest.mark.parametrize("scope", [scope.value for scope in Scope])
def test_it_needs_no_other_scope(api, ask, scope):
    client = api("steward", [scope])
    for method, name in SCOPED:
        row = OPERATIONS[method, name]
        if row.scope == scope:
            assert ask(client, method, name).status_code == row.statuses[0], (method, name)


@pytest.mark.parametrize("person", EVERYBODY)
def test_it_shows_a_public_release_to_everybody_and_hides_it_again(api, ask, people, published, person):
    client = api(person)
    publication.set_public(people["steward"], published, public=True)
    shown = {ask(client, *operation).status_code for operation in PUBLIC}
    others = {
        operation: ask(client, *operation).status_code
        for operation in OPERATIONS
        if operation not in OF_RELEASES and person in ("stranger", "anonymous")
    }
    publication.set_public(people["steward"], published, public=False)
    hidden = {ask(client, *operation).status_code for operation in PUBLIC}

    assert shown == {200}
    assert others == {operation: by_person(OPERATIONS[operation].statuses)[person] for operation in others}
    assert hidden == {by_person(MEMBERS)[person]}
