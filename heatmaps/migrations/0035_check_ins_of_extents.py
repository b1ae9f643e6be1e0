"""The table of check-ins that bear a number takes the place of the one where each names its upload."""

from django.db import migrations

from heatmaps.migrations.tables_of_2026 import moved_check_ins
from heatmaps.migrations.tables_of_2026.append_only import refuse_changes
from heatmaps.migrations.tables_of_2026.held_rows import CHECK_INS, EXTENTS

NAMES = (
    "ALTER INDEX {}_pkey RENAME TO {}_pkey",
    "ALTER SEQUENCE {}_id_seq RENAME TO {}_id_seq",
)


def move_the_rest(apps, schema_editor):
    """Moves what came since, and everything again where rows went since: workers should not run, and may."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"LOCK TABLE {moved_check_ins.NAMED} IN EXCLUSIVE MODE")
    moved_check_ins.forwards(apps, schema_editor)
    if not moved_check_ins.is_whole(schema_editor):
        schema_editor.execute(f"DELETE FROM {moved_check_ins.NUMBERED}")  # noqa: S608 - a constant
        apps.get_model("heatmaps", "Extent").objects.all().delete()
        moved_check_ins.forwards(apps, schema_editor)


def rename(source, target):
    def run(_apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            for statement in NAMES:
                schema_editor.execute(statement.format(source, target))

    return run


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0034_numbered_check_ins")]

    operations = [
        # Back at once: whoever goes on from halfway would find the earlier table empty, and believe it.
        migrations.RunPython(move_the_rest, moved_check_ins.backwards),
        refuse_changes(forwards=CHECK_INS.dropping, backwards=CHECK_INS.creating),
        migrations.DeleteModel("CheckIn"),
        migrations.RenameModel("NumberedCheckIn", "CheckIn"),
        migrations.RunPython(
            rename(moved_check_ins.NUMBERED, moved_check_ins.NAMED),
            rename(moved_check_ins.NAMED, moved_check_ins.NUMBERED),
        ),
        refuse_changes(
            forwards=lambda vendor: [*CHECK_INS.creating(vendor), *EXTENTS.creating(vendor)],
            backwards=lambda vendor: [*EXTENTS.dropping(vendor), *CHECK_INS.dropping(vendor)],
        ),
    ]
