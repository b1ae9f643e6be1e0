"""Allowances of persons, salts of events, and the reservation as one statement on PostgreSQL."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q, Sum

# The whole critical section of a reservation on the server: under a crowd the lock of the ledger's row is
# not held over the way to a client and back. heatmaps/ledger/transitions/reserving.py calls it and has the
# same steps in Python for SQLite; verification recomputes what either of them wrote.
#
# Refusals are errors of SQLSTATE HZ001 whose message is JSON, so that whatever was written is undone.
RESERVE = """
CREATE FUNCTION heatmaps_reserve(ask jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    head heatmaps_ledger%ROWTYPE;
    made heatmaps_release%ROWTYPE := jsonb_populate_record(NULL::heatmaps_release, ask->'release');
    person bigint := (ask->>'person')::bigint;
    salt text := ask->>'salt';
    spent_at bigint;
    one record;
    amount bigint;
    names bigint := 0;
    told_charges text := '';
    told_before text := '';
    told_after text := '';
    before text;
    after text;
    hash text;
BEGIN
    SELECT * INTO STRICT head FROM heatmaps_ledger WHERE dataset_id = made.dataset_id FOR UPDATE;
    IF (ask->>'unless_answered')::boolean AND (
        made.version_id IS DISTINCT FROM (
            SELECT id FROM heatmaps_dataversion WHERE dataset_id = made.dataset_id
            ORDER BY number DESC LIMIT 1)
        OR EXISTS (
            SELECT 1 FROM heatmaps_release
            WHERE dataset_id = made.dataset_id AND question = made.question AND state = 'published')
        OR EXISTS (
            SELECT 1 FROM heatmaps_requestkey WHERE requested_by_id = person AND key = ask->>'key')
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"overtaken"}';
    END IF;
    INSERT INTO heatmaps_release SELECT made.*;
    FOR one IN
        SELECT id, kind, "limit", committed, unbounded FROM heatmaps_account
        WHERE dataset_id = made.dataset_id ORDER BY id FOR UPDATE
    LOOP
        names := names + 1;
        IF NOT ask->'charges' ? one.kind THEN
            RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"accounts"}';
        END IF;
        amount := (ask->'charges'->>one.kind)::bigint;
        IF one."limit" IS NULL AND amount > 4611686018427387904 - one.committed THEN
            amount := NULL;
        END IF;
        UPDATE heatmaps_account SET
            committed = committed + coalesce(amount, 0), unbounded = unbounded OR amount IS NULL
            WHERE id = one.id AND ("limit" IS NULL OR committed + amount <= "limit");
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = json_build_object(
                'code', CASE WHEN amount IS NULL THEN 'unbounded_charge' ELSE 'budget_exceeded' END,
                'account', one.kind, 'requested', amount, 'available', one."limit" - one.committed)::text;
        END IF;
        PERFORM heatmaps_allow(one.id, one.kind, person, amount);
        INSERT INTO heatmaps_charge (release_id, account_id, amount) VALUES (made.id, one.id, amount);
        -- Kinds of one dataset, so few that each is put in its place of the sorted object at the end.
        told_charges := told_charges || ',' || to_json(one.kind)::text || ':'
            || coalesce(amount::text, '"no bound"');
        told_before := told_before || ',' || to_json(one.kind)::text || ':'
            || CASE WHEN one.unbounded THEN '"no bound"' ELSE one.committed::text END;
        told_after := told_after || ',' || to_json(one.kind)::text || ':'
            || CASE WHEN one.unbounded OR amount IS NULL THEN '"no bound"'
               ELSE (one.committed + amount)::text END;
    END LOOP;
    IF names <> (SELECT count(*) FROM jsonb_object_keys(ask->'charges')) THEN
        RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = '{"code":"accounts"}';
    END IF;
    before := '{"committed":{' || heatmaps_sorted(told_before) || '}}';
    after := '{"charges":{' || heatmaps_sorted(told_charges) || '},"committed":{'
        || heatmaps_sorted(told_after) || '},"release":' || (ask->>'facts') || ',"state":"reserved"}';
    -- Under the lock, so that the times of a chain follow each other.
    spent_at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    hash := encode(sha256(convert_to(
        '{"actor":' || person || ',"after":' || to_json(after)::text || ',"at_microseconds":' || spent_at
        || ',"before":' || to_json(before)::text || ',"dataset":' || made.dataset_id
        || ',"kind":"reserve","previous_hash":"' || head.last_hash || '","release":"' || made.id
        || '","salt":"' || salt || '","sequence":' || head.last_sequence + 1 || '}', 'UTF8')), 'hex');
    INSERT INTO heatmaps_event (
        dataset_id, sequence, at_microseconds, actor_id, kind, release, before, after,
        previous_hash, hash, salt
    ) VALUES (
        made.dataset_id, head.last_sequence + 1, spent_at, person, 'reserve', made.id, before, after,
        head.last_hash, hash, salt
    );
    UPDATE heatmaps_ledger SET last_sequence = head.last_sequence + 1, last_hash = hash
        WHERE dataset_id = made.dataset_id;
    IF ask->>'key' IS NOT NULL THEN
        INSERT INTO heatmaps_requestkey (requested_by_id, key, release_id)
        VALUES (person, ask->>'key', made.id);
    END IF;
    RETURN head.last_sequence + 1;
