"""Datasets that read a table in their owner's lake, over HTTP: no Spark is asked here."""

import pytest

from heatmaps.ingest.versions import surveys
from heatmaps.models import Profile, SourceSurvey
from mechanisms.guarantee import Relation
from tests.sources.lake import TELLTALES, plant

NEW = {"slug": "trips", "title": "Trips", "bbox": [0, 0, 1, 1], "relation": "add_remove"} | {
    "limits": {"presence": "4"},
    "source": "trips",
}
MEMBERS = ("analyst", "auditor", "administrator")
QUESTION = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16}


@pytest.fixture
def steward(api):
    return api("steward")


def refusal(answer):
    told = answer.json()
    return answer.status_code, told["code"], [one["field"] for one in told.get("errors", [])]


def test_a_dataset_is_made_of_a_source(lake, steward):
    made = steward.send("POST", "datasets", body=NEW)
    assert (made.status_code, made.json()["source"]) == (201, "trips")
    assert steward.send("POST", "datasets", body=NEW | {"slug": "x", "source": None}).json()["source"] is None


def test_it_names_its_source_to_all_its_members(api, trips):
    for person in ("steward", *MEMBERS):
        assert api(person).send("GET", "dataset", "trips").json()["source"] == "trips"


def test_a_table_may_be_for_its_stewards_alone(lake, api):
    """Each dataset has limits of its own: who may make one of a table decides how much is told of it."""
    lake.sources_file.write_text(lake.sources_file.read_text() + '\nstewards = ["steward"]\n')
    for person, slugs in (("stranger", []), ("steward", ["trips"]), ("administrator", ["trips"])):
        client = api(person)
        assert [one["name"] for one in client.send("GET", "sources").json()["results"]] == slugs
        made = client.send("POST", "datasets", body=NEW | {"slug": f"of-{person}"})
        if slugs:
            assert made.status_code == 201
        else:
            assert refusal(made) == (422, "invalid_parameter", ["source"])


def test_an_unknown_source_is_refused_with_where_they_are_listed(lake, steward):
    answer = steward.send("POST", "datasets", body=NEW | {"source": "walks"})
    assert refusal(answer) == (422, "invalid_parameter", ["source"])
    assert "GET /api/v1/sources/" in answer.json()["detail"]
    assert "trips" not in answer.json()["detail"]  # it may be kept from this steward
    assert str(lake.root) not in answer.content.decode()


def test_who_may_not_make_datasets_learns_no_source(lake, api, people):
    Profile.objects.update_or_create(user=people["stranger"], defaults={"may_create_datasets": False})
    client = api("stranger")
    for answer in (
        client.send("GET", "sources"),
        client.send("POST", "datasets", body=NEW | {"source": "walks"}),
    ):
        assert answer.status_code == 403
        assert "trips" not in answer.content.decode()


def test_the_list_says_nothing_but_names_and_kinds(lake, steward):
    listed = steward.send("GET", "sources").json()["results"]
    assert listed == [{"name": "trips", "kind": "parquet", "has_times": True}]


def test_without_a_file_there_is_no_source(steward, settings):
    settings.SOURCES_FILE = None
    assert steward.send("GET", "sources").json()["count"] == 0


@pytest.mark.parametrize(("person", "is_told"), [("steward", False), ("administrator", True)])
def test_a_broken_file_is_told_without_its_paths(lake, api, person, is_told):
    lake.sources_file.write_text("not toml")
    for answer in (api(person).send("GET", "sources"), api(person).send("POST", "datasets", body=NEW)):
        assert refusal(answer) == (503, "sources_file", [])
        assert (str(lake.sources_file) in answer.json()["detail"]) == is_told


def test_a_version_is_asked_for_and_appears_later(trips, steward):
    answer = steward.send("POST", "versions", "trips", body={})
    assert answer.status_code == 202
    assert (answer.json()["state"], answer.json()["failure"]) == ("waiting", "")
    assert steward.send("GET", "versions", "trips").json()["survey"] == answer.json()
    again = steward.send("POST", "versions", "trips", body={})
    assert refusal(again) == (409, "survey_under_way", [])


def test_a_failed_look_says_what_to_change(trips, steward):
    steward.send("POST", "versions", "trips", body={})
    surveys.run(trips.pk)  # the folder has no files
    told = steward.send("GET", "versions", "trips").json()["survey"]
    assert (told["state"], told["appears_at"]) == ("failed", None)
    assert told["failure"]
    assert steward.send("POST", "versions", "trips", body={}).status_code == 202


def test_a_steward_sees_how_many_rows_are_left_out(trips, lake, steward):
    plant(trips, lake)
    [version] = steward.send("GET", "versions", "trips").json()["results"]
    assert version["rows"] == 7_654_321
    assert version["invalid"] == {"no_lon": 54_321, "no_lat": 65_432, "no_time": 43_210, "no_user": 32_109}


