"""Guides over HTTP: files that a steward stores, maps that questions name."""

import json

import numpy as np
import pytest
import rasterio
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, Client, encode_multipart
from django.urls import reverse

from api import answers
from heatmaps.guides.release_sheets import NOT_FROM_THESE_PEOPLE, FileSheet
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, GuideFile, Release
from heatmaps.releases import publication
from heatmaps.wording.guides import HIDDEN
from heatmaps.wording.unchecked_files import UNCHECKED
from mechanisms.guarantee import Guarantee, Relation
from tests.services import seed
from tests.services.draws import carry_out

QUESTION = {"mechanism": "adaptive", "epsilon": "4", "resolution": 16}
CITED = {"title": "Built-up area", "source": "Hazel Institute, 2025", "licence": "CC BY 4.0"}


def sheet_of(client, release_id):
    return json.loads(b"".join(client.send("GET", "heatmap", release_id, "json")))


@pytest.fixture
def raster(tmp_path):
    """The bytes of a GeoTIFF of the region; the first column holds nobody."""
    path = tmp_path / "map.tif"
    values = np.tile(np.array([0, 1, 2, 5], np.float32), (4, 1))
    transform = rasterio.transform.from_bounds(0, 0, 1, 1, 4, 4)
    options = {"width": 4, "height": 4, "count": 1, "dtype": "float32", "crs": "EPSG:4326"}
    with rasterio.open(path, "w", driver="GTiff", transform=transform, **options) as file:
        file.write(values, 1)
    return path.read_bytes()


@pytest.fixture
def store(api, raster):
    def send(dataset, content=raster, person="steward", **facts):
        file = SimpleUploadedFile("map.tif", content)
        body = encode_multipart(BOUNDARY, {**CITED, **facts, "file": file})
        return api(person).send("POST", "guides", dataset.slug, body=body, content_type=MULTIPART_CONTENT)

    return send


@pytest.fixture
def city(make_dataset):
    """Without data, with room for several maps."""
    return make_dataset(limits={"presence": "40"})


@pytest.fixture
def ask(api):
    """The published answer to a question, as the API tells it."""

    def make(dataset, **changes):
        answer = api("analyst").send("POST", "releases", dataset.slug, body=QUESTION | changes)
        assert answer.status_code == 202, answer.content
        carry_out(answer.json()["id"])
        told = api("analyst").send("GET", "release", answer.json()["id"]).json()
        assert told["state"] == "published"
        return told

    return make


def test_a_file_is_stored_before_the_first_upload_and_guides_a_map(api, city, store, ask):
    stored = store(city)
    assert stored.status_code == 201, stored.content
    told = stored.json()
    assert (told["kind"], told["epsilon"], told["unchecked"]) == ("file", None, UNCHECKED)
    assert told["guarantee"] is None
    assert {name: told[name] for name in CITED} == CITED
    event = json.loads(Event.objects.get(kind="guide").after)
    assert event == {
        **CITED,
        "guide": told["id"],
        "file_sha256": told["file_sha256"],
        "guide_sha256": told["sha256"],
    }
    seed.add_checkins(city)
    named = {name: told[name] for name in ("id", "kind", "title", "epsilon", "source", "sha256")}
    release = ask(city, guide=told["id"])
    assert release["guide"] == named
    listed = api("auditor").send("GET", "guides", city.slug).json()["results"]
    assert [one["id"] for one in listed] == [release["id"], told["id"]]
    assert listed[1] == named

    sheet = sheet_of(api("auditor"), release["id"])
    assert sheet["mechanism_version"] == 2
    assert sheet["guide"] == {
        **CITED,
        "id": told["id"],
        "kind": "file",
        "sha256": told["sha256"],
        "file_sha256": told["file_sha256"],
        "unchecked": UNCHECKED,
        "conditions": [NOT_FROM_THESE_PEOPLE],
    }
    assert verify(city).problem == ""
    GuideFile.objects.update(source="Somebody else")
    assert "it is not what its event says" in verify(city).problem


def test_a_stored_map_of_hazemap_says_what_it_promises(city, people):
    seed.store_guide(people["steward"], city)
    guarantee = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=1)
    GuideFile.objects.update(sheet=FileSheet(guarantee=guarantee).to_json())
    told = answers.guide_file(GuideFile.objects.get())
    assert told["guarantee"] == guarantee.to_json()
    assert "that is a Hazemap map" in told["unchecked"]


