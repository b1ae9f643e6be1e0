"""Events enter a chain at its head alone: the database itself checks them and moves the head.

On PostgreSQL an event is refused unless its dataset has an open ledger, it follows from the head, its hash is
the SHA-256 of `heatmaps.ledger.events.canonical`, and its kind is one that whoever signed in may write. Which
moves and balances follow from which is checked by `verify-ledger`, not here. SQLite has no SHA-256 of its
own, and whoever may write its file may drop a trigger: there it checks the head alone.

Triggers of SQLite name the tables of ledgers and publications: a migration that rebuilds one of these there
drops the triggers before and creates them again.
"""

from typing import Final

# Acts of people: written by the roles that hold people's sessions, which are those that may add a member.
_ACTS: Final = (
    *("open", "reserve", "limit", "allowance", "schedule", "retention", "guide", "publication", "embedding"),
    *("member", "confirmed", "reset-link", "factor-removed"),
)
# Written at public moments by the roles that see whether something was drawn.
_DRAWS: Final = ("spend", "publish", "fail", "lose", "late", "postpone")
# Written by whoever may act as the owner of the tables.
_OWNERS: Final = ("close", "restored")

# A function that acts as the owner has a path of its own, and asks for which table it runs: whoever may make
# a table for a session may give that table a trigger.
_PINNED: Final = "SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp"
_REFUSED: Final = "USING ERRCODE = 'integrity_constraint_violation'"


def _filled(text: str) -> str:
    kinds = {"<owners>": _OWNERS, "<acts>": _ACTS, "<draws>": _DRAWS}
    words = {name: ", ".join(f"'{kind}'" for kind in listed) for name, listed in kinds.items()}
    for name, word in {**words, "<pinned>": _PINNED, "<refused>": _REFUSED}.items():
        text = text.replace(name, word)
    return text


# The spelling of Python's `json`: events hold printable ASCII alone, where two characters are escaped. No
# literal has a lone backslash: a session may change what that means.
_QUOTED: Final = r"""CREATE FUNCTION heatmaps_quoted(fact text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '"' || replace(replace(fact, E'\\', E'\\\\'), '"', E'\\"') || '"' $$"""
_HASH: Final = """CREATE FUNCTION heatmaps_event_hash(event heatmaps_event) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(
        '{"actor":' || coalesce(event.actor_id::text, '"system"')
        || ',"after":' || public.heatmaps_quoted(event.after)
        || ',"at_microseconds":' || event.at_microseconds::text
        || ',"before":' || public.heatmaps_quoted(event.before)
        || ',"dataset":' || event.dataset_id::text
        || ',"kind":' || public.heatmaps_quoted(event.kind)
        || ',"previous_hash":' || public.heatmaps_quoted(event.previous_hash)
        || ',"release":' || public.heatmaps_quoted(coalesce(event.release::text, ''))
        || CASE WHEN event.salt IS NULL THEN '' ELSE ',"salt":' || public.heatmaps_quoted(event.salt) END
        || ',"sequence":' || event.sequence::text || '}', 'UTF8')), 'hex') $$"""
