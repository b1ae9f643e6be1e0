"""OGC API over HTTP: collections, features and coverages of published releases."""

import json

import pytest
from django.urls import reverse
from drf_spectacular.validation import validate_schema
from jsonschema import validate
from rasterio.io import MemoryFile

from api.views.gis import features
from heatmaps.models import AdministratorRead
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.services.draws import carry_out

# What the standards require of answers.
LINKS = {
    "type": "array",
    "items": {"type": "object", "required": ["href", "rel"], "properties": {"href": {"pattern": "^http"}}},
}
NUMBERS = {"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": "number"}}
COLLECTION = {
    "required": ["id", "links", "extent", "itemType", "crs"],
    "properties": {
        "links": LINKS,
        "extent": {
            "properties": {
                "spatial": {"required": ["bbox"], "properties": {"bbox": {"items": NUMBERS, "minItems": 1}}},
                "temporal": {"properties": {"interval": {"items": {"minItems": 2, "maxItems": 2}}}},
            }
        },
    },
}
SCHEMAS = {
    "landing": {"required": ["title", "links"], "properties": {"links": LINKS}},
    "conformance": {
        "required": ["conformsTo"],
        "properties": {"conformsTo": {"items": {"pattern": "^http"}}},
    },
    "collections": {
        "required": ["links", "collections"],
        "properties": {"links": LINKS, "collections": {"items": COLLECTION, "minItems": 1}},
    },
    "items": {
        "required": ["type", "features", "links", "numberMatched", "numberReturned"],
        "properties": {
            "type": {"const": "FeatureCollection"},
            "links": LINKS,
            "features": {
                "items": {
                    "required": ["type", "geometry", "properties", "id"],
                    "properties": {"type": {"const": "Feature"}},
                },
                "minItems": 1,
            },
        },
    },
}


@pytest.fixture
def ask(api, published):
    """JSON of an address, as an analyst reads it, and its status."""
    client = api("analyst")

    def get(place, query=""):
        path = place.removeprefix("http://testserver") if "/" in place else reverse(f"gis:{place}")
        answer = client.get(path + query)
        return answer.status_code, json.loads(answer.content) if answer.content else None

    return get


@pytest.fixture
def published(people, dataset):
    """A map of some hundred squares, with others that hold nothing."""
    request = ReleaseRequest(mechanism="laplace", epsilon="0.5", resolution=16)
    made = lifecycle.request_release(people["analyst"], dataset, request)
    carry_out(made.pk)
    made.refresh_from_db()
    return made


@pytest.fixture
def items(published):
    return reverse("gis:items", args=[published.pk])


def linked(document, rel):
    return [link["href"] for link in document["links"] if link["rel"] == rel]


def test_every_link_leads_somewhere(ask, api, published):
    """From the landing page, as a program follows them."""
    seen, waiting = set(), [reverse("gis:landing")]
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        answer = api("analyst").get(place)
        assert answer.status_code in ((302,) if place.endswith("/sheet/") else (200,)), place
        if "json" in answer.get("Content-Type", ""):
            found = json.loads(answer.content)
            for document in (found, *found.get("collections", ())):
                links = [link["href"] for link in document.get("links", ())]
                waiting += [link.removeprefix("http://testserver") for link in links]
    kinds = {place.rsplit("/", 1)[-1] for place in seen}
    assert {"conformance", "api", "collections", "items", "coverage", "schema", "tiles.json"} <= kinds
    assert str(published.pk) in kinds


def test_it_lists_what_whoever_asks_may_see(api, client_of, people, published, queued):
    def listed(client):
        found = client.get(reverse("gis:collections")).json()
        return [one["id"] for one in found["collections"]]

    own = [str(published.pk)]
    for person in ("steward", "analyst", "auditor", "administrator"):
        assert listed(api(person)) == listed(client_of(person)) == own, person
    assert listed(api("stranger")) == listed(client_of("stranger")) == listed(api("anonymous")) == []
    publication.set_public(people["steward"], published, public=True)
    assert listed(api("stranger")) == listed(api("anonymous")) == own


def test_an_administrator_who_lists_leaves_a_row(api, published):
    api("administrator").get(reverse("gis:collections"))
    row = AdministratorRead.objects.get(page="gis:collections")
    assert (row.dataset, row.reader.username) == (published.dataset, "administrator")


