"""Moves of one ledger stand in a queue on PostgreSQL, and a reservation is at its head for a shorter time."""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("heatmaps.migrations.0008_allowances")

# The lock of the ledger's row is what keeps moves apart, as ever. Alone it is taken by whoever comes at the
# right moment, and every UPDATE of the row wakes all who wait for it: of fifty, some wait five times as long
# as most. An advisory lock is handed to whoever waited longest, and wakes nobody else.
#
# A queue is held until the end of the transaction and may be entered again in it. Two datasets whose numbers
# are 2^31 - 1 apart share one, which costs time alone.
QUEUE = """
CREATE FUNCTION heatmaps_queue(dataset bigint) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock('heatmaps_ledger'::regclass::int, (dataset % 2147483647)::int)
$$
"""
# What no other move can change comes before the queue: the rows of the release and of what it is charged (a
# dataset's accounts are always the same), with their indexes. Their foreign keys are looked up at the commit,
# by one transaction after the other: many at once would share locks of the same few rows, which costs more.
#
# Every writer of ledger, accounts and allowances holds the ledger's row: what is read after it stays as it
# is, so accounts are locked by their UPDATEs, by primary key; a charge of nothing leaves an account alone.
#
# Refusals are errors of SQLSTATE HZ001 whose message is JSON, so that whatever was written is undone.
RESERVE = """
CREATE OR REPLACE FUNCTION heatmaps_reserve(ask jsonb) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    head heatmaps_ledger%ROWTYPE;
    made heatmaps_release%ROWTYPE := jsonb_populate_record(NULL::heatmaps_release, ask->'release');
    person bigint := (ask->>'person')::bigint;
    spent_at bigint;
    one record;
    asked bigint;
    -- As Python sorts them: the places of the members of the event's objects.
    kinds text[] := ARRAY(
        SELECT kind FROM jsonb_object_keys(ask->'charges') AS kind ORDER BY kind COLLATE "C");
    at integer;
    name text;
    charged text[];
    olds text[];
    news text[];
    rows_charged integer;
    before text;
    after text;
    digest text;
BEGIN
    INSERT INTO heatmaps_release SELECT made.*;
    INSERT INTO heatmaps_charge (release_id, account_id, amount)
        SELECT made.id, id, (ask->'charges'->>kind)::bigint FROM heatmaps_account
        WHERE dataset_id = made.dataset_id;
    GET DIAGNOSTICS rows_charged = ROW_COUNT;
    IF rows_charged <> cardinality(kinds) THEN
        RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"accounts"}';
    END IF;
    PERFORM heatmaps_queue(made.dataset_id);
    SELECT * INTO STRICT head FROM heatmaps_ledger WHERE dataset_id = made.dataset_id FOR UPDATE;
    IF (ask->>'unless_answered')::boolean THEN
        IF made.version_id IS DISTINCT FROM (
                SELECT id FROM heatmaps_dataversion WHERE dataset_id = made.dataset_id
                ORDER BY number DESC LIMIT 1)
            OR EXISTS (
                SELECT 1 FROM heatmaps_release
                WHERE dataset_id = made.dataset_id AND question = made.question AND state = 'published')
            OR EXISTS (
                SELECT 1 FROM heatmaps_requestkey WHERE requested_by_id = person AND key = ask->>'key')
        THEN
            RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"overtaken"}';
        END IF;
    END IF;
    FOR one IN
        SELECT account.id, account.kind, account."limit", account.committed, account.unbounded,
            mine.id AS mine, coalesce(mine.committed, 0) AS taken,
            CASE WHEN coalesce(mine.follows_default, true) THEN general."limit" ELSE mine."limit" END
                AS allowed
        FROM heatmaps_account AS account
        -- At most one row each; said so, as these tables are often too new for statistics.
        LEFT JOIN LATERAL (
            SELECT * FROM heatmaps_allowance WHERE account_id = account.id AND person_id IS NULL LIMIT 1
        ) AS general ON true
        LEFT JOIN LATERAL (
            SELECT * FROM heatmaps_allowance WHERE account_id = account.id AND person_id = person LIMIT 1
        ) AS mine ON true
        WHERE account.dataset_id = made.dataset_id
        ORDER BY account.id
    LOOP
        at := array_position(kinds, one.kind::text);
        IF at IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"accounts"}';
        END IF;
        asked := (ask->'charges'->>one.kind)::bigint;
        IF one."limit" IS NULL AND asked > 4611686018427387904 - one.committed THEN
            asked := NULL;
            UPDATE heatmaps_charge SET amount = NULL WHERE release_id = made.id AND account_id = one.id;
        END IF;
        IF asked IS DISTINCT FROM 0 THEN
            UPDATE heatmaps_account SET
                committed = committed + coalesce(asked, 0), unbounded = unbounded OR asked IS NULL
                WHERE id = one.id AND ("limit" IS NULL OR committed + asked <= "limit");
            IF NOT FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = json_build_object(
                    'code', CASE WHEN asked IS NULL THEN 'unbounded_charge' ELSE 'budget_exceeded' END,
                    'account', one.kind, 'requested', asked, 'available', one."limit" - one.committed)::text;
            END IF;
            IF one.allowed IS NOT NULL AND (asked IS NULL OR one.taken + asked > one.allowed) THEN
                RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = json_build_object(
                    'code', CASE WHEN asked IS NULL THEN 'unbounded_charge' ELSE 'allowance_exceeded' END,
                    'account', one.kind, 'requested', asked, 'available', one.allowed - one.taken)::text;
            END IF;
        END IF;
        IF one.mine IS NULL THEN
            INSERT INTO heatmaps_allowance (account_id, person_id, follows_default, "limit", committed)
                VALUES (one.id, person, true, NULL, coalesce(asked, 0));
        ELSIF asked <> 0 THEN
            UPDATE heatmaps_allowance SET committed = committed + asked WHERE id = one.mine;
        END IF;
        name := to_json(one.kind)::text || ':';
        charged[at] := name || coalesce(asked::text, '"no bound"');
        olds[at] := name || CASE WHEN one.unbounded THEN '"no bound"' ELSE one.committed::text END;
        news[at] := name || CASE WHEN one.unbounded OR asked IS NULL THEN '"no bound"'
            ELSE (one.committed + asked)::text END;
    END LOOP;
    before := '{"committed":{' || array_to_string(olds, ',') || '}}';
    after := '{"charges":{' || array_to_string(charged, ',')
        || '},"committed":{' || array_to_string(news, ',')
        || '},"release":' || (ask->>'facts') || ',"state":"reserved"}';
    -- At the head of the queue, so that the times of a chain follow each other.
    spent_at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    digest := encode(sha256(convert_to(
        '{"actor":' || person || ',"after":' || to_json(after)::text || ',"at_microseconds":' || spent_at
        || ',"before":' || to_json(before)::text || ',"dataset":' || made.dataset_id
        || ',"kind":"reserve","previous_hash":"' || head.last_hash || '","release":"' || made.id
        || '","salt":"' || (ask->>'salt') || '","sequence":' || head.last_sequence + 1 || '}',
        'UTF8')), 'hex');
    INSERT INTO heatmaps_event (
        dataset_id, sequence, at_microseconds, actor_id, kind, release, before, after,
        previous_hash, hash, salt
    ) VALUES (
        made.dataset_id, head.last_sequence + 1, spent_at, person, 'reserve', made.id, before, after,
        head.last_hash, digest, ask->>'salt'
    );
    UPDATE heatmaps_ledger SET last_sequence = head.last_sequence + 1, last_hash = digest
        WHERE dataset_id = made.dataset_id;
    IF ask->>'key' IS NOT NULL THEN
        INSERT INTO heatmaps_requestkey (requested_by_id, key, release_id)
        VALUES (person, ask->>'key', made.id);
    END IF;
    RETURN head.last_sequence + 1;
END $$
"""
CREATE = [
    QUEUE,
    RESERVE,
    "DROP FUNCTION heatmaps_allow(bigint, text, bigint, bigint)",
    "DROP FUNCTION heatmaps_sorted(text)",
]
RESTORE = [
    "DROP FUNCTION heatmaps_reserve(jsonb)",
    "DROP FUNCTION heatmaps_queue(bigint)",
    *BEFORE.CREATE,
]


def create(_apps, schema_editor):
    _on_postgresql(schema_editor, CREATE)


def restore(_apps, schema_editor):
    _on_postgresql(schema_editor, RESTORE)


def _on_postgresql(schema_editor, statements):
    if schema_editor.connection.vendor == "postgresql":
        for statement in statements:
            schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0014_packed_checkins")]

    operations = [migrations.RunPython(create, restore)]
