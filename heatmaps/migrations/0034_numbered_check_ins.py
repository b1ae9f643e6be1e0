"""Check-ins move to the table where they bear a number, block by block; who is stopped goes on from there."""

from django.db import migrations

from heatmaps.migrations.tables_of_2026 import moved_check_ins


class Migration(migrations.Migration):
    atomic = False  # a transaction a block: nothing is locked for long, and what has moved stays moved
    dependencies = [("heatmaps", "0033_extents")]

    operations = [migrations.RunPython(moved_check_ins.forwards, migrations.RunPython.noop)]
