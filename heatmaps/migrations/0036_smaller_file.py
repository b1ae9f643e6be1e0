"""SQLite gives back to the file system what the earlier table of check-ins took."""

from django.db import OperationalError, migrations

WORTH_IT = 4  # one page in so many is free


def vacuum(_apps, schema_editor):
    """Takes as much space again for a while; where there is none, the file keeps its size, to be filled."""
    connection = schema_editor.connection
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        free, pages = (
            cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count")
        )
        if free * WORTH_IT < pages:
            return
        try:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except OperationalError as error:
            words = f"the file keeps its size for now ({error}); VACUUM makes it smaller later"
            print(f"\n    {words}", end="")  # noqa: T201 - to who migrates, as Django does


class Migration(migrations.Migration):
    atomic = False  # VACUUM begins a transaction of its own
    dependencies = [("heatmaps", "0035_check_ins_of_extents")]

    operations = [migrations.RunPython(vacuum, migrations.RunPython.noop)]