_FOLLOWS: Final = """CREATE FUNCTION heatmaps_event_follows() RETURNS trigger LANGUAGE plpgsql <pinned> AS $$
DECLARE head public.heatmaps_ledger; latest bigint;
BEGIN
    IF TG_RELID <> 'public.heatmaps_event'::regclass THEN
        RAISE EXCEPTION 'only events of ledgers are checked here' <refused>;
    END IF;
    SELECT * INTO head FROM public.heatmaps_ledger WHERE dataset_id = NEW.dataset_id FOR UPDATE;
    IF NOT FOUND OR head.closed_sequence IS NOT NULL OR NEW.sequence <> head.last_sequence + 1
            OR NEW.previous_hash <> head.last_hash THEN
        RAISE EXCEPTION 'the event does not follow from the head of an open ledger' <refused>;
    END IF;
    -- What programs that read ledgers can show: at most a year ahead of this clock.
    latest := (extract(epoch FROM clock_timestamp())::bigint + 366 * 86400) * 1000000;
    IF NEW.kind COLLATE "C" !~ '^[a-z-]+$' OR NEW.before COLLATE "C" !~ '^[ -~]+$'
            OR NEW.after COLLATE "C" !~ '^[ -~]+$' OR coalesce(NEW.salt, '') COLLATE "C" !~ '^[0-9a-f]{32}$'
            OR NEW.at_microseconds NOT BETWEEN 0 AND latest THEN
        RAISE EXCEPTION 'the event is not written as events are' <refused>;
    END IF;
    IF json_typeof(NEW.before::json) <> 'object' OR json_typeof(NEW.after::json) <> 'object' THEN
        RAISE EXCEPTION 'the facts of the event cannot be read' <refused>;
    END IF;
    IF NEW.hash <> public.heatmaps_event_hash(NEW) THEN
        RAISE EXCEPTION 'the hash of the event is not that of its facts' <refused>;
    END IF;
    IF NEW.kind IN (<owners>) AND NOT pg_has_role(session_user, current_user, 'MEMBER')
            OR NEW.kind IN (<acts>)
                AND NOT has_table_privilege(session_user, 'public.heatmaps_membership', 'INSERT')
            OR NEW.kind IN (<draws>)
                AND NOT has_any_column_privilege(session_user, 'public.heatmaps_drawing', 'SELECT') THEN
        RAISE EXCEPTION 'this role writes no such events' <refused>;
    END IF;
    RETURN NEW;
END $$"""
# After the row is there: a statement may check a row and then not insert it (ON CONFLICT).
_ENTERED: Final = """CREATE FUNCTION heatmaps_event_entered() RETURNS trigger LANGUAGE plpgsql <pinned> AS $$
BEGIN
    IF TG_RELID <> 'public.heatmaps_event'::regclass THEN
        RAISE EXCEPTION 'only events of ledgers are checked here' <refused>;
    END IF;
    UPDATE public.heatmaps_ledger SET last_sequence = NEW.sequence, last_hash = NEW.hash,
        closed_sequence = CASE WHEN NEW.kind = 'close' THEN NEW.sequence END
        WHERE dataset_id = NEW.dataset_id AND last_sequence = NEW.sequence - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the event does not follow from the head of an open ledger' <refused>;
    END IF;
    IF NEW.kind = 'publication' THEN
        INSERT INTO public.heatmaps_publication (release_id, sequence, is_public)
            SELECT id, NEW.sequence, NEW.after::json ->> 'readable_by' = 'everybody'
            FROM public.heatmaps_release
            WHERE dataset_id = NEW.dataset_id AND id::text = NEW.after::json ->> 'shown_release'
            ON CONFLICT (release_id) DO UPDATE
            SET sequence = EXCLUDED.sequence, is_public = EXCLUDED.is_public;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the event shows no release of its dataset' <refused>;
        END IF;
    END IF;
    RETURN NULL;
END $$"""
_LEDGER: Final = """CREATE FUNCTION heatmaps_ledger_begins() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.dataset_id <> OLD.dataset_id THEN
            RAISE EXCEPTION 'a ledger stays with its dataset' <refused>;
        END IF;
    ELSIF NEW.last_sequence <> 0 OR NEW.closed_sequence IS NOT NULL OR NEW.last_hash <> encode(
            sha256(convert_to('{"dataset":' || NEW.dataset_id::text || '}', 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'a ledger begins without events' <refused>;
    END IF;
    RETURN NEW;
END $$"""

