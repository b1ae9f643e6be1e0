"""Web and workers on PostgreSQL: each does its work, and none gets past the rules of the tables."""

import psycopg
import pytest
from django.apps import apps

from heatmaps.management.database_rights import APPEND, CHANGE, EVERYTHING, NOTHING, READ
from tests.services.installation import Installation

pytestmark = [pytest.mark.postgres]

OWNER, WEB, WORKER = "hazemap", "hazemap_web", "hazemap_worker"
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
# `test_every_table_has_its_rights`: give it a row here, and in `heatmaps.management.database_rights` where
# one of the two shall not do everything.
RIGHTS = {
    "account_emailaddress": (EVERYTHING, NOTHING),
    "account_emailconfirmation": (EVERYTHING, NOTHING),
    "mfa_authenticator": (EVERYTHING, NOTHING),
    "socialaccount_socialaccount": (EVERYTHING, NOTHING),
    "socialaccount_socialapp": (EVERYTHING, NOTHING),
    "socialaccount_socialtoken": (EVERYTHING, NOTHING),
    "auth_group": (EVERYTHING, EVERYTHING),
    "auth_group_permissions": (EVERYTHING, EVERYTHING),
    "auth_permission": (EVERYTHING, EVERYTHING),
    "auth_user": (EVERYTHING, NOTHING),
    "auth_user_groups": (EVERYTHING, EVERYTHING),
    "auth_user_user_permissions": (EVERYTHING, EVERYTHING),
    "django_admin_log": (EVERYTHING, EVERYTHING),
    "django_content_type": (EVERYTHING, EVERYTHING),
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
COLUMNS = {
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


@pytest.fixture(scope="module")
def granted(postgres, migrated_postgres, tmp_path_factory):
    """An installation whose roles were granted, and the name of its database."""
    migrated, template = migrated_postgres
    name = postgres.new_database(template)
    made = migrated.copied_to(tmp_path_factory.mktemp("roles") / "state", postgres.url(name))
    made.manage("grant-roles")
    return made, name


def signed_in(postgres, name, role):
    return psycopg.connect(postgres.url(name).replace("//hazemap@", f"//{role}@"), autocommit=True)


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


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_neither_gets_past_the_rules_of_append_only_tables(postgres, granted, role):
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


@pytest.mark.long
def test_web_and_workers_do_all_their_work(granted):
    made, _ = granted
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
        "refused": {},
    }


@pytest.mark.long
def test_granting_again_takes_back_what_is_too_much_and_gives_what_new_tables_need(postgres, granted):
    made, name = granted
    with signed_in(postgres, name, OWNER) as owner:
        owner.execute(f"GRANT DELETE ON heatmaps_event TO {WEB}")
        owner.execute("CREATE TABLE heatmaps_later (id bigserial)")
        made.manage("grant-roles")
        for role in (WEB, WORKER):
            with signed_in(postgres, name, role) as connection:
                connection.execute("INSERT INTO heatmaps_later DEFAULT VALUES")
        owner.execute("DROP TABLE heatmaps_later")
    test_every_table_has_its_rights(postgres, granted)


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
    url = postgres.url(name).replace("//hazemap@", f"//{WEB}@")
    web = Installation(folder=tmp_path, database_url=url, broker_url="redis://127.0.0.1:1/0")
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
