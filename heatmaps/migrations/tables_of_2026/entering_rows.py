"""Rows that stay for good enter as the product writes them: PostgreSQL itself refuses others.

A row that is never deleted, and that no event fits or that no process can read, would end what its dataset is
for. Whoever acts as the owner of the tables may do all of it: the owner could switch a trigger off, too. On
SQLite whoever writes the file could: nothing is checked there.
"""

from typing import Final

_FUNCTION: Final = """CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
            AND ({refused}) THEN
        RAISE EXCEPTION '{words}' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$"""

# Moments that Python can hold, and fractions that `heatmaps.models.fraction_field` reads.
_IS_NO_MOMENT: Final = "({}) NOT BETWEEN '1970-01-01Z'::timestamptz AND now() + interval '100 years'"
_IS_NO_FRACTION: Final = """NOT CASE WHEN {0} COLLATE "C" ~ '^(0|[1-9][0-9]*)/[1-9][0-9]*$'
    THEN gcd(split_part({0}, '/', 1)::numeric, split_part({0}, '/', 2)::numeric) = 1 ELSE false END"""
_MOMENTS: Final = ("requested_at", "expires_at", "starts_at", "visible_at", "finished_at", "public_since")


def _are_no_moments(*columns: str) -> str:
    listed = ", ".join(f"NEW.{column}" for column in columns)
    return " OR ".join(_IS_NO_MOMENT.format(f"{end}({listed})") for end in ("least", "greatest"))


# By trigger: when, on which table, what is refused, and in which words.
_RULES: Final = {
    "release_enters": (
        "BEFORE INSERT",
        "heatmaps_release",
        " OR ".join(
            [
                "NEW.state <> 'reserved'",
                _are_no_moments(*_MOMENTS),
                *(_IS_NO_FRACTION.format(f"NEW.{column}") for column in ("epsilon", "delta")),
            ]
        ),
        "a release begins reserved, and is written as releases are",
    ),
    # Whoever sees no draw cancels, and tells no outcome: as of events.
    "release_moves": (
        "BEFORE UPDATE",
        "heatmaps_release",
        f"""NEW.state NOT IN (OLD.state, 'cancelled')
            AND NOT has_any_column_privilege('public.heatmaps_drawing', 'SELECT')
            OR {_are_no_moments(*_MOMENTS)}""",
        "this role moves no release so",
    ),
    "opt_out_enters": (
        "BEFORE INSERT",
        "heatmaps_suppression",
        """NEW.since <> 1 + (
                SELECT coalesce(max(number), 0) FROM heatmaps_dataversion WHERE dataset_id = NEW.dataset_id)
            OR NEW.withdraws_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM heatmaps_suppression withdrawn
                WHERE withdrawn.id = NEW.withdraws_id AND withdrawn.dataset_id = NEW.dataset_id
                AND withdrawn.person = NEW.person AND withdrawn.person_rest = NEW.person_rest)""",
        "an opt-out is of one dataset and person, from its next version on",
    ),
    "upload_enters": (
        "BEFORE INSERT",
        "heatmaps_upload",
        f"NEW.version_id IS NOT NULL OR {_are_no_moments('created_at', 'finished_at', 'lease_until')}",
        "an upload begins without a version, and is written as uploads are",
    ),
    # As `heatmaps.ledger.administrator_reads` hashes them.
    "administrator_read_follows": (
        "BEFORE INSERT",
        "heatmaps_administratorread",
        """NEW.page COLLATE "C" !~ '^[a-zA-Z0-9:_.-]+$'
            OR NEW.at_seconds NOT BETWEEN 0 AND extract(epoch FROM now())::bigint + 366 * 86400
            OR NEW.sequence <> 1 + coalesce((
                SELECT max(sequence) FROM heatmaps_administratorread WHERE dataset_id = NEW.dataset_id), 0)
            OR NEW.previous_hash <> coalesce((
                SELECT hash FROM heatmaps_administratorread
                WHERE dataset_id = NEW.dataset_id ORDER BY sequence DESC LIMIT 1),
                encode(sha256(convert_to(
                    '{"administrator_reads_of":' || NEW.dataset_id::text || '}', 'UTF8')), 'hex'))
            OR NEW.hash <> encode(sha256(convert_to(
                '{"at_seconds":' || NEW.at_seconds::text || ',"dataset":' || NEW.dataset_id::text
                || ',"page":"' || NEW.page || '","previous_hash":"' || NEW.previous_hash
                || '","reader":' || NEW.reader_id::text || ',"sequence":' || NEW.sequence::text || '}',
                'UTF8')), 'hex')""",
        "the read does not follow from the ones before it",
    ),
}


def creating(vendor: str) -> list[str]:
    """Statements, for a database without them."""
    if vendor != "postgresql":
        return []
    statements = []
    for name, (when, table, refused, words) in _RULES.items():
        function = f"heatmaps_{name}"
        statements += [
            _FUNCTION.replace("{name}", function).replace("{refused}", refused).replace("{words}", words),
            f"CREATE TRIGGER {name} {when} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()",
        ]
    return statements


def dropping(vendor: str) -> list[str]:
    """Statements, for a database that has all of them."""
    if vendor != "postgresql":
        return []
    return [
        statement
        for name, (_, table, _, _) in _RULES.items()
        for statement in (
            f"DROP TRIGGER IF EXISTS {name} ON {table}",
            f"DROP FUNCTION IF EXISTS heatmaps_{name}()",
        )
    ]
