"""The contributor page, its files, and the headers of all answers."""

import base64
import hashlib
import json

import pytest

from heatmaps.page_bundle import PAGE
from tests.shuffler.process import ROOT

needs_packages = pytest.mark.skipif(
    not (ROOT / "build" / "front" / "hpke").is_dir(), reason="the page's packages are not installed"
)


def directives(answer):
    parts = answer.headers["Content-Security-Policy"].split("; ")
    return {name: set(sources) for name, *sources in (part.split() for part in parts)}


@needs_packages
def test_it_serves_the_page_for_every_round(shuffler, analyser):
    answer = shuffler.get("/contribute/")
    assert answer.body == PAGE.read_bytes()
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = directives(answer)
    assert policy["default-src"] == {"'none'"}
    assert policy["script-src"] == policy["worker-src"] == policy["manifest-src"] == {"'self'"}
    assert {"'self'", analyser.url} <= policy["connect-src"]
    assert not any("*" in source or "unsafe" in source for one in policy.values() for source in one)
    assert "geolocation=(self)" in answer.headers["Permissions-Policy"]
    assert "camera=()" in answer.headers["Permissions-Policy"]


@needs_packages
def test_it_serves_each_file_of_the_list(shuffler):
    listed = shuffler.get("/contribute/bundle.json").json()
    assert {"", "service-worker.js", "manifest.webmanifest", "hpke/core/mod.js"} <= {
        path for path, _ in listed
    }
    for path, sha384 in listed:
        answer = shuffler.get(f"/contribute/{path}")
        assert base64.b64encode(hashlib.sha384(answer.body).digest()).decode() == sha384, path
        assert answer.headers["Cache-Control"] == "no-cache"
        if path.endswith(".js"):
            assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    worker = shuffler.get("/contribute/service-worker.js")
    assert worker.headers["Service-Worker-Allowed"] == "/contribute/"
    assert "connect-src" in directives(worker)
    again = shuffler.get("/contribute/service-worker.js", **{"If-None-Match": worker.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    manifest = shuffler.get("/contribute/manifest.webmanifest")
    assert manifest.headers["Content-Type"] == "application/manifest+json"


def test_it_names_the_towns_of_its_regions(shuffler, analyser):
    shuffler.facts(analyser.plan())
    towns = {
        town["name"]: (town["lat"], town["lon"]) for town in shuffler.get("/contribute/places.json").json()
    }
    assert towns["Berlin"] == pytest.approx((52.52, 13.41), abs=0.02)
    assert "Hamburg" not in towns
    assert all(52.3 <= lat <= 52.7 and 13.0 <= lon <= 13.8 for lat, lon in towns.values())


def test_it_names_the_towns_that_its_operator_gives(shuffler):
    towns = [{"name": "Potsdam", "lat": 52.4, "lon": 13.06}]
    (shuffler.state / "places.json").write_text(json.dumps(towns))
    assert shuffler.get("/contribute/places.json").json() == towns


@pytest.mark.parametrize(
    "path", ["../settings.py", "hpke/../page.js", "%2e%2e/x", "/etc/passwd", ".git", "%00"]
)
def test_it_serves_nothing_else(shuffler, path):
    answer = shuffler.get(f"/contribute/{path}")
    assert (answer.status, answer.json()["code"]) == (404, "not_found")


def test_answers_carry_no_cookie_and_load_nothing(shuffler, analyser):
    made = analyser.plan()
    shuffler.facts(made)
    for path, status in ((f"/rounds/{made.id}/facts.json", 200), ("/healthz", 200), ("/nothing", 404)):
        answer = shuffler.get(path, Cookie="sessionid=x")
        assert answer.status == status
        assert directives(answer)["default-src"] == {"'none'"}
        assert "connect-src" not in directives(answer)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "geolocation=()" in answer.headers["Permissions-Policy"]
        assert "Set-Cookie" not in answer.headers


def test_everybody_may_read_facts_and_send_from_here_alone(shuffler, analyser):
    made = analyser.plan()
    shuffler.facts(made)
    for name in ("facts.json", "table.bin"):
        answer = shuffler.get(f"/rounds/{made.id}/{name}")
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        again = shuffler.get(f"/rounds/{made.id}/{name}", **{"If-None-Match": answer.headers["ETag"]})
        assert (again.status, again.body) == (304, b"")
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = shuffler.ask("OPTIONS", f"/rounds/{made.id}/reports/", **asked)
    assert answer.status == 405
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_it_answers_to_its_own_names(shuffler):
    answer = shuffler.get("/healthz", Host="elsewhere.example")
    assert (answer.status, answer.json()["code"]) == (400, "bad_request")
