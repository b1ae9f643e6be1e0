"""Promises in metres over the API: what distances are between, and regions that are too wide for them."""

import pytest

from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from tests.metres import AS_READ, CANADA, TOO_WIDE, wide_dataset
from tests.services import seed
from tests.services.draws import carry_out

POINT = {"mechanism": "emd-linear", "epsilon": "0.5"}
METRIC = ["exponential", "emd-linear", "geo-local", "sgdl-shuffle", "geo-shuffle", "rr-shuffle"]


@pytest.fixture
def panel(make_dataset):
    limits = {"record": "9", "radius": "9", "delta": "0.001"}
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits=limits)
    seed.add_checkins(made)
    return made


@pytest.fixture(params=[CANADA, Region(-100, 0, 80, 1)], ids=["stretched", "wide"])
def wide(request, make_dataset):
    return wide_dataset(make_dataset, request.param)


def send(api, name, *path, body=None):
    return api("analyst").send("GET" if body is None else "POST", name, *path, body=body)


def test_quotes_and_releases_say_what_distances_are_between(api, panel):
    quote = send(api, "quotes", panel.slug, body=POINT).json()
    assert AS_READ in quote["distance"]
    assert any(AS_READ in line for line in quote["statements"])
    made = send(api, "releases", panel.slug, body=POINT).json()
    carry_out(made["id"])
    found = send(api, "release", made["id"]).json()
    assert found["distance"] == quote["distance"]
    sheet = b"".join(send(api, "point", made["id"], "json").streaming_content).decode()
    assert sheet.count(AS_READ) == 2  # by itself, and among the statements


def test_with_a_delta_every_version_counts_read_or_not(api, panel):
    body = {"mechanism": "emd-itemwise", "epsilon": "1", "resolution": 16}
    assert "all that the dataset ever has" in send(api, "quotes", panel.slug, body=body).json()["distance"]


def test_nothing_is_said_of_metres_where_none_are_promised(api, dataset):
    body = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16}
    quote = send(api, "quotes", dataset.slug, body=body).json()
    assert quote["distance"] == ""
    assert "istance" not in " ".join(quote["statements"])


def test_the_catalogue_says_it_of_every_metric_mechanism(api):
    listed = {one["name"]: one for one in send(api, "mechanisms").json()["results"]}
    said = {name for name, one in listed.items() if AS_READ in one["distance"]}
    assert said == {*METRIC, "emd-zones", "emd-distances", "emd-itemwise"}
    assert all(one["distance"] == "" for name, one in listed.items() if name not in said)


@pytest.mark.parametrize("name", ["quotes", "releases"])
def test_regions_too_wide_for_metres_are_refused_before_anything_is_spent(api, wide, name):
    for mechanism in (*METRIC, "emd-itemwise"):
        body = {"mechanism": mechanism, "epsilon": "0.5"}
        body |= {"resolution": 16} if mechanism == "emd-itemwise" else {}
        answer = send(api, name, wide.slug, body=body)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (422, "invalid_parameter")
        assert problem["detail"].startswith("region: -1")
        assert TOO_WIDE in problem["detail"]


def test_flat_mechanisms_take_such_regions(api, wide):
    body = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16}
    assert send(api, "quotes", wide.slug, body=body).status_code == 200


def test_files_of_such_regions_are_not_blurred(api, wide):
    query = "?mechanism=planar-geometric&epsilon=1&radius_m=20000&max_reports=2"
    answer = api("steward").send(
        "POST", "blurred", wide.slug, body=b"user,lat,lon\na,0.5,0.5\n", query=query, content_type="text/csv"
    )
    assert answer.status_code == 422
    assert "choose a smaller region" in str(answer.json())
