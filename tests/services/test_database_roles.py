"""Web, workers and clock on PostgreSQL: each does its work, and none gets past the rules of the tables."""

import psycopg
import pytest
from django.apps import apps

from heatmaps.management.database_rights import APPEND, CHANGE, EVERYTHING, NOTHING, READ
from tests.services.installation import Installation
from tests.services.roles import CLOCK, OWNER, WEB, WORKER, signed_in, url
from tests.services.roles import RIGHTS as NAMED

pytestmark = [pytest.mark.postgres]

HIDDEN = (
    "heatmaps_checkin",
    "heatmaps_packedcheckins",
    "heatmaps_enrolment",
    "heatmaps_drawing",
    "heatmaps_sourcereading",
)
SECRETS = {"heatmaps_drawing": "content", "heatmaps_sourcereading": "attempts"}
NO_CHANGE = ("SELECT", "INSERT", "DELETE")
# What web and workers may do with each table; rights to some columns are not among them. A new table fails
# `test_every_table_has_its_rights`: give it a row here, and one for each role in
# `heatmaps.management.database_rights`.
RIGHTS = {
    "account_emailaddress": (EVERYTHING, NOTHING),
    "account_emailconfirmation": (EVERYTHING, NOTHING),
    "mfa_authenticator": (EVERYTHING, NOTHING),
    "socialaccount_socialaccount": (EVERYTHING, NOTHING),
    "socialaccount_socialapp": (EVERYTHING, NOTHING),
    "socialaccount_socialtoken": (EVERYTHING, NOTHING),
    "auth_group": (READ, NOTHING),
    "auth_group_permissions": (READ, NOTHING),
    "auth_permission": (READ, NOTHING),
    "auth_user": (EVERYTHING, NOTHING),
    "auth_user_groups": (READ, NOTHING),
    "auth_user_user_permissions": (READ, NOTHING),
    "django_admin_log": (APPEND, NOTHING),
    "django_content_type": (READ, NOTHING),
    "django_migrations": (READ, READ),
    "django_session": (EVERYTHING, NOTHING),
    "heatmaps_account": (APPEND, READ),
    "heatmaps_administratorread": (APPEND, APPEND),
    "heatmaps_allowance": (EVERYTHING, EVERYTHING),
    "heatmaps_apitoken": (EVERYTHING, NOTHING),
    "heatmaps_charge": (APPEND, READ),
    "heatmaps_checkin": (NOTHING, NO_CHANGE),
    "heatmaps_collection": (EVERYTHING, EVERYTHING),
    "heatmaps_dataset": (APPEND, READ),
    "heatmaps_dataversion": (APPEND, APPEND),
    "heatmaps_districtfile": (EVERYTHING, EVERYTHING),
    "heatmaps_election": (APPEND, APPEND),
    "heatmaps_guidefile": (APPEND, APPEND),
    "heatmaps_installation": (APPEND, EVERYTHING),
    "heatmaps_heartbeat": (READ, EVERYTHING),
    "heatmaps_enrolment": (NOTHING, EVERYTHING),
    "heatmaps_event": (APPEND, APPEND),
    "heatmaps_extent": (NOTHING, NO_CHANGE),
    "heatmaps_ledger": (APPEND, READ),
    "heatmaps_membership": (EVERYTHING, READ),
    "heatmaps_invitation": (EVERYTHING, NOTHING),
    "heatmaps_packedcheckins": (NOTHING, NO_CHANGE),
    "heatmaps_packingattempts": (EVERYTHING, EVERYTHING),
    "heatmaps_passwordlink": (EVERYTHING, NOTHING),
    "heatmaps_peoplerules": (EVERYTHING, NOTHING),
    "heatmaps_profile": (EVERYTHING, NOTHING),
    "heatmaps_codetries": (EVERYTHING, NOTHING),
    "heatmaps_publication": (READ, READ),
    "heatmaps_release": (APPEND, READ),
    "heatmaps_requestkey": (EVERYTHING, EVERYTHING),
    "heatmaps_round": (EVERYTHING, EVERYTHING),
    "heatmaps_restoration": (CHANGE, READ),
    "heatmaps_restoredcharge": (READ, READ),
    "heatmaps_result": (READ, APPEND),
    "heatmaps_drawing": (NOTHING, EVERYTHING),
    "heatmaps_sourcereading": (NOTHING, EVERYTHING),
    "heatmaps_sourcestate": (READ, APPEND),
    "heatmaps_sourcesurvey": (NO_CHANGE, EVERYTHING),
    "heatmaps_suppression": (APPEND, APPEND),
    "heatmaps_upload": (APPEND, ("SELECT", "INSERT", "UPDATE")),
    "knox_authtoken": (EVERYTHING, NOTHING),
}
# Of a table that may not be updated as a whole: the columns that may be.
UPLOADED = {"state", "version_id", "finished_at", "rows_accepted", "rows_rejected", "rows_outside"}
COLUMNS = {
    "heatmaps_dataversion": (set(), {"is_cleared"}),
    "heatmaps_extent": (set(), {"last"}),
    "heatmaps_ledger": ({"dataset_id"}, {"dataset_id"}),  # for its lock; a trigger refuses the change
    "heatmaps_sourcestate": ({"version_id"}, {"version_id"}),
    "heatmaps_upload": (UPLOADED, set()),
    "heatmaps_account": ({"limit", "committed", "unbounded"}, {"committed", "unbounded"}),
    "heatmaps_dataset": (
        {"schedule", "next_version_at", "retention_days", "embed_origins"},
        {"next_version_at", "slot_doublings"},
    ),
    "heatmaps_release": (
        {"state", "finished_at", "expires_at", "name", "note", "is_name_public", "public_since"},
        {"state", "finished_at", "starts_at", "visible_at", "late"},
    ),
}
ALL_RIGHTS = (*EVERYTHING, "TRUNCATE", "REFERENCES", "TRIGGER")
APPENDED = ("heatmaps_event", "heatmaps_administratorread")
REFUSED = [
    *(f"UPDATE {table} SET hash = hash" for table in APPENDED),
    *(f"DELETE FROM {table}" for table in APPENDED),
    *(f"TRUNCATE {table}" for table in APPENDED),
    *(f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in APPENDED),
    *(f"ALTER TABLE {table} OWNER TO CURRENT_USER" for table in APPENDED),
    *(f"DROP TABLE {table} CASCADE" for table in APPENDED),
    *(
        f"CREATE TRIGGER t BEFORE INSERT ON {table} EXECUTE FUNCTION heatmaps_event_refuses()"
        for table in APPENDED
    ),
    "UPDATE heatmaps_guidefile SET title = title",
    "DELETE FROM heatmaps_guidefile",
    "TRUNCATE heatmaps_guidefile CASCADE",
    "DROP TRIGGER event_refuses_change ON heatmaps_event",
    "DROP FUNCTION heatmaps_event_refuses() CASCADE",
    "CREATE OR REPLACE FUNCTION heatmaps_event_refuses() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "SET session_replication_role = replica",
    "CREATE TABLE another (id int)",
    "ALTER TABLE heatmaps_account DROP CONSTRAINT IF EXISTS anything",
    "INSERT INTO django_migrations (app, name, applied) VALUES ('x', 'y', now())",
    "SET ROLE hazemap",
    "GRANT hazemap TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER SUPERUSER",
]


