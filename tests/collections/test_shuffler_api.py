"""What a shuffler asks the analyser, over HTTP and with its token."""

import hashlib
import json

import pytest
from django.test import Client

from heatmaps.collections import collection as collections
from heatmaps.collections import handover, rounds
from tests.collections.devices import batch_of, bits_of, sealed
from tests.services import seed

pytestmark = pytest.mark.django_db(transaction=True)

BASE = "/api/v1/shuffler/rounds/"
BYTES = "application/octet-stream"


@pytest.fixture
def planned(steward, dataset):
    return seed.plan_round(steward, dataset)


@pytest.fixture
def ask(token):
    def send(method, path, body=None, *, secret=token, content_type="application/json", **headers):
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        named = {"Authorization": f"Bearer {secret}"} | headers
        return Client().generic(method, f"{BASE}{path}", content, content_type=content_type, headers=named)

    return send


def told(part):
    names = ("key", "invitations", "invitations_sha256")
    return {name: getattr(part, name) for name in names}


def test_it_lists_its_rounds(ask, planned):
    (found,) = ask("GET", "").json()["results"]
    assert found["round"] == str(planned.pk)
    assert (found["state"], found["number"], found["most_invitations"]) == ("planned", 1, 40)
    assert found["least_reports"] == 20
    assert found["closes_at"] - found["opens_at"] == 86_400
    assert found["messages"] > 0
    assert found["facts_sha256"] == ""


def test_it_takes_part_once_and_gets_the_same_text_again(ask, planned, shuffler):
    part = told(shuffler.part())
    first = ask("PUT", f"{planned.pk}/", part)
    assert first.status_code == 200
    facts = first.json()["facts"]
    assert ask("PUT", f"{planned.pk}/", part).json()["facts"] == facts
    other = ask("PUT", f"{planned.pk}/", part | {"invitations": 39})
    assert (other.status_code, other.json()["code"]) == (409, "round_is_fixed")
    (found,) = ask("GET", "").json()["results"]
    assert found["state"] == "ready"
    assert found["facts_sha256"] == hashlib.sha256(facts.encode()).hexdigest()
    public = Client().get(f"/rounds/{planned.pk}/facts.json")
    assert public.content.decode() == facts
    assert public["Access-Control-Allow-Origin"] == "*"


def test_the_table_is_that_of_the_facts(ask, planned, shuffler):
    facts = json.loads(ask("PUT", f"{planned.pk}/", told(shuffler.part())).json()["facts"])
    table = ask("GET", f"{planned.pk}/table.bin").content
    assert hashlib.sha256(table).hexdigest() == facts["table_sha256"]


def test_facts_are_public_once_they_are_fixed(planned, steward, shuffler):
    address = f"/rounds/{planned.pk}/facts.json"
    missing = Client().get(address)
    assert (missing.status_code, missing["Access-Control-Allow-Origin"]) == (404, "*")
    handover.fix(planned.pk, shuffler.part())
    assert Client().get(address).status_code == 200
    rounds.cancel(steward, planned)
    assert Client().get(address).status_code == 404


def test_it_hands_over_once(ask, planned, shuffler, clock):
    facts = ask("PUT", f"{planned.pk}/", told(shuffler.part())).json()["facts"]
    batch, digest = batch_of(sealed(facts, [bit for _ in range(20) for bit in bits_of(facts, (3, 5))]))
    send = {"content_type": BYTES, "Hazemap-Batch": digest, "Hazemap-Reports": "20"}
    early = ask("PUT", f"{planned.pk}/batch/", batch, **send)
    assert (early.status_code, early.json()["code"]) == (409, "round_not_open")
    clock.pass_by(days=2)
    assert ask("PUT", f"{planned.pk}/batch/", batch, **send).status_code == 201
    assert ask("PUT", f"{planned.pk}/batch/", batch, **send).status_code == 200
    empty = send | {"Hazemap-Batch": hashlib.sha256(b"").hexdigest()}
    assert ask("PUT", f"{planned.pk}/batch/", b"", **empty).json()["code"] == "batch_differs"


def test_an_empty_batch_says_that_too_few_came(ask, planned, shuffler, clock):
    ask("PUT", f"{planned.pk}/", told(shuffler.part()))
    clock.pass_by(days=2)
    send = {"content_type": BYTES, "Hazemap-Batch": hashlib.sha256(b"").hexdigest(), "Hazemap-Reports": "3"}
    assert ask("PUT", f"{planned.pk}/batch/", b"", **send).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Hazemap-Batch": "0" * 63, "Hazemap-Reports": "1"},
        {"Hazemap-Batch": "0" * 64, "Hazemap-Reports": "-1"},
        {"Hazemap-Batch": "0" * 64, "Hazemap-Reports": "١"},
    ],
)
def test_it_says_what_it_hands_over(ask, planned, shuffler, clock, headers):
    ask("PUT", f"{planned.pk}/", told(shuffler.part()))
    clock.pass_by(days=2)
    coded = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    assert ask("PUT", f"{planned.pk}/batch/", b"", content_type=BYTES, **coded).status_code == 400


def test_another_token_ends_the_one_before(ask, dataset, token):
    new = collections.new_token(dataset.collection)
    assert ask("GET", "").status_code == 401
    assert ask("GET", "", secret=new).status_code == 200


@pytest.mark.parametrize("secret", ["", "x", "é" * 40, "x" * 5000])
def test_nobody_else_comes_in(ask, planned, secret):
    for method, path in (("GET", ""), ("PUT", f"{planned.pk}/"), ("GET", f"{planned.pk}/table.bin")):
        answer = ask(method, path, secret=secret)
        assert answer.status_code == 401
        assert answer.json()["code"]


def test_a_round_of_another_collection_is_not_there(ask, make_collection, steward, shuffler):
    other = seed.plan_round(steward, make_collection("others"))
    assert ask("PUT", f"{other.pk}/", told(shuffler.part())).status_code == 404
    assert ask("GET", f"{other.pk}/table.bin").status_code == 404
    assert ask("GET", "").json()["results"] == []
