"""Every kind of result of the catalogue is known in every room."""

import inspect
from dataclasses import fields
from typing import get_args

import pytest
from django.template.loader import get_template
from django.utils.module_loading import import_string

from heatmaps.releases.readings import READINGS
from heatmaps.result_kinds import RESULT_KINDS
from mechanisms.catalogue.entries import Kind, Reads
from mechanisms.catalogue.registry import entries

EVERY_KIND = pytest.mark.parametrize("kind", RESULT_KINDS.values(), ids=list(RESULT_KINDS))
# Fields that name a function by its dotted name, and how many values it takes.
FUNCTIONS = {"sketch": 2, "map_parts": 2, "table": 2, "sheet_part": 2, "sheet_facts": 1, "error_words": 2}
OF_SOME = {"heat": 2}


def test_the_table_has_every_kind_and_every_way_to_read():
    assert set(RESULT_KINDS) == set(get_args(Kind)) == {entry.kind for entry in entries()}
    assert set(READINGS) == set(get_args(Reads)) == {entry.reads for entry in entries()}


@EVERY_KIND
def test_what_a_kind_names_is_there(kind):
    dotted = {one.name for one in fields(kind) if str(getattr(kind, one.name)).startswith("heatmaps.")}
    known = FUNCTIONS | (OF_SOME if kind.heat else {})
    assert dotted == set(known)
    for name, values in known.items():
        assert len(inspect.signature(import_string(getattr(kind, name))).parameters) == values
    for known in kind.formats.values():
        assert len(inspect.signature(import_string(known.writer)).parameters) == 2
    assert get_template(kind.table_template)


@pytest.mark.parametrize("name", ["stem", "digest", "word", "published", "result"])
def test_no_two_kinds_are_taken_for_each_other(name):
    assert len({getattr(kind, name) for kind in RESULT_KINDS.values()}) == len(RESULT_KINDS)
