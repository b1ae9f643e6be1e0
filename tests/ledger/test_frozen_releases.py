"""The database itself refuses to change what was reserved, whoever asks."""

from itertools import product

import pytest
from django.db import DatabaseError, connection, transaction

from heatmaps.ledger import transitions
from heatmaps.migrations.tables_of_2026.frozen_releases import MOVES, QUESTION
from heatmaps.models import Charge, Release, ReleaseState, Result
from tests.services.draws import publish

# Columns that may change, and when.
EDITED = {"name", "note", "is_name_public", "public_since"}
MOVED = {"state", "finished_at", "starts_at", "visible_at", "late", "expires_at"}
COLUMNS = {field.column: field for field in Release._meta.concrete_fields}


@pytest.fixture
def release(dataset, reserve):
    return reserve(dataset)


@pytest.fixture
def published(release):
    transitions.spend(release.pk)
    publish(release.pk)
    return Release.objects.get(pk=release.pk)


def refused(act):
    """Whether the database refuses an act, and nothing else of the transaction is lost."""
    try:
        with transaction.atomic():
            act()
    except DatabaseError as error:
        if "never" not in str(error):
            raise
        return True
    return False


def execute(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_every_column_may_change_or_may_not():
    assert set(COLUMNS) == set(QUESTION) | EDITED | MOVED
    assert not set(QUESTION) & (EDITED | MOVED)


@pytest.mark.parametrize("column", QUESTION)
def test_what_was_reserved_is_never_changed(release, column):
    # Another value or none: refused before the column's own rules are looked at.
    other = "NULL" if getattr(release, COLUMNS[column].attname) is not None else _value(column)
    assert refused(lambda: execute(f"UPDATE heatmaps_release SET {column} = {other}"))


def _value(column):
    kind = COLUMNS[column].get_internal_type()
    if kind == "UUIDField" or column == "guide_release_id":
        return "'" + "0" * 32 + "'"
    if kind == "JSONField":
        return "'[1]'"
    return "'" + "0" * 32 + "'" if column == "guide_file_id" else "1"


def test_a_release_never_goes_back(release):
    states = [str(state) for state in ReleaseState]
    ways = {(before, after): _is_way(release, before, after) for before, after in product(states, states)}
    assert {way for way, may in ways.items() if may} == {*MOVES, *((state, state) for state in states)}


def _is_way(release, before, after):
    """Tries a way from a state, which it is brought to on legal ones."""
    with transaction.atomic():
        rows = Release.objects.filter(pk=release.pk)
        for step in {"spent": ["spent"], "published": ["spent", "published"]}.get(before, [before]):
            rows.update(state=step)
        went = not refused(lambda: rows.update(state=after))
        transaction.set_rollback(True)
    return went


def test_moments_move_while_it_is_queued_alone(release, published):
    rows = Release.objects.filter(pk=published.pk)
    for column in ("starts_at", "visible_at", "expires_at", "finished_at"):
        assert refused(lambda column=column: rows.update(**{column: published.requested_at})), column
    for late in (published.late + 1, published.late - 1):
        assert refused(lambda late=late: rows.update(late=late))


def test_what_people_edit_stays_editable(published):
    rows = Release.objects.filter(pk=published.pk)
    rows.update(name="Saturdays", note="of spring", is_name_public=True, public_since=published.finished_at)
    rows.update(public_since=None)
    assert rows.get().name == "Saturdays"


@pytest.mark.parametrize("model", [Release, Charge, Result])
def test_nothing_of_it_is_deleted_or_replaced(published, model):
    table, before = model._meta.db_table, list(model.objects.values())
    assert refused(lambda: execute(f"DELETE FROM {table}"))
    if connection.vendor == "sqlite":
        assert refused(lambda: execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"))
    else:
        connection.check_constraints()
        assert refused(lambda: execute(f"TRUNCATE {table} CASCADE"))
    assert list(model.objects.values()) == before


@pytest.mark.parametrize(
    "change", ["UPDATE heatmaps_charge SET amount = 0", "UPDATE heatmaps_result SET sha256 = ''"]
)
def test_charges_and_results_are_never_changed(published, change):
    assert refused(lambda: execute(change))
