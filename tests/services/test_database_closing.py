"""What PostgreSQL shows every role of others' work, and what the product's roles still see of it."""

import psycopg
import pytest

from tests.services.roles import CLOCK, OWNER, WEB, WORKER, signed_in

pytestmark = [pytest.mark.postgres]

TABLE = "'heatmaps_drawing'::regclass"
TELLING = [
    # Sizes.
    *(f"SELECT pg_{what}_size({TABLE})" for what in ("relation", "table", "indexes", "total_relation")),
    "SELECT pg_database_size(current_database())",
    "SELECT pg_tablespace_size('pg_default')",
    "SELECT relpages FROM pg_class",
    "SELECT reltuples FROM pg_class",
    "SELECT relallvisible FROM pg_class",
    f"SELECT pg_relation_filenode({TABLE})",
    f"SELECT pg_relation_filepath({TABLE})",
    "SELECT * FROM pg_statistic",
    # Counts of rows and statements.
    *(
        f"SELECT * FROM pg_stat_{what}"
        for what in (
            *("user_tables", "all_tables", "xact_user_tables", "user_indexes", "all_indexes", "database"),
            *("user_functions", "bgwriter", "wal", "slru", "archiver", "database_conflicts"),
        )
    ),
    "SELECT * FROM pg_statio_user_tables",
    "SELECT * FROM pg_statio_user_indexes",
    f"SELECT pg_stat_get_tuples_inserted({TABLE})",
    f"SELECT pg_stat_get_live_tuples({TABLE})",
    f"SELECT pg_stat_get_xact_tuples_inserted({TABLE})",
    # Others' sessions, locks and transactions.
    *(
        f"SELECT * FROM pg_stat_{what}"
        for what in ("activity", "ssl", "gssapi", "replication", "wal_receiver", "subscription")
    ),
    *(
        f"SELECT * FROM pg_stat_progress_{what}"
        for what in ("analyze", "basebackup", "cluster", "copy", "create_index", "vacuum")
    ),
    "SELECT * FROM pg_locks",
    "SELECT * FROM pg_prepared_xacts",
    "SELECT * FROM pg_replication_slots",
    "SELECT pg_blocking_pids(pg_backend_pid())",
    "SELECT pg_stat_get_backend_idset()",
    "SELECT pg_stat_get_backend_activity(1)",
    "SELECT pg_current_snapshot()",
    "SELECT pg_current_xact_id()",
    "SELECT txid_current()",
    "SELECT txid_current_snapshot()",
    "SELECT pg_xact_status('3'::xid8)",
    "SELECT pg_export_snapshot()",
    "SELECT age('3'::xid)",
    "SELECT mxid_age('3'::xid)",
    "SELECT pg_last_committed_xact()",
    # The log's position.
    *(f"SELECT pg_current_wal{what}_lsn()" for what in ("", "_insert", "_flush")),
    "SELECT pg_walfile_name('0/1')",
    "SELECT pg_control_checkpoint()",
    "SELECT pg_logical_emit_message(false, 'x', 'x')",
    # Locks by numbers, but for the ledger's queue.
    "SELECT pg_advisory_lock(1, 1)",
    "SELECT pg_try_advisory_lock(1, 1)",
    "SELECT pg_try_advisory_xact_lock(1, 1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_advisory_lock_shared(1)",
    # Room on the disk that no table's rights bound.
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "CREATE TEMPORARY TABLE made (id int)",
    "DO 'BEGIN END'",
]


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_no_role_sees_sizes_statistics_or_sessions(postgres, granted, role):
    allowed = []
    with signed_in(postgres, granted[1], role) as connection:
        for statement in TELLING:
            try:
                connection.execute(statement)
            except psycopg.errors.InsufficientPrivilege:
                continue
            allowed.append(statement)
    assert allowed == []


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_no_function_of_the_server_tells_of_others_whatever_its_version(postgres, granted, role):
    kept = {"pg_advisory_xact_lock(integer,integer)"}
    if role == WORKER:
        kept.add("pg_try_advisory_xact_lock(bigint)")
    query = """SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND has_function_privilege(%s, oid, 'EXECUTE') AND prokind = 'f'
        AND proname ~ '^(pg_stat_get|lo_|txid_|pg_current_)|advisory|_wal_.*lsn'"""
    with signed_in(postgres, granted[1], OWNER) as owner:
        assert {name for (name,) in owner.execute(query, [role]).fetchall()} == kept


@pytest.mark.parametrize("role", [WEB, WORKER, CLOCK])
def test_no_role_connects_to_another_database(postgres, granted, role):
    """Which tells of all sessions and locks of the cluster."""
    for database in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            signed_in(postgres, database, role)


def test_what_the_product_asks_the_catalog_is_answered(postgres, granted):
    with signed_in(postgres, granted[1], WEB) as web:
        query = "SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        assert ("django_migrations",) in web.execute(query).fetchall()
        web.execute("SELECT pg_advisory_xact_lock('heatmaps_ledger'::regclass::int, 1)")
