"""Mean distances over the API: GeoJSON points in the question, files as `distances.*`."""

import json

import pytest

from heatmaps import releases
from mechanisms.guarantee import Relation
from tests.services import seed

PLACE = {
    "type": "Feature",
    "properties": {"name": "Harbour"},
    "geometry": {"type": "Point", "coordinates": [0.25, 0.5]},
}
QUESTION = {"mechanism": "emd-distances", "epsilon": "0.5", "parameters": {"places": PLACE}}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "30", "radius": "2"})
    seed.add_checkins(made)
    return made


def test_a_question_is_quoted_released_and_read(api, panel):
    analyst = api("analyst")
    quote = analyst.send("POST", "quotes", panel.slug, body=QUESTION).json()
    assert 0 < quote["expected_error"]["expected_m"] < quote["expected_error"]["within_m"]
    made = analyst.send("POST", "releases", panel.slug, body=QUESTION)
    assert made.status_code == 202
    releases.run(made.json()["id"])
    found = analyst.send("GET", "release", made.json()["id"]).json()
    assert set(found["links"]["distances"]) == {"png", "html", "geojson", "csv"}
    again = {"mechanism": "emd-distances", "epsilon": "0.5", "parameters": found["parameters"]}
    free = analyst.send("POST", "quotes", panel.slug, body=again).json()
    assert free["same_release"].endswith(f"{found['id']}/")
    sheet = json.loads(b"".join(analyst.send("GET", "distances", found["id"], "json").streaming_content))
    assert (sheet["distances"][0]["name"], sheet["distances"][0]["lat"]) == ("Harbour", 0.5)
    assert sheet["distances_sha256"]
    assert analyst.send("GET", "zones", found["id"], "csv").status_code == 422


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {}},
        {"parameters": {"places": {"type": "Point", "coordinates": [9, 0]}}},
        {"parameters": {"places": PLACE, "margin_m": "9"}},
        {"resolution": 64},
        {"within": [0, 0, 1, 0.5]},
        {"delta": "0.1"},
    ],
)
def test_what_is_no_such_question_is_refused(api, panel, change):
    assert api("analyst").send("POST", "quotes", panel.slug, body=QUESTION | change).status_code == 422