def test_a_list_has_pages(ask, counted, published):
    _, first = ask("collections", "?limit=1")
    _, second = ask(linked(first, "next")[0])
    ids = [page["collections"][0]["id"] for page in (first, second)]
    assert sorted(ids) == sorted([str(counted.pk), str(published.pk)])
    assert linked(second, "next") == []
    assert linked(second, "prev") == [linked(first, "self")[0] + "&offset=0"]


@pytest.mark.unguarded
def test_a_collection_says_what_is_promised_and_where_it_lies(ask, published):
    type(published).objects.filter(pk=published.pk).update(since=0, until=86_400, name="Secret name")
    _, told = ask(reverse("gis:collection", args=[published.pk]))
    assert "ε = 0.5" in told["description"] or "0.5" in told["description"]
    assert told["extent"]["spatial"]["bbox"] == [[0, 0, 1, 1]]
    assert [axis["cellsCount"] for axis in told["extent"]["spatial"]["grid"]] == [16, 16]
    assert told["extent"]["temporal"]["interval"] == [["1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"]]
    assert "Secret name" not in json.dumps(told)


def test_pages_of_features_are_the_geojson_file(ask, api, items, published):
    file = api("analyst").get(reverse("api:heatmap", args=[published.pk, "geojson"]))
    wanted = json.loads(b"".join(file.streaming_content))["features"]
    found, place = [], items + "?limit=100"
    while place:
        _, page = ask(place)
        assert page["numberMatched"] == len(wanted)
        assert page["numberReturned"] == len(page["features"]) <= 100
        found += page["features"]
        place = next(iter(linked(page, "next")), None)
    assert found == [one | {"id": number} for number, one in enumerate(wanted, start=1)]
    status, one = ask(f"{items}/3")
    del one["links"]
    assert (status, one) == (200, found[2])
    assert ask(f"{items}/{len(wanted) + 1}")[0] == ask(f"{items}/0")[0] == 404


@pytest.mark.unguarded
def test_a_box_and_a_time_choose(ask, items, published):
    _, everything = ask(items)
    _, corner = ask(items, "?bbox=0,0,0.2,0.2")
    _, six = ask(items, "?bbox=0,0,-5,0.2,0.2,5")
    south_west = [one["geometry"]["coordinates"][0][0] for one in everything["features"]]
    near = [one for one, at in zip(everything["features"], south_west, strict=True) if max(at) <= 0.2]
    assert corner["features"] == near
    assert 0 < corner["numberMatched"] == len(near) < everything["numberMatched"]
    assert six["features"] == corner["features"]
    assert ask(items, "?bbox=10,10,11,11")[1]["features"] == []
    assert ask(items, "?datetime=1999-01-01/..")[1]["features"] == everything["features"]
    type(published).objects.filter(pk=published.pk).update(since=86_400, until=2 * 86_400)
    for time, is_in in (
        ("1970-01-02", True),
        ("1970-01-01T23:59:59Z", False),
        ("1970-01-02T00:30:00%2B01:00", False),
        ("../1970-01-02T00:00:00Z", True),
        ("../1970-01-01", False),
        ("1970-01-02T23:59:59.5Z/..", True),
        ("1970-01-03/1971-01-01", False),
        ("/1970-01-02", True),
        ("1970-01-02t00:00:00z", True),
    ):
        assert bool(ask(items, f"?datetime={time}")[1]["features"]) == is_in, time


@pytest.mark.parametrize(
    "query",
    [
        *(
            "bbox=1,2,3",
            "bbox=1,2,3,x",
            "bbox=0,1,1,0",
            "bbox=nan,0,1,1",
            "bbox=0,0,1,1,1",
            "bbox=1e999,0,1,1",
        ),
        *("limit=0", "limit=-1", "limit=x", "limit=", "offset=-1", "offset=1e3"),
        *(
            "datetime=x",
            "datetime=2026-02-30",
            "datetime=2026-03-01/2026-02-01",
            "datetime=..",
            "datetime=1/2/3",
        ),
        *("f=html", "crs=EPSG:4326", "limit=1&limit=2"),
    ],
)
def test_it_refuses_by_name(ask, items, query):
    status, problem = ask(items, f"?{query}")
    assert status == 400
    assert problem["errors"][0]["field"] == query.partition("=")[0]


def test_a_limit_above_the_most_is_the_most(ask, items, monkeypatch):
    monkeypatch.setattr(features, "MOST", 3)
    for many in ("999999", "9" * 30):
        status, page = ask(items, f"?limit={many}")
        assert (status, page["numberReturned"], len(linked(page, "next"))) == (200, 3, 1)