def test_versions_of_other_datasets_have_no_such_counts(dataset, steward):
    told = steward.send("GET", "versions", dataset.slug).json()
    assert told["survey"] is None
    assert (told["results"][0]["rows"], told["results"][0]["invalid"]) == (None, None)


@pytest.mark.parametrize("person", MEMBERS)
def test_nobody_else_sees_anything_of_the_lake(trips, lake, api, person):
    """Whatever is found in it, or fails: they are answered as if nothing was there."""
    client = api(person)

    def everything():
        names = ("dataset", "versions", "releases", "budget", "ledger", "uploads", "opt-outs", "guides")
        answers = [client.send("GET", name, "trips") for name in names]
        answers += [client.send("POST", name, "trips", body={}) for name in ("versions", "uploads")]
        answers += [client.send("GET", "datasets"), client.send("POST", "quotes", "trips", body=QUESTION)]
        return [answer.content.decode() for answer in answers]

    plant(trips, lake)
    before = everything()
    SourceSurvey.objects.update(state="failed", failure="an unmistakable failure")
    failed = everything()
    SourceSurvey.objects.all().delete()

    assert before == failed == everything()
    assert not TELLTALES.search(" ".join(before))


@pytest.mark.parametrize(("person", "status"), [*((name, 403) for name in MEMBERS), ("stranger", 404)])
def test_only_stewards_ask_for_a_version(trips, api, person, status):
    assert api(person).send("POST", "versions", "trips", body={}).status_code == status
    assert not SourceSurvey.objects.exists()


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("uploads", b"user,time,lat,lon\na,,0.5,0.5\n"),
        ("checkins", [{"user": "a", "lat": 0.5, "lon": 0.5}]),
        ("opt-outs", {"user": "u1"}),
        ("opt-out-take-back", {"user": "u1"}),
    ],
)
def test_what_belongs_into_the_lake_is_refused_with_where(trips, steward, name, body):
    options = {"content_type": "text/csv"} if isinstance(body, bytes) else {}
    answer = steward.send("POST", name, "trips", body=body, **options)
    assert refusal(answer) == (409, "reads_a_source", [])
    assert "table" in answer.json()["detail"]


def test_a_schedule_makes_versions_alone(trips, steward):
    body = {"schedule": {"every": "daily", "hour": 3}, "reason": "as announced"}
    assert steward.send("PATCH", "dataset", "trips", body=body).status_code == 200
    assert refusal(steward.send("POST", "versions", "trips", body={})) == (409, "scheduled", [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"mechanism": "emd-zones", "parameters": {}}, ("mechanism", "reads sums")),
        ({"resolution": 16_384}, ("resolution", "at most 8192")),
    ],
)
def test_what_cannot_be_asked_of_a_lake_is_refused_by_name(lake, make_dataset, api, changes, told):
    field, allowed = told
    make_dataset("fleet", Relation.REPLACE, source="trips")
    for name in ("quotes", "releases"):
        answer = api("analyst").send("POST", name, "fleet", body=QUESTION | changes)
        assert refusal(answer) == (422, "invalid_parameter", [field])
        assert allowed in answer.json()["detail"]


def test_mechanisms_of_a_dataset_are_those_that_can_be_asked(lake, make_dataset, panel, api):
    make_dataset("fleet", Relation.REPLACE, source="trips")
    client = api("analyst")

    def listed(query=""):
        rows = client.send("GET", "mechanisms", query=query).json()["results"]
        return {row["name"]: row["max_resolution"] for row in rows}

    everything, elsewhere, here = listed(), listed("?dataset=panel"), listed("?dataset=fleet")
    assert set(here) < set(elsewhere) <= set(everything)
    assert "emd-zones" in set(elsewhere) - set(here)
    assert max(here.values()) == 8192 < max(elsewhere.values())
    assert api("stranger").send("GET", "mechanisms", query="?dataset=fleet").status_code == 404


def test_changed_files_are_a_conflict_before_anything_is_spent(trips, lake, api):
    plant(trips, lake).unlink()
    answer = api("analyst").send("POST", "releases", "trips", body=QUESTION)
    assert refusal(answer) == (409, "source_changed", [])
    assert not trips.releases.exists()
    assert not TELLTALES.search(answer.content.decode())


def test_a_changed_source_is_told_to_who_asks_for_retention(trips, steward, lake):
    lake.time_zone = "Europe/Vienna"
    lake.write()
    body = {"retention_days": 30, "reason": "as announced"}
    answer = steward.send("PATCH", "dataset", "trips", body=body)
    assert refusal(answer) == (503, "sources_file", [])
    assert "changed since the dataset was made" in answer.json()["detail"]
