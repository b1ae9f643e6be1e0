-- For a cluster from when `hazemap` was its superuser (docs/how-to/upgrade.md): that role becomes `postgres`, which
-- nobody uses, and a new `hazemap` that is no superuser owns database, tables and functions. All of it or nothing.
\set ON_ERROR_STOP on
\set password `cat /run/secrets/postgres_password`
\set superuser_password `cat /run/secrets/superuser_password`
BEGIN;
-- Nobody may rename who is signed in.
CREATE ROLE hazemap_renaming SUPERUSER;
SET SESSION AUTHORIZATION hazemap_renaming;
ALTER ROLE hazemap RENAME TO postgres;
ALTER ROLE postgres PASSWORD :'superuser_password';
CREATE ROLE hazemap LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE hazemap OWNER TO hazemap;
ALTER SCHEMA public OWNER TO pg_database_owner;
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        -- Sequences of columns go with their tables.
        SELECT format('ALTER TABLE %s OWNER TO hazemap', oid::regclass) FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
            AND relowner = 'postgres'::regrole AND NOT EXISTS (SELECT FROM pg_depend
                WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype IN ('a', 'i', 'e'))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO hazemap', oid::regprocedure) FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace AND proowner = 'postgres'::regrole AND NOT EXISTS (
                SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
        UNION ALL
        -- From PostgreSQL 16 on, whoever makes roles changes those alone that it was given.
        SELECT format('GRANT %I TO hazemap WITH ADMIN TRUE, INHERIT FALSE, SET FALSE', rolname) FROM pg_roles
            WHERE rolname IN ('hazemap_web', 'hazemap_worker', 'hazemap_clock')
            AND current_setting('server_version_num')::int >= 160000
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
RESET SESSION AUTHORIZATION;
DROP ROLE hazemap_renaming;
COMMIT;