def test_every_table_has_its_rights(postgres, granted):
    asked = ", ".join(f"has_table_privilege(%(role)s, tablename::text, '{right}')" for right in ALL_RIGHTS)
    found = {}
    with signed_in(postgres, granted[1], OWNER) as owner:
        for role in (WEB, WORKER):
            rows = owner.execute(
                f"SELECT tablename, {asked} FROM pg_tables WHERE schemaname = 'public'", {"role": role}
            )
            for table, *held in rows:
                rights = tuple(right for right, may in zip(ALL_RIGHTS, held, strict=True) if may)
                found.setdefault(table, []).append(rights)
    assert {table: tuple(rights) for table, rights in found.items()} == RIGHTS
    assert {model._meta.db_table for model in apps.get_models(include_auto_created=True)} <= set(found)
    assert {role: set(found) ^ set(named) for role, named in NAMED.items()} == {role: set() for role in NAMED}


@pytest.mark.parametrize(("role", "at"), [(WEB, 0), (WORKER, 1)])
def test_no_other_column_is_updated(postgres, granted, role, at):
    """Of every table that there is, so that a new column is tried by itself."""
    with signed_in(postgres, granted[1], OWNER) as owner:
        rows = owner.execute(
            """SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            AND NOT has_table_privilege(%(role)s, pg_class.oid, 'UPDATE')
            AND has_column_privilege(%(role)s, pg_class.oid, attnum, 'UPDATE')""",
            {"role": role},
        ).fetchall()
    assert set(rows) == {(table, name) for table, names in COLUMNS.items() for name in names[at]}


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_nobody_gets_past_the_rules_of_append_only_tables(postgres, granted, role):
    with signed_in(postgres, granted[1], role) as connection:
        for statement in REFUSED:
            with pytest.raises(psycopg.Error) as refusal:
                connection.execute(statement)
            assert isinstance(refusal.value, psycopg.errors.InsufficientPrivilege), (statement, refusal.value)