_FUNCTIONS: Final = {
    "heatmaps_quoted(text)": _QUOTED,
    "heatmaps_event_hash(heatmaps_event)": _HASH,
    "heatmaps_event_follows()": _filled(_FOLLOWS),
    "heatmaps_event_entered()": _filled(_ENTERED),
    "heatmaps_ledger_begins()": _filled(_LEDGER),
}
_AS_OWNER: Final = ("heatmaps_event_follows()", "heatmaps_event_entered()")
# What refuses an event, apart from what moves the head: tests of forged chains take the first away.
_CHECKS: Final = {
    "sqlite": {
        # Who replaces an event is refused by `append_only`, in its words.
        "event_follows": """BEFORE INSERT ON heatmaps_event
            WHEN NOT EXISTS (SELECT 1 FROM heatmaps_ledger WHERE dataset_id = NEW.dataset_id
                             AND closed_sequence IS NULL AND last_sequence + 1 = NEW.sequence
                             AND last_hash = NEW.previous_hash)
            AND NOT EXISTS (SELECT 1 FROM heatmaps_event WHERE id = NEW.id
                            OR (dataset_id = NEW.dataset_id AND sequence = NEW.sequence))
            BEGIN SELECT RAISE(ABORT, 'the event does not follow from the head of an open ledger'); END""",
    },
    "postgresql": {
        "event_follows": """BEFORE INSERT ON heatmaps_event FOR EACH ROW
            EXECUTE FUNCTION heatmaps_event_follows()""",
    },
}
_MOVES: Final = {
    "sqlite": {
        "event_entered": """AFTER INSERT ON heatmaps_event BEGIN
            UPDATE heatmaps_ledger SET last_sequence = NEW.sequence, last_hash = NEW.hash,
                closed_sequence = CASE WHEN NEW.kind = 'close' THEN NEW.sequence END
                WHERE dataset_id = NEW.dataset_id; END""",
        "event_publishes": """AFTER INSERT ON heatmaps_event WHEN NEW.kind = 'publication' BEGIN
            INSERT OR REPLACE INTO heatmaps_publication (release_id, sequence, is_public)
                VALUES (replace(json_extract(NEW.after, '$.shown_release'), '-', ''), NEW.sequence,
                        json_extract(NEW.after, '$.readable_by') = 'everybody'); END""",
    },
    "postgresql": {
        "event_entered": """AFTER INSERT ON heatmaps_event FOR EACH ROW
            EXECUTE FUNCTION heatmaps_event_entered()""",
        "ledger_begins": """BEFORE INSERT OR UPDATE OF dataset_id ON heatmaps_ledger FOR EACH ROW
            EXECUTE FUNCTION heatmaps_ledger_begins()""",
    },
}


def creating_checks(vendor: str) -> list[str]:
    """Statements, for a database without them."""
    return _creating(_CHECKS[vendor])


def dropping_checks(vendor: str) -> list[str]:
    """Statements, for a database that may lack them."""
    return _dropping(vendor, _CHECKS[vendor])


def creating(vendor: str) -> list[str]:
    """All statements: functions, checks, and what moves the head."""
    functions = []
    if vendor == "postgresql":
        functions = [
            *_FUNCTIONS.values(),
            *(f"REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC" for name in _AS_OWNER),
        ]
    return functions + creating_checks(vendor) + _creating(_MOVES[vendor])


def dropping(vendor: str) -> list[str]:
    """Statements, for a database that has all of them."""
    triggers = dropping_checks(vendor) + _dropping(vendor, _MOVES[vendor])
    functions = [f"DROP FUNCTION IF EXISTS {name}" for name in reversed(_FUNCTIONS)]
    return triggers + (functions if vendor == "postgresql" else [])


def _creating(triggers: dict[str, str]) -> list[str]:
    return [f"CREATE TRIGGER {name} {text}" for name, text in triggers.items()]


def _dropping(vendor: str, triggers: dict[str, str]) -> list[str]:
    if vendor == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {name}" for name in triggers]
    tables = {name: "heatmaps_ledger" if name == "ledger_begins" else "heatmaps_event" for name in triggers}
    return [f"DROP TRIGGER IF EXISTS {name} ON {table}" for name, table in tables.items()]
