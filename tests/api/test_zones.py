"""Shares in zones over the API: GeoJSON in the question, files as `zones.*`."""

import json

import pytest

from heatmaps import releases
from mechanisms.guarantee import Relation
from tests.services import seed

RING = [[0.1, 0.1], [0.6, 0.1], [0.6, 0.6], [0.1, 0.1]]
ZONE = {
    "type": "Feature",
    "properties": {"name": "Harbour"},
    "geometry": {"type": "Polygon", "coordinates": [RING]},
}
QUESTION = {"mechanism": "emd-zones", "epsilon": "0.5", "parameters": {"zones": ZONE, "margin_m": "9000"}}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "30", "radius": "2"})
    seed.add_checkins(made)
    return made


def test_a_question_is_quoted_released_and_read(api, panel):
    analyst = api("analyst")
    quote = analyst.send("POST", "quotes", panel.slug, body=QUESTION).json()
    assert quote["expected_error"]["share"] > 0
    made = analyst.send("POST", "releases", panel.slug, body=QUESTION)
    assert made.status_code == 202
    releases.run(made.json()["id"])
    found = analyst.send("GET", "release", made.json()["id"]).json()
    assert set(found["links"]["zones"]) == {"png", "html", "geojson", "csv"}
    again = {"mechanism": "emd-zones", "epsilon": "0.5", "parameters": found["parameters"]}
    free = analyst.send("POST", "quotes", panel.slug, body=again).json()
    assert free["same_release"].endswith(f"{found['id']}/")
    sheet = json.loads(b"".join(analyst.send("GET", "zones", found["id"], "json").streaming_content))
    assert sheet["zones"][0]["name"] == "Harbour"
    assert sheet["zones_sha256"]
    assert analyst.send("GET", "heatmap", found["id"], "csv").status_code == 422


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {}},
        {"parameters": {"zones": {"type": "Point", "coordinates": [0, 0]}}},
        {"parameters": {"zones": ZONE, "margin_m": "0"}},
        {"resolution": 64},
        {"within": [0, 0, 1, 0.5]},
        {"delta": "0.1"},
    ],
)
def test_what_is_no_such_question_is_refused(api, panel, change):
    assert api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | change).status_code == 422


def test_a_numbers_place_takes_no_object(api, panel):
    body = {"mechanism": "exponential", "epsilon": "1", "parameters": {"spacing_m": {"a": 1}}}
    assert api("analyst").send("POST", "quotes", panel.slug, body=body).status_code == 422
