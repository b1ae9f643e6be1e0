"""Reservations exist once, in Python: the functions that did the same in PostgreSQL go."""

from django.db import migrations

FUNCTIONS = ["heatmaps_reserve(jsonb)", "heatmaps_queue(bigint)"]


def drop(_apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for function in FUNCTIONS:
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {function}")


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0005_administrator_reads")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