def test_a_file_is_refused_after_the_first_upload(dataset, store):
    refused = store(dataset)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_late_for_guides")
    assert not GuideFile.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"title": ""}, 400, "title"),
        ({"title": "x" * 81}, 422, "title"),
        ({"source": " "}, 422, "source"),
        ({"colour": "red"}, 400, "colour"),
        ({"content": b"no raster"}, 422, "file"),
        ({"content": b"II*\0" + b"\0" * 100}, 422, "file"),
    ],
)
def test_a_file_is_refused_by_the_field(city, store, changes, status, field):
    refused = store(city, **changes)
    assert refused.status_code == status, refused.content
    assert [error["field"] for error in refused.json()["errors"]] == [field]
    assert "/" not in refused.json()["detail"]
    assert not GuideFile.objects.exists()


def test_two_files_of_a_dataset_have_two_titles(city, store):
    assert store(city).status_code == 201
    assert store(city).json()["errors"][0]["field"] == "title"
    assert store(city, title="Roads").status_code == 201


def test_a_form_without_a_file_is_refused(api, city):
    body = encode_multipart(BOUNDARY, CITED)
    refused = api("steward").send("POST", "guides", city.slug, body=body, content_type=MULTIPART_CONTENT)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "file")


def test_who_sends_files_too_often_waits(api, city, store, monkeypatch):
    """At the page and here together; lists, other scopes and other people go on."""
    statuses = [store(city, content=b"no raster").status_code for _ in range(3)]
    refused = store(city)
    assert [*statuses, refused.status_code] == [422] * 3 + [429]
    assert refused.json()["code"] == "throttled"
    assert "Expected available in" in refused.json()["detail"]
    assert 0 < int(refused["Retry-After"]) <= 61
    assert not GuideFile.objects.exists()
    assert store(city, person="administrator").status_code != 429
    steward = api("steward")
    assert steward.send("GET", "guides", city.slug).status_code == 200
    assert steward.send("POST", "quotes", city.slug, body=QUESTION).status_code != 429
    assert steward.send("POST", "blurred", city.slug).status_code == 400
    page = Client()
    page.force_login(User.objects.get(username="steward"))
    assert page.post(reverse("guides", args=[city.slug])).status_code == 429


def test_a_quote_tells_the_guide_and_the_error_without_it(api, city, ask):
    seed.add_checkins(city)
    first = ask(city)
    quote = api("analyst").send("POST", "quotes", city.slug, body=QUESTION | {"guide": first["id"]}).json()
    plain = api("analyst").send("POST", "quotes", city.slug, body=QUESTION).json()
    guide = quote["guide"]
    assert (guide["id"], guide["kind"], guide["epsilon"], guide["source"]) == (
        first["id"],
        "release",
        "4",
        "",
    )
    assert guide["title"] == first["title"]
    assert quote["expected_error_without_guide"] == plain["expected_error"]
    assert (plain["guide"], plain["expected_error_without_guide"]) == (None, None)
    assert (first["guide"], first["mechanism_version"]) == (None, 2)
    sheet = sheet_of(api("analyst"), ask(city, guide=first["id"])["id"])
    assert (sheet["guide"]["kind"], sheet["guide"]["epsilon"]) == ("release", "4")
    assert "unchecked" not in sheet["guide"]


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"epsilon": "0.5"}, "none at this epsilon, one at an ε from 2 to 20"),
        ({"parameters": {"expected_persons": 4}}, "none for this number of people, one for 5 to 1,000,000"),
        (
            {"parameters": {"expected_persons": 4}, "epsilon": None, "error_m": "20000"},
            "none for this number of people, one for 5 to 1,000,000",
        ),
    ],
)
def test_a_guide_where_none_is_allowed_is_refused_by_its_field(api, city, ask, changes, allowed):
    seed.add_checkins(city)
    guide = ask(city)["id"]
    body = {
        name: value for name, value in (QUESTION | {"guide": guide} | changes).items() if value is not None
    }
    answer = api("analyst").send("POST", "quotes", city.slug, body=body)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error == {"field": "guide", "detail": f"{guide} is not allowed; allowed: {allowed}"}