def test_the_owner_could(postgres, granted):
    """So that the statements above are refused for the role, not for a misspelling."""
    with signed_in(postgres, granted[1], OWNER) as owner:
        owner.autocommit = False
        owner.execute("ALTER TABLE heatmaps_event DISABLE TRIGGER USER")
        owner.execute("DELETE FROM heatmaps_event")
        owner.rollback()


@pytest.mark.parametrize("table", HIDDEN)
def test_web_reads_no_check_in(postgres, granted, table):
    with signed_in(postgres, granted[1], WEB) as web:
        for statement in (
            f"SELECT * FROM {table}",
            f"SELECT {SECRETS.get(table, 'id')} FROM {table}",
            f"SELECT count(*) FROM {table}",
        ):
            if statement == "SELECT count(*) FROM heatmaps_packedcheckins":
                continue  # whether an upload has a copy, it may know
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                web.execute(statement)


@pytest.mark.parametrize("table", [*HIDDEN[:3], "heatmaps_profile", "heatmaps_membership", "django_session"])
def test_the_clock_reads_neither_check_ins_nor_what_lets_somebody_in(postgres, granted, table):
    with signed_in(postgres, granted[1], CLOCK) as clock, pytest.raises(psycopg.errors.InsufficientPrivilege):
        clock.execute(f"SELECT 1 FROM {table}")


