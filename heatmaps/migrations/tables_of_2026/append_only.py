"""Rows of a table that are never changed and never deleted: the database itself refuses.

A migration that rebuilds such a table on SQLite drops its triggers and has to create them again;
tests/ledger/test_triggers.py and tests/people/test_administrator_reads.py fail when it forgets to.
"""

from dataclasses import dataclass

from django.db import migrations

_TRIGGERS = {
    "sqlite": {
        "{name}_refuses_update": "BEFORE UPDATE ON {table}",
        "{name}_refuses_delete": "BEFORE DELETE ON {table}",
        # INSERT OR REPLACE deletes without firing the trigger above.
        "{name}_refuses_replace": """BEFORE INSERT ON {table}
            WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key}
                         OR ({unique[0]} = NEW.{unique[0]} AND {unique[1]} = NEW.{unique[1]}))""",
    },
    "postgresql": {
        "{name}_refuses_change": "BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW",
        "{name}_refuses_truncate": "BEFORE TRUNCATE ON {table} FOR EACH STATEMENT",
    },
}
_REFUSAL = {
    "sqlite": "BEGIN SELECT RAISE(ABORT, '{rows} are never changed or deleted'); END",
    "postgresql": "EXECUTE FUNCTION heatmaps_event_refuses()",
}
_DROP_TRIGGER = {
    "sqlite": "DROP TRIGGER IF EXISTS {0}",
    "postgresql": "DROP TRIGGER IF EXISTS {0} ON {{table}}",
}
# One for all tables: what it says names events, and the error the table.
CREATE_FUNCTION = """CREATE FUNCTION heatmaps_event_refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'ledger events are never changed or deleted'
    USING ERRCODE = 'integrity_constraint_violation';
END $$"""
DROP_FUNCTION = "DROP FUNCTION IF EXISTS heatmaps_event_refuses()"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendOnly:
    """A table and its triggers; `rows`: what people call them; `unique`: columns that are so together."""

    table: str
    name: str
    rows: str
    unique: tuple[str, str] = ("dataset_id", "sequence")
    key: str = "id"

    def creating(self, vendor):
        """Statements, for a table without the triggers."""
        words = {"table": self.table, "name": self.name, "rows": self.rows}
        words |= {"unique": self.unique, "key": self.key}
        return [
            f"CREATE TRIGGER {name} {event} {_REFUSAL[vendor]}".format_map(words)
            for name, event in _TRIGGERS[vendor].items()
        ]

    def dropping(self, vendor):
        """Statements, for a table that may lack some of them."""
        words = {"table": self.table, "name": self.name}
        return [_DROP_TRIGGER[vendor].format(name).format_map(words) for name in _TRIGGERS[vendor]]


EVENTS = AppendOnly(table="heatmaps_event", name="event", rows="ledger events")
READS = AppendOnly(
    table="heatmaps_administratorread", name="administrator_read", rows="reads by administrators"
)
ELECTIONS = AppendOnly(
    table="heatmaps_election", name="election", rows="elections of draws", unique=("release_id", "attempt")
)


def creating_function(vendor):
    return [CREATE_FUNCTION] * (vendor == "postgresql")


def dropping_function(vendor):
    return [DROP_FUNCTION] * (vendor == "postgresql")


def refuse_changes(*, forwards, backwards):
    """The operation that runs the statements of both functions of the database's vendor."""

    def run(statements):
        def on(_apps, schema_editor):
            for statement in statements(schema_editor.connection.vendor):
                schema_editor.execute(statement, params=None)

        return on

    return migrations.RunPython(run(forwards), run(backwards), atomic=True)
