"""Rows that decide what a data version holds: the database refuses what would change that.

As in `append_only`: a migration that rebuilds such a table on SQLite drops its triggers and has to create
them again; tests/releases/test_bound_versions.py fails when it forgets to.
"""

from dataclasses import dataclass

from heatmaps.migrations.tables_of_2026.append_only import AppendOnly

CREATE_FUNCTION = """CREATE FUNCTION heatmaps_held_row_refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'what a data version holds is never changed'
    USING ERRCODE = 'integrity_constraint_violation';
END $$"""
DROP_FUNCTION = "DROP FUNCTION IF EXISTS heatmaps_held_row_refuses()"
_REFUSAL = {
    "sqlite": "BEGIN SELECT RAISE(ABORT, 'what a data version holds is never changed'); END",
    "postgresql": "EXECUTE FUNCTION heatmaps_held_row_refuses()",
}
_EVENTS = {
    "update": "BEFORE UPDATE",
    "delete": "BEFORE DELETE",
    # INSERT OR REPLACE deletes without firing the trigger above.
    "replace": "BEFORE INSERT",
}


def changed(*columns):
    """The condition that any of the columns gets another value."""
    return " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A table, and which changes of a row are refused; none named: every change. `is_kept`: no row goes."""

    table: str
    refused: str = ""
    is_kept: bool = True

    def creating(self, vendor):
        """Statements, for a table without the triggers."""
        conditions = {"update": f"WHEN ({self.refused})" if self.refused else ""}
        if self.is_kept:
            conditions["delete"] = ""
        if self.is_kept and vendor == "sqlite":
            same = f"SELECT 1 FROM {self.table} WHERE id = NEW.id"  # noqa: S608 - constants
            conditions["replace"] = f"WHEN EXISTS ({same})"
        return [
            f"CREATE TRIGGER {self.table}_refuses_{name} {_EVENTS[name]} ON {self.table} FOR EACH ROW "
            f"{condition} {_REFUSAL[vendor]}"
            for name, condition in conditions.items()
        ]

    def dropping(self, vendor):
        """Statements, for a table that may lack some of them."""
        on = f" ON {self.table}" if vendor == "postgresql" else ""
        return [f"DROP TRIGGER IF EXISTS {self.table}_refuses_{name}{on}" for name in _EVENTS]


UPLOADS = Held(
    table="heatmaps_upload",
    refused=f"""
        {changed("id", "dataset_id", "batch", "advance", "options", "uploaded_by_id")}
        OR {changed("size_bytes", "content_digest", "created_at")}
        OR (OLD.version_id IS NOT NULL AND ({changed("version_id")}))
        OR (NEW.version_id IS NOT NULL AND NEW.state <> 'ready')
        OR NOT (
            NEW.state = OLD.state
            OR (OLD.state = 'received' AND NEW.state = 'staged')
            OR (OLD.state = 'staged' AND NEW.state IN ('received', 'ready', 'failed'))
            OR (OLD.state = 'ready' AND NEW.state = 'undone')
        )
        OR (
            ({changed("bytes_read", "rows_accepted", "rows_rejected", "rows_outside", "names_alike")})
            AND NOT (OLD.state IN ('received', 'staged') OR (OLD.state = 'ready' AND NEW.state = 'undone'))
        )
        OR NEW.rows_expired < OLD.rows_expired
        OR (OLD.kept_from IS NOT NULL AND (NEW.kept_from IS NULL OR NEW.kept_from < OLD.kept_from))
    """,
)
VERSIONS = Held(
    table="heatmaps_dataversion",
    refused=f"""
        {changed("id", "dataset_id", "number", "created_by_id", "due_at", "created_at", "kept_from", "salt")}
        OR (OLD.is_cleared AND NOT NEW.is_cleared)
    """,
)
STATES = Held(
    table="heatmaps_sourcestate",
    refused=f"""
        {changed("id", "dataset_id", "snapshot", "opt_outs_snapshot", "checkins", "opt_outs", "columns")}
        OR {changed("rows", "invalid", "created_at")}
        OR (OLD.version_id IS NOT NULL AND ({changed("version_id")}))
    """,
)
# Rows of an upload come and go as a whole, or block by block when they are too old.
CHECK_INS = Held(table="heatmaps_checkin", is_kept=False)
PACKED = Held(table="heatmaps_packedcheckins", is_kept=False)
# Its last key grows with each block; it goes with the last of its check-ins.
EXTENTS = Held(
    table="heatmaps_extent",
    refused=f"""{changed("id", "upload_id", "first")} OR NEW.last < OLD.last""",
    is_kept=False,
)
OPT_OUTS = AppendOnly(
    table="heatmaps_suppression", name="opt_out", rows="opt-outs", unique=("entry", "dataset_id")
)
# Of the migration that made them; extents came later.
HELD = (UPLOADS, VERSIONS, STATES, CHECK_INS, PACKED, OPT_OUTS)


def creating(vendor):
    statements = [statement for table in HELD for statement in table.creating(vendor)]
    return [CREATE_FUNCTION] * (vendor == "postgresql") + statements


def dropping(vendor):
    statements = [statement for table in HELD for statement in table.dropping(vendor)]
    return statements + [DROP_FUNCTION] * (vendor == "postgresql")