END $$
"""
ALLOW = """
CREATE FUNCTION heatmaps_allow(account bigint, kind text, person bigint, amount bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    general bigint;
    mine heatmaps_allowance%ROWTYPE;
BEGIN
    SELECT "limit" INTO general FROM heatmaps_allowance WHERE account_id = account AND person_id IS NULL;
    FOR attempt IN 1..2 LOOP
        UPDATE heatmaps_allowance SET committed = committed + coalesce(amount, 0)
            WHERE account_id = account AND person_id = person AND (
                amount = 0 OR CASE WHEN follows_default THEN general ELSE "limit" END IS NULL
                OR committed + amount <= CASE WHEN follows_default THEN general ELSE "limit" END);
        EXIT WHEN FOUND;
        SELECT * INTO mine FROM heatmaps_allowance WHERE account_id = account AND person_id = person;
        IF FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'HZ001', MESSAGE = json_build_object(
                'code', CASE WHEN amount IS NULL THEN 'unbounded_charge' ELSE 'allowance_exceeded' END,
                'account', kind, 'requested', amount, 'available',
                CASE WHEN mine.follows_default THEN general ELSE mine."limit" END - mine.committed)::text;
        END IF;
        INSERT INTO heatmaps_allowance (account_id, person_id, follows_default, "limit", committed)
            VALUES (account, person, true, NULL, 0);
    END LOOP;
END $$
"""
SORTED = """
CREATE FUNCTION heatmaps_sorted(members text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(member, ',' ORDER BY member COLLATE "C")
    FROM unnest(string_to_array(substr(members, 2), ',')) AS member
$$
"""
CREATE = [SORTED, ALLOW, RESERVE]
DROP = [
    "DROP FUNCTION IF EXISTS heatmaps_reserve(jsonb)",
    "DROP FUNCTION IF EXISTS heatmaps_allow(bigint, text, bigint, bigint)",
    "DROP FUNCTION IF EXISTS heatmaps_sorted(text)",
]


def count_charges(apps, _schema_editor):
    """What each person holds of each account by now, as if it had been counted from the beginning."""
    charges = apps.get_model("heatmaps", "Charge").objects.exclude(release__state="cancelled")
    taken = charges.order_by().values_list("account", "release__requested_by").annotate(units=Sum("amount"))
    allowance = apps.get_model("heatmaps", "Allowance")
    allowance.objects.bulk_create(
        allowance(account_id=account, person_id=person, committed=units or 0)
        for account, person, units in taken
    )


def create_functions(_apps, schema_editor):
    _on_postgresql(schema_editor, CREATE)


def drop_functions(_apps, schema_editor):
    _on_postgresql(schema_editor, DROP)


def _on_postgresql(schema_editor, statements):
    if schema_editor.connection.vendor == "postgresql":
        for statement in statements:
            schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0007_people"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Nullable: SQLite adds such a column without rebuilding the table, which would drop its triggers.
        migrations.AddField(
            model_name="event", name="salt", field=models.CharField(max_length=32, null=True)
        ),
        migrations.CreateModel(
            name="Allowance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("follows_default", models.BooleanField(default=True)),
                ("limit", models.BigIntegerField(null=True)),
                ("committed", models.BigIntegerField(default=0)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="allowances",
                        to="heatmaps.account",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["account", "person"],
                "constraints": [
                    models.UniqueConstraint(fields=["account", "person"], name="one_allowance_a_person"),
                    models.UniqueConstraint(
                        fields=["account"], condition=Q(person=None), name="one_default_allowance"
                    ),
                    models.CheckConstraint(
                        name="allowance_counts_up",
                        condition=Q(committed__gte=0) & (Q(limit=None) | Q(limit__gte=0)),
                    ),
                    models.CheckConstraint(
                        name="allowance_is_one_or_the_default",
                        condition=Q(follows_default=True, limit=None)
                        | Q(follows_default=False, person__isnull=False)
                        | Q(follows_default=False, person=None, committed=0),
                    ),
                ],
            },
        ),
        migrations.RunPython(count_charges, migrations.RunPython.noop),
        migrations.RunPython(create_functions, drop_functions),
    ]
