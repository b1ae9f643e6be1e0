-- Closes what PostgreSQL shows and lends to every role of this database: sizes and statistics of tables, other
-- sessions, locks, transactions, the log's position, large objects, advisory locks. `grant-roles` runs it where the
-- owner of the tables is a superuser; elsewhere a superuser does, in this database, after it was made or restored:
--
--   psql --dbname=hazemap --file=closing.sql
--
-- The database's owner and members of pg_monitor keep it all. Other databases of the cluster tell the same, so nobody
-- may connect to them any more who is not named there.
DO $$
DECLARE
    closed regprocedure;
    shown text;
    other name;
BEGIN
    FOR closed IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND (
            proname ~ '^(pg_stat_|pg_control_|lo_|pg_advisory_|pg_try_advisory_|pg_snapshot_|txid_|mxid_)'
            OR proname ~ '^(pg_current_wal_|pg_last_wal_|pg_wal|pg_current_xact|pg_xact_|pg_last_committed)'
            OR proname ~ '_size$' AND proname ~ '^pg_(relation|table|indexes|total_relation|database|tablespace)'
            OR proname ~ '^pg_(lock_status|blocking_pids|safe_snapshot|isolation_test|prepared_xact$)'
            OR proname ~ '^pg_(relation_filenode|relation_filepath|filenode_relation|notification_queue_usage)$'
            OR proname IN ('lowrite', 'loread', 'age', 'pg_current_snapshot', 'pg_export_snapshot', 'currtid2',
                'pg_get_replication_slots', 'pg_show_replication_origin_status', 'pg_logical_emit_message',
                'pg_get_multixact_members')
        ) AND NOT (proname = 'age' AND proargtypes[0] <> 'xid'::regtype)
    LOOP
        -- Some are granted to nobody from the start: they stay the superuser's.
        IF has_function_privilege('public', closed, 'EXECUTE') THEN
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', closed);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner, pg_monitor', closed);
        END IF;
    END LOOP;
    -- The ledger's queue is everybody's. Whose copy in columns is made is between workers: `grant-roles` says so.
    GRANT EXECUTE ON FUNCTION pg_advisory_xact_lock(int, int) TO PUBLIC;
    GRANT EXECUTE ON FUNCTION pg_try_advisory_xact_lock(bigint) TO pg_database_owner WITH GRANT OPTION;
    -- How many pages and rows a table has.
    SELECT string_agg(quote_ident(attname), ', ') INTO shown FROM pg_attribute
        WHERE attrelid = 'pg_class'::regclass AND NOT attisdropped AND attname NOT IN ('relpages', 'reltuples',
            'relallvisible', 'relallfrozen', 'relfrozenxid', 'relminmxid', 'relfilenode');
    REVOKE SELECT ON pg_class FROM PUBLIC;
    EXECUTE format('GRANT SELECT (%s) ON pg_class TO PUBLIC', shown);
    GRANT SELECT ON pg_class TO pg_database_owner, pg_monitor;
    -- Programs are the owner's.
    REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
    GRANT USAGE ON LANGUAGE plpgsql TO pg_database_owner;
    FOR other IN SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1') LOOP
        EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', other);
    END LOOP;
END
$$;
