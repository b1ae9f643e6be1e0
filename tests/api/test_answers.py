"""Shares in zones and mean distances over the API: GeoJSON in the question, files named as their kind."""

import json
from fractions import Fraction

import pytest

from tests import geojson
from tests.services.draws import carry_out

QUESTIONS = {
    "zones": {
        "mechanism": "emd-zones",
        "epsilon": "0.5",
        "parameters": {"zones": geojson.zone("Harbour"), "margin_m": "9000"},
    },
    "distances": {
        "mechanism": "emd-distances",
        "epsilon": "0.5",
        "parameters": {"places": geojson.place("Harbour")},
    },
}
PERIOD = {"since": "2026-03-01", "until": "2026-03-31T20:00:00-04:00"}
SHOWN = {"since": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z", "rectangle": None}


@pytest.fixture(params=QUESTIONS)
def kind(request):
    return request.param


@pytest.fixture
def asked(api, panel):
    """Sends a question to an address: the answer."""

    def send(address, question, **change):
        return api("analyst").send("POST", address, panel.slug, body=question | change)

    return send


def test_a_question_is_quoted_released_and_read(api, asked, kind):
    question, analyst = QUESTIONS[kind], api("analyst")
    error = asked("quotes", question).json()["expected_error"]
    assert error["share"] > 0 if kind == "zones" else 0 < error["expected_m"] < error["within_m"]
    made = asked("releases", question)
    assert made.status_code == 202
    carry_out(made.json()["id"])
    found = analyst.send("GET", "release", made.json()["id"]).json()
    assert set(found["links"][kind]) == {"png", "html", "geojson", "csv"}
    free = asked("quotes", question, parameters=found["parameters"]).json()
    assert free["same_release"].endswith(f"{found['id']}/")
    sheet = json.loads(b"".join(analyst.send("GET", kind, found["id"], "json").streaming_content))
    assert sheet[kind][0]["name"] == "Harbour"
    assert sheet[f"{kind}_sha256"]
    for other in {"heatmap", *QUESTIONS} - {kind}:
        assert analyst.send("GET", other, found["id"], "csv").status_code == 422


def test_a_period_is_promised_and_charged_as_a_whole_record_and_told(api, asked, kind):
    question, analyst = QUESTIONS[kind], api("analyst")
    whole, part = (asked("quotes", question, **change).json() for change in ({}, {"data_slice": PERIOD}))
    # A small move may take all of a record out of a period: what a whole record loses, at every distance.
    rising, flat = (quote["guarantee"]["terms"] for quote in (whole, part))
    assert [term["cap"] for term in flat] == [term["cap"] for term in rising]
    assert {term["alpha_per_m"] for term in flat} == {"inf"}
    assert part["guarantee"] | {"terms": rising} == whole["guarantee"]
    assert part["data_slice"] == SHOWN
    before, after = (
        {line["account"]: Fraction(line["amount"]) for line in quote["accounts"]} for quote in (whole, part)
    )
    assert before["radius"] < before["record"] == after["record"] == after["radius"]
    made = asked("releases", question, data_slice=PERIOD).json()
    assert made["data_slice"] == SHOWN
    carry_out(made["id"])
    again = asked("releases", question, data_slice=SHOWN).json()
    assert (again["id"], again["state"]) == (made["id"], "published")
    sheet = json.loads(b"".join(analyst.send("GET", kind, made["id"], "json").streaming_content))
    assert sheet["period"] == {name: SHOWN[name] for name in ("since", "until")}
    assert sheet["guarantee"] == part["guarantee"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"since": "yesterday"}, "data_slice.since"),
        ({"until": "2026-03-01"}, "data_slice.until"),  # not after `since`
    ],
)
def test_a_period_that_is_none_is_refused(asked, kind, change, field):
    for address in ("quotes", "releases"):
        answer = asked(address, QUESTIONS[kind], data_slice=PERIOD | change)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    "change",
    [{"parameters": {}}, {"resolution": 64}, {"data_slice": {"rectangle": [0, 0, 1, 0.5]}}, {"delta": "0.1"}],
)
def test_what_is_no_such_question_is_refused(asked, kind, change):
    assert asked("quotes", QUESTIONS[kind], **change).status_code == 422


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("zones", {"zones": {"type": "Point", "coordinates": [0, 0]}}),
        ("zones", {"zones": geojson.zone(), "margin_m": "0"}),
        ("distances", {"places": {"type": "Point", "coordinates": [9, 0]}}),
        ("distances", {"places": geojson.place(), "margin_m": "9"}),
    ],
)
def test_parameters_that_are_not_allowed_are_refused(asked, kind, parameters):
    assert asked("quotes", QUESTIONS[kind], parameters=parameters).status_code == 422


def test_a_numbers_place_takes_no_object(asked):
    question = {"mechanism": "exponential", "epsilon": "1", "parameters": {"spacing_m": {"a": 1}}}
    assert asked("quotes", question).status_code == 422