def test_the_clock_reads_names_of_accounts_and_nothing_else_of_them(postgres, granted):
    with signed_in(postgres, granted[1], CLOCK) as clock:
        clock.execute("SELECT id, username, is_active FROM auth_user")
        for column in ("password", "email", "last_login", "is_superuser"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                clock.execute(f"SELECT {column} FROM auth_user")


@pytest.mark.long
def test_web_workers_and_clock_do_all_their_work(granted_alone):
    made, _ = granted_alone
    told = made.script("role_work")
    assert told == {
        "problem": "",
        "release": "published",
        "public": True,
        "guided": "published",
        "cancelled": "cancelled",
        "uploads": [["new.csv", "ready"], ["old.csv", "ready"], ["undone.csv", "undone"]],
        "check-ins": 0,
        "kept": 50,
        "opted out": 1,
        "reads": True,
        "confirmed": 302,
        "drawn again": [],
        "settings": ["on", "0"],
        "read check-ins": [WORKER],
        "refused": {},
    }


@pytest.mark.long
def test_granting_again_takes_back_what_is_too_much_and_says_what_nobody_was_named_for(
    postgres, granted, tmp_path, monkeypatch
):
    made, name = granted
    for role in ("WEB", "WORKER"):
        (tmp_path / role).write_text(f"of-{role}")
        monkeypatch.setitem(made.others, f"HAZEMAP_{role}_PASSWORD_FILE", str(tmp_path / role))
    password = "SELECT rolpassword FROM pg_authid WHERE rolname = %s"
    with signed_in(postgres, name, WEB) as web:
        web.execute("ALTER ROLE CURRENT_USER PASSWORD 'its own'")
        web.execute("ALTER ROLE CURRENT_USER SET default_transaction_read_only = on")
        web.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {name} SET search_path = pg_temp")
    with signed_in(postgres, name, OWNER) as owner:
        owner.execute(f"GRANT DELETE ON heatmaps_event TO {WEB}")
        owner.execute(f"GRANT SELECT (cell) ON heatmaps_checkin TO {WEB}")
        owner.execute(f"GRANT TEMPORARY ON DATABASE {name} TO PUBLIC")
        owner.execute(f"ALTER ROLE {WEB} CREATEROLE CREATEDB")
        owner.execute("CREATE TABLE heatmaps_later (id bigserial)")
        owner.execute("CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        its_own = owner.execute(password, [WEB]).fetchone()
        again = made.manage("grant-roles")
        assert owner.execute(password, [WEB]).fetchone() not in (its_own, (None,))
        assert "The clock's role got no password" in again.stderr
        assert "touch what no role was named for: heatmaps_later\n" in again.stderr
        assert f"Settings of their own were taken from {WEB}\n" in again.stderr
        assert "is a superuser of the cluster" in again.stderr
        roles = owner.execute("SELECT rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = %s", [WEB])
        assert roles.fetchone() == (False,)
        for role in (WEB, WORKER, CLOCK):
            with signed_in(postgres, name, role) as connection:
                assert connection.execute("SHOW default_transaction_read_only").fetchone() == ("off",)
                for statement in (
                    "SELECT * FROM heatmaps_later",
                    "INSERT INTO heatmaps_later DEFAULT VALUES",
                    "SELECT nextval('heatmaps_later_id_seq')",
                    "SELECT later()",
                    "CREATE TEMPORARY TABLE made (id int)",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(statement)
        owner.execute("DROP TABLE heatmaps_later")
        owner.execute("DROP FUNCTION later()")
    test_every_table_has_its_rights(postgres, granted)
    test_web_reads_no_check_in(postgres, granted, "heatmaps_checkin")


@pytest.mark.long
def test_it_grants_nothing_to_the_owner(granted):
    refused = granted[0].manage("grant-roles", "--web", OWNER, check=False)
    assert refused.returncode == 1
    assert "may act as the owner" in refused.stderr


@pytest.mark.long
def test_a_server_that_may_not_migrate_says_who_may(postgres, tmp_path):
    """And serves where nothing is to be migrated (the rehearsal of the deployment does)."""
    name = postgres.new_database()
    with signed_in(postgres, name, OWNER) as owner:
        owner.execute("CREATE TABLE django_migrations (id int, app text, name text, applied timestamptz)")
        owner.execute(f"GRANT SELECT ON django_migrations TO {WEB}")
    web = Installation(
        folder=tmp_path, database_url=url(postgres, name, WEB), broker_url="redis://127.0.0.1:1/0"
    )
    refused = web.manage("serve", "--port", "0", check=False)
    assert refused.returncode == 1
    assert "waits for migrations" in refused.stderr


def test_a_worker_reads_three_columns_of_an_account(postgres, granted):
    """By the catalog, so that a new column is tried by itself; of profiles and links for passwords none."""
    read = {"id", "username", "is_active"}
    tried = []
    with signed_in(postgres, granted[1], OWNER) as owner:
        columns = owner.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_name = ANY(%s)",
            [["auth_user", "heatmaps_profile", "heatmaps_passwordlink", "heatmaps_peoplerules"]],
        ).fetchall()
    with signed_in(postgres, granted[1], WORKER) as worker:
        for table, column in columns:
            statements = [f"UPDATE {table} SET {column} = {column}"]
            if table == "auth_user" and column in read:
                worker.execute(f"SELECT {column} FROM {table}")
                tried.append(column)
            else:
                statements += [f"SELECT {column} FROM {table}", f"SELECT max({column}::text) FROM {table}"]
            for statement in statements:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    worker.execute(statement)
        for statement in ("SELECT * FROM auth_user", "SELECT * FROM auth_user FOR UPDATE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                worker.execute(statement)
    assert set(tried) == read
    assert len(columns) > 20
