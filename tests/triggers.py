"""Rows that triggers hold, changed as by whoever may disable them."""

from contextlib import contextmanager

from django.db import connection

from heatmaps.migrations.tables_of_2026.held_rows import EXTENTS, HELD


@contextmanager
def disabled(tables=(*HELD, EXTENTS)):
    """No row of these tables is held until the block ends."""
    _run(statement for table in tables for statement in table.dropping(connection.vendor))
    try:
        yield
    finally:
        _run(statement for table in tables for statement in table.creating(connection.vendor))


def _run(statements):
    # PostgreSQL alters no table of which a constraint is still to be checked.
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
