"""Everything that the client asks and reads is in the API's document, and as the document says."""

import importlib
import json
import pkgutil
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from types import NoneType

import hazemap_client
import pytest
from hazemap_client import calls
from hazemap_client.calls import Call
from hazemap_client.components import Awaited, Component, Resource
from hazemap_client.datasets import NewDataset
from hazemap_client.questions import DataSlice, NamedQuestion, QuotedQuestion
from hazemap_client.releases import ReleaseLinks
from hazemap_client.uploads import Reading

from api.views import docs
from heatmaps.result_kinds import RESULT_KINDS

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.iter_modules(hazemap_client.__path__, "hazemap_client.")
]
CALLS = [
    *(one for one in vars(calls).values() if isinstance(one, Call)),
    *calls.FILES.values(),
]
READ = sorted(
    {
        one
        for module in MODULES
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Component) and one not in {Component, Resource, Awaited}
    },
    key=lambda one: one.__name__,
)
JSON_KINDS = {
    str: "string", int: "integer", float: "number", bool: "boolean", datetime: "string",
    Decimal: "string", Fraction: "string", Mapping: "object", tuple: "array", NoneType: "null",
}  # fmt: skip


@pytest.fixture(scope="module")
def document():
    return json.loads(docs.document())


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
def test_every_call_is_an_operation(document, call):
    operation = document["paths"][call.path][call.method.lower()]
    told = {one["name"]: one for one in operation.get("parameters", []) if one["in"] in {"query", "header"}}
    sent = {*call.query, *call.headers}
    assert sent <= set(told)
    assert {name for name, one in told.items() if one.get("required")} <= sent
    assert call.answer in components_of(document, operation)


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_every_field_that_is_read_is_answered(document, kind):
    component = document["components"]["schemas"][f"{kind.__name__}Out"]
    hints = typing.get_type_hints(kind)
    for one in fields(kind):
        if one.repr:  # local ones are not shown
            told = component["properties"][one.name]
            assert kinds_of_hint(hints[one.name]) >= kinds_of_schema(document, told), one.name
            # What is not always there has a default here; what always is has none.
            assert (one.default is MISSING) == (one.name in component["required"]), one.name
        else:
            assert one.name not in component["properties"]


def test_every_answer_is_read():
    assert {call.answer for call in CALLS} - {""} <= {f"{kind.__name__}Out" for kind in READ}


def test_every_kind_of_result_is_known():
    stems = {kind.stem for kind in RESULT_KINDS.values()}
    assert set(calls.FILES) == {one.name for one in fields(ReleaseLinks)} == stems


def test_what_is_sent_has_the_names_of_the_document(document):
    schemas = document["components"]["schemas"]
    named = set(schemas["NamedQuestionInRequest"]["properties"])
    quoted = set(schemas["QuotedQuestionInRequest"]["properties"])
    assert set(NamedQuestion.__annotations__) == named
    assert set(QuotedQuestion.__annotations__) == quoted
    assert set(DataSlice.__annotations__) == set(schemas["DataSliceInRequest"]["properties"])
    assert {"name", *Reading.__annotations__} == set(calls.SEND_FILE.query)
    assert {"slug", "collection", *NewDataset.__annotations__} == set(
        schemas["DatasetInRequest"]["properties"]
    )


def components_of(document, operation):
    """Names of what it answers with: a component, the rows of a page of it, one of several; "" for files."""
    found = set()
    for status, answer in operation["responses"].items():
        for content in answer.get("content", {}).values() if status[0] == "2" else ():
            found |= names_in(document, content["schema"])
    return found


def names_in(document, schema):
    if "$ref" not in schema:
        return {name for one in schema.get("anyOf", []) for name in names_in(document, one)} or {""}
    name = schema["$ref"].rpartition("/")[2]
    inner = document["components"]["schemas"][name]
    rows = inner.get("properties", {}).get("results", {}).get("items")
    several = inner.get("anyOf") or inner.get("oneOf") or ([rows] if rows else [])
    return {name, *(found for one in several for found in names_in(document, one))}


def kinds_of_hint(hint):
    """JSON kinds that the client takes; of a dataclass, object."""
    origin = typing.get_origin(hint) or hint
    if origin in JSON_KINDS:
        return {JSON_KINDS[origin]}
    if is_dataclass(origin):
        return {"object"}
    return {kind for choice in typing.get_args(hint) for kind in kinds_of_hint(choice)}


def kinds_of_schema(document, schema):
    """JSON kinds that the document allows."""
    if "$ref" in schema:
        return kinds_of_schema(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    several = [one for name in ("oneOf", "anyOf", "allOf") for one in schema.get(name, [])]
    kinds = schema.get("type", [])
    plain = {kinds} if isinstance(kinds, str) else set(kinds)
    return plain | {kind for one in several for kind in kinds_of_schema(document, one)}