def test_a_coverage_is_the_raster_and_its_parts(api, published):
    place, client = reverse("gis:coverage", args=[published.pk]), api("analyst")
    file = client.get(reverse("api:heatmap", args=[published.pk, "tif"]))
    whole = b"".join(file.streaming_content)
    answer = client.get(place)
    assert (b"".join(answer.streaming_content), answer["ETag"]) == (whole, file["ETag"])
    assert client.get(place, headers={"range": "bytes=0-3"}).content == whole[:4]
    several = ("?bbox=0,0.5,0.25,1", "?subset=Lat(0.5:1),Lon(0:0.25)", "?subset=Lat(0.5:*),Lon(*:0.25)")
    parts = [client.get(place + query) for query in several]
    assert len({part.content for part in parts}) == 1
    with MemoryFile(parts[0].content) as part, part.open() as raster, MemoryFile(whole) as all_of_it:
        assert (raster.read(1) == all_of_it.open().read(1)[:8, :4]).all()
    again = client.get(place + several[0], headers={"if-none-match": parts[0]["ETag"]})
    assert again.status_code == 304
    for far in ("bbox=10,10,11,11", "bbox=8e307,0,8e307,1", "subset=Lat(1e308:1e308)", "subset=Lon(-9e300)"):
        nothing = client.get(f"{place}?{far}")
        assert (nothing.status_code, nothing["Cache-Control"]) == (204, "private, no-cache"), far
    ways = ("?bbox=0.3,0.5,0.3,0.7", "?subset=Lon(0.3),Lat(0.5:0.7)", "?subset=Lat(0.5:0.7)&subset=Lon(0.3)")
    assert len({client.get(place + way).content for way in ways}) == 1
    wrong = (
        "",
        "Lat(1:0)",
        "Lat(0:1),Lat(0:1)",
        "Lat(0:1)Lon(0:1)",
        "x",
        "Time(0:1)",
        "Lat(*)",
        "Lat(0:1)&subset=Lat(0:1)",
        "Lat(0:1)&bbox=0,0,1,1",
    )
    for query in ("bbox=1,0,0,1", *(f"subset={text}" for text in wrong)):
        assert client.get(f"{place}?{query}").status_code == 400, query


def test_answers_have_what_the_standards_require(ask, items):
    for name, schema in SCHEMAS.items():
        validate(ask(items if name == "items" else name)[1], schema)


def test_a_point_has_features_of_its_own_and_neither_raster_nor_tiles(ask, api, people, panel):
    request = ReleaseRequest(mechanism="exponential", epsilon="0.5")
    made = lifecycle.request_release(people["analyst"], panel, request)
    carry_out(made.pk)
    _, told = ask(reverse("gis:collection", args=[made.pk]))
    assert {link["rel"] for link in told["links"]} == {"self", "items", "describedby"}
    _, page = ask(reverse("gis:items", args=[made.pk]))
    assert [one["geometry"]["type"] for one in page["features"]] == ["Point", "Polygon"]
    lon, lat = page["features"][0]["geometry"]["coordinates"]
    _, near = ask(reverse("gis:items", args=[made.pk]), f"?bbox={lon},{lat},{lon},{lat}")
    assert near["numberMatched"] == 2  # the point, and the circle around it
    for name in ("gis:coverage", "gis:schema"):
        assert ask(reverse(name, args=[made.pk]))[0] == 404


def test_the_description_is_openapi_and_true(ask, api, published):
    _, document = ask("ogc-api")
    validate_schema(document)
    assert document["servers"] == [{"url": "http://testserver/ogc"}]
    own = {"collectionId": str(published.pk), "featureId": "1"}
    for path, operations in document["paths"].items():
        answer = api("analyst").get("/ogc" + path.format(**own))
        told = operations["get"]["responses"]
        assert {"302", "304", "400", "401", "403", "404", "429"} <= set(told)
        assert ({"204", "206", "416"} <= set(told)) == path.endswith("coverage")
        [content] = told["200"]["content"]
        assert answer.status_code == 200, path
        assert answer["Content-Type"].split(";")[0] == content.split(";")[0], path
        places = [one.get("$ref", one.get("name")) for one in operations["get"]["parameters"]]
        named = {place.rsplit("/", 1)[-1] for place in places}
        for name in named - set(own):
            assert api("analyst").get("/ogc" + path.format(**own) + f"?{name}=").status_code == 400, name
