"""Events are never changed and never deleted, whoever asks: the database itself refuses.

A migration that rebuilds the table on SQLite drops its triggers and has to create them again;
tests/ledger/test_triggers.py fails when it forgets to.
"""

from django.db import migrations

CREATE = {
    "sqlite": [
        """CREATE TRIGGER event_refuses_update BEFORE UPDATE ON heatmaps_event
            BEGIN SELECT RAISE(ABORT, 'ledger events are never changed or deleted'); END""",
        """CREATE TRIGGER event_refuses_delete BEFORE DELETE ON heatmaps_event
            BEGIN SELECT RAISE(ABORT, 'ledger events are never changed or deleted'); END""",
        # INSERT OR REPLACE deletes without firing the trigger above.
        """CREATE TRIGGER event_refuses_replace BEFORE INSERT ON heatmaps_event
            WHEN EXISTS (SELECT 1 FROM heatmaps_event WHERE id = NEW.id
                         OR (dataset_id = NEW.dataset_id AND sequence = NEW.sequence))
            BEGIN SELECT RAISE(ABORT, 'ledger events are never changed or deleted'); END""",
    ],
    "postgresql": [
        """CREATE FUNCTION heatmaps_event_refuses() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN
                RAISE EXCEPTION 'ledger events are never changed or deleted'
                USING ERRCODE = 'integrity_constraint_violation';
            END $$""",
        """CREATE TRIGGER event_refuses_change BEFORE UPDATE OR DELETE ON heatmaps_event
            FOR EACH ROW EXECUTE FUNCTION heatmaps_event_refuses()""",
        """CREATE TRIGGER event_refuses_truncate BEFORE TRUNCATE ON heatmaps_event
            FOR EACH STATEMENT EXECUTE FUNCTION heatmaps_event_refuses()""",
    ],
}
DROP = {
    "sqlite": [
        "DROP TRIGGER IF EXISTS event_refuses_update",
        "DROP TRIGGER IF EXISTS event_refuses_delete",
        "DROP TRIGGER IF EXISTS event_refuses_replace",
    ],
    "postgresql": [
        "DROP TRIGGER IF EXISTS event_refuses_change ON heatmaps_event",
        "DROP TRIGGER IF EXISTS event_refuses_truncate ON heatmaps_event",
        "DROP FUNCTION IF EXISTS heatmaps_event_refuses()",
    ],
}


def create(_apps, schema_editor):
    _run(schema_editor, CREATE)


def drop(_apps, schema_editor):
    _run(schema_editor, DROP)


def _run(schema_editor, statements):
    for statement in statements[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0001_tables")]

    operations = [migrations.RunPython(create, drop, atomic=True)]
