"""What an event's hash covers, and what its facts may be."""

import pytest

from heatmaps.ledger.events import canonical, event_hash, genesis
from heatmaps.models import Event

FIELDS = {
    "dataset_id": 2,
    "sequence": 8,
    "at_microseconds": 1,
    "actor_id": 3,
    "kind": "fail",
    "release": "11111111-1111-1111-1111-111111111111",
    "before": '{"a":1}',
    "after": "{}",
    "previous_hash": "b" * 64,
    "salt": "c" * 32,
}


def event(**changes):
    plain = {"dataset_id": 1, "sequence": 7, "at_microseconds": 0, "actor_id": None, "kind": "spend"}
    plain |= {"release": None, "before": "{}", "after": '{"a":1}', "previous_hash": "a" * 64}
    return Event(**(plain | changes))


@pytest.mark.parametrize("field", FIELDS)
def test_it_hashes_every_field(field):
    assert event_hash(event(**{field: FIELDS[field]})) != event_hash(event())


def test_it_hashes_every_field_that_there_is():
    columns = {column.attname for column in Event._meta.concrete_fields}
    assert columns == {*FIELDS, "id", "hash"}


def test_it_has_a_hash_that_anybody_can_recompute():
    # sha256 of the canonical JSON, written out by hand; events from before there were salts have none.
    assert event_hash(event()) == "1ab7b1db6e9b02bdcc539015c391e2103b6d2034d9f409cfec3bcefef2d50701"


def test_it_begins_each_chain_with_another_hash():
    assert genesis(1) != genesis(2)


def test_it_has_one_text_for_equal_facts():
    assert canonical({"b": 1, "a": {"ε": "ü", "c": -2}}) == '{"a":{"c":-2,"\\u03b5":"\\u00fc"},"b":1}'
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


@pytest.mark.parametrize("fact", [1.0, None, True, [1], {"a": 0.5}, {1: "a"}, b"a"])
def test_it_refuses_facts_with_more_than_one_spelling(fact):
    with pytest.raises(TypeError):
        canonical({"fact": fact})
