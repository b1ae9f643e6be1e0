"""Central points over the API: asked for without a resolution, read as `point.*`."""

import json

import pytest

from heatmaps.releases import lifecycle
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.draws import carry_out

QUESTION = {"mechanism": "exponential", "epsilon": "0.5"}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits={"record": "3", "radius": "2"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def point(api, panel):
    made = api("analyst").send("POST", "releases", panel.slug, body=QUESTION)
    assert made.status_code == 202
    carry_out(made.json()["id"])
    return api("analyst").send("GET", "release", made.json()["id"]).json()


def test_a_quote_has_both_charges_and_two_distances(api, panel):
    quote = api("analyst").send("POST", "quotes", panel.slug, body=QUESTION).json()
    amounts = {line["account"]: float(line["amount"]) for line in quote["accounts"]}
    assert amounts["record"] > 2.8 * amounts["radius"] > 0
    assert quote["expected_error"]["within_m"] > quote["expected_error"]["expected_m"] > 0
    assert "emd" not in quote["expected_error"]
    assert "this point" in quote["statements"][0]


def test_a_release_has_links_of_its_kind(point):
    assert point["state"] == "published"
    assert point["resolution"] is None
    assert set(point["links"]["point"]) == {"png", "html", "geojson", "csv"}
    assert "heatmap" not in point["links"]
    assert point["links"]["sheet"].endswith("point.json")


@pytest.mark.parametrize("suffix", ["png", "html", "geojson", "csv", "json"])
def test_every_file_can_be_had(api, point, suffix):
    answer = api("analyst").send("GET", "point", point["id"], suffix)
    assert answer.status_code == 200
    content = b"".join(answer.streaming_content)
    if suffix == "json":
        found = lifecycle.result_of(lifecycle.Release.objects.get(pk=point["id"]))
        assert json.loads(content)["point"]["lat"] == found.lat


@pytest.mark.parametrize(
    ("name", "suffix"), [("point", "npy"), ("point", "tif"), ("heatmap", "csv"), ("heatmap", "json")]
)
def test_files_of_another_kind_are_refused_by_naming_what_there_is(api, point, name, suffix):
    answer = api("analyst").send("GET", name, point["id"], suffix)
    assert answer.status_code == 422
    assert ".geojson" in json.dumps(answer.json())


def test_there_is_no_point_of_a_map(api, published):
    answer = api("analyst").send("GET", "point", published.pk, "csv")
    assert answer.status_code == 422
    assert "heatmap.npy" in json.dumps(answer.json())
    assert api("analyst").send("GET", "point", published.pk, "xyz").status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"resolution": 16}, "resolution"),
        ({"data_slice": {"rectangle": [0.1, 0.1, 0.2, 0.2]}}, "data_slice.rectangle"),
    ],
)
def test_what_the_kind_has_not_is_refused_by_name(api, panel, change, field):
    answer = api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | change)
    assert answer.status_code == 422
    assert field in json.dumps(answer.json()["errors"])


def test_a_map_needs_a_resolution(api, panel):
    answer = api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | {"mechanism": "laplace"})
    assert answer.status_code == 422
    assert "resolution" in json.dumps(answer.json()["errors"])


def test_the_catalogue_says_the_kinds(api):
    rows = api("analyst").send("GET", "mechanisms").json()["results"]
    kinds = {row["name"]: (row["kind"], row["max_resolution"]) for row in rows}
    assert kinds["exponential"] == ("centroid", 0)
    assert kinds["laplace"] == ("heatmap", 1024)


def test_a_shuffled_point_carries_its_delta(api, make_dataset):
    limits = {"record": None, "radius": "2", "delta": "0.000001"}
    free = make_dataset("free", Relation.REPLACE, radius_m=50_000, limits=limits)
    seed.add_checkins(free)
    asked = {"mechanism": "sgdl-shuffle", "epsilon": "0.5", "parameters": {"cell_m": "50000"}}
    quote = api("analyst").send("POST", "quotes", free.slug, body=asked).json()
    assert (quote["delta"], quote["guarantee"]["simulated"]) == ("0.000000001", True)
    assert quote["on_devices"]["trust"] == "shuffle"
    assert quote["on_devices"]["if_shuffler_fails"]["trust"] == "local"
    amounts = {line["account"]: line["amount"] for line in quote["accounts"]}
    assert (amounts["delta"], amounts["record"]) == ("0.000000001", None)
    made = api("analyst").send("POST", "releases", free.slug, body=asked | {"delta": "1e-8"})
    carry_out(made.json()["id"])
    found = api("analyst").send("GET", "release", made.json()["id"]).json()
    assert (found["state"], found["delta"]) == ("published", "0.00000001")
    assert found["guarantee"]["trust"] == "central"


def test_delta_is_refused_where_it_means_nothing(api, panel):
    answer = api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | {"delta": "1e-9"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "delta"
    assert (
        api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | {"delta": "0"}).status_code == 200
    )