def test_nobody_learns_of_maps_that_they_may_not_see(api, people, city, make_dataset, ask):
    """A map of a dataset that the asker is no member of is refused as one that does not exist."""
    seed.add_checkins(city)
    secret = seed.make_dataset(people["administrator"], "secret")
    version = seed.add_checkins(secret)
    own = Release.objects.get(pk=ask(city)["id"])
    hidden = Release.objects.get(pk=own.pk)
    hidden.pk, hidden.dataset, hidden.version = "11111111-1111-4111-8111-111111111111", secret, version
    hidden.save(force_insert=True)
    answers = set()
    for guide in (str(hidden.pk), "22222222-2222-4222-8222-222222222222"):
        answer = api("analyst").send("POST", "quotes", city.slug, body=QUESTION | {"guide": guide})
        assert answer.status_code == 422
        answers.add(answer.content.decode().replace(guide, "…"))
    assert len(answers) == 1


def test_a_public_map_names_nothing_that_is_hidden_by_now(api, people, city, make_dataset, ask):
    seed.add_checkins(city)
    other = make_dataset("other", limits={"presence": "40"})
    seed.add_checkins(other)
    guide = Release.objects.get(pk=ask(other)["id"])
    Release.objects.filter(pk=guide.pk).update(name="Our name")
    publication.set_public(people["steward"], guide, public=True)
    guided = Release.objects.get(pk=ask(city, guide=str(guide.pk))["id"])
    publication.set_public(people["steward"], guided, public=True)
    shown = api("anonymous").send("GET", "release", guided.pk).json()["guide"]["title"]
    assert other.title in shown
    assert "Our name" not in shown
    publication.set_public(people["steward"], guide, public=False)
    assert api("anonymous").send("GET", "release", guided.pk).json()["guide"]["title"] == HIDDEN
    assert sheet_of(api("anonymous"), guided.pk)["guide"]["title"] == HIDDEN


def test_the_refusal_to_publish_says_what_to_do(api, city, ask):
    seed.add_checkins(city)
    first = ask(city)
    guided = ask(city, guide=first["id"])
    refused = api("steward").send("PATCH", "release", guided["id"], body={"public": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "guide_not_public")
    assert "make that one public first" in refused.json()["detail"]
    for name in (first["id"], guided["id"]):
        assert api("steward").send("PATCH", "release", name, body={"public": True}).status_code == 200
    kept = api("steward").send("PATCH", "release", first["id"], body={"public": False})
    assert (kept.status_code, kept.json()["code"]) == (409, "guides_public_map")


def test_a_key_with_another_guide_is_another_request(api, city, ask):
    seed.add_checkins(city)
    first = ask(city)
    send = api("analyst").send
    key = {"Idempotency-Key": "k"}
    one = send("POST", "releases", city.slug, body=QUESTION | {"guide": first["id"]}, **key)
    same = send("POST", "releases", city.slug, body=QUESTION | {"guide": first["id"]}, **key)
    other = send("POST", "releases", city.slug, body=QUESTION, **key)
    assert (one.status_code, same.json()["id"]) == (202, one.json()["id"])
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")


def test_a_map_that_starts_from_a_file_states_no_error_of_sums(api, city, store, ask):
    """Where people are inside of what was measured is taken from the file; it may be wrong, or aimed."""
    file = store(city).json()["id"]
    seed.add_checkins(city)
    release = ask(city, guide=file)
    client = api("analyst")
    square = [[0, 0], [0.3, 0], [0.3, 0.3], [0, 0.3], [0, 0]]
    area = {"type": "Polygon", "coordinates": [square]}
    assert client.send("POST", "areas", ask(city)["id"], body=area).status_code == 200
    refused = client.send("POST", "areas", release["id"], body=area)
    assert refused.status_code == 422
    assert "how far sums of its squares may be off" in refused.content.decode()
    features = json.loads(b"".join(client.send("GET", "heatmap", release["id"], "geojson")))["features"]
    told = [feature["properties"] for feature in features]
    assert {(one["deviation"], one["distinguishable"]) for one in told} == {(None, None)}
    assert all(one["rectangle"] >= 1 for one in told)
