"""The OpenAPI document is made once, whoever asks for it and how often."""

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS, reset_generator_stats
from drf_spectacular.generators import SchemaGenerator

pytestmark = pytest.mark.django_db  # whether the server is on hold is asked before any answer

# Of what is answered: fields that depend on the kind of result, of refusal or of schedule, and on the state.
SOMETIMES = {
    "ErrorBoundOut": {"emd", "emd_low", "emd_median", "expected_m", "share", "within_m"},
    "ProblemOut": {"account", "available", "errors", "largest_epsilon", "requested", "reserved"},
    "ReleaseLinksOut": {
        *("cancel", "dataset", "districts", "og_image", "sheet", "thumbnail"),
        *("distances", "heatmap", "point", "zones"),
    },
    "ScheduleIn": {"day", "weekday"},
}


def test_it_makes_the_document_once(monkeypatch):
    first = Client().get("/api/schema/")
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)  # whoever makes another fails
    others = {Client().get(f"/api/schema/?version={number}").content for number in range(20)}

    assert others == {first.content}


def test_it_gives_the_document_that_the_code_describes():
    answer = Client().get("/api/schema/")

    assert answer.json() == SchemaGenerator().get_schema(request=None, public=True)
    assert answer["Content-Type"] == "application/vnd.oai.openapi+json"


def test_every_operation_has_a_short_summary_of_its_own():
    operations = [
        operation
        for path in Client().get("/api/schema/").json()["paths"].values()
        for operation in path.values()
    ]
    summaries = [operation["summary"] for operation in operations]

    assert len(operations) > 50
    assert len(set(summaries)) == len(summaries)
    assert [
        one for one in summaries if not 5 < len(one) <= 60 or not one[0].isupper() or one[-1] == "."
    ] == []
    assert all(operation.get("description", " ")[0] != "." for operation in operations)


def test_a_body_that_must_change_something_is_needed_and_not_empty():
    document = Client().get("/api/schema/").json()
    change = document["paths"]["/api/v1/releases/{release_id}/"]["patch"]["requestBody"]

    assert change["required"] is True
    assert document["components"]["schemas"]["ReleaseInRequest"]["minProperties"] == 1
    assert "required" not in document["paths"]["/api/v1/releases/{release_id}/name/"]["patch"]["requestBody"]


def test_no_two_components_share_a_name():
    reset_generator_stats()
    document = SchemaGenerator().get_schema(request=None, public=True)

    assert not GENERATOR_STATS  # the generator warns of what it cannot name
    assert set(document["components"]["schemas"]["RoundChargeOut"]["properties"]) == {"account", "amount"}


def test_every_field_that_is_always_answered_is_required():
    schemas = Client().get("/api/schema/").json()["components"]["schemas"]
    missing = {
        name: set(schema["properties"]) - set(schema.get("required", []))
        for name, schema in schemas.items()
        if "properties" in schema and not name.endswith("Request")
    }

    assert {name: fields for name, fields in missing.items() if fields} == SOMETIMES
