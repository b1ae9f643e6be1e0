"""What a database role may try, enumerated from the catalog of a real database, and what should come of it.

Tables, columns, sequences, functions, schemas, roles, databases and settings come from the catalog, so a new
one is tried by itself; what should come of it is said by `heatmaps.management.database_rights`.
"""

from dataclasses import dataclass

from heatmaps.management.database_rights import FUNCTIONS, NOTHING, ColumnRights


@dataclass(frozen=True, slots=True)
class Statement:
    kind: str
    text: str
    is_allowed: bool = False
    is_alone: bool = False  # outside of a transaction


LOCKS = {
    "ACCESS SHARE": {"SELECT"},
    "ROW SHARE": {"UPDATE", "DELETE"},
    "ROW EXCLUSIVE": {"INSERT", "UPDATE", "DELETE"},
    "SHARE UPDATE EXCLUSIVE": {"UPDATE", "DELETE"},
    "SHARE": {"UPDATE", "DELETE"},
    "SHARE ROW EXCLUSIVE": {"UPDATE", "DELETE"},
    "EXCLUSIVE": {"UPDATE", "DELETE"},
    "ACCESS EXCLUSIVE": {"UPDATE", "DELETE"},
}
# Whose the table is may do these; nobody else.
OF_THE_OWNER = {
    "truncate": "TRUNCATE {}",
    "truncate and more": "TRUNCATE {} RESTART IDENTITY CASCADE",
    "drop a table": "DROP TABLE {} CASCADE",
    "rename a table": "ALTER TABLE {} RENAME TO renamed",
    "move a table": "ALTER TABLE {} SET SCHEMA pg_temp",
    "give a table away": "ALTER TABLE {} OWNER TO CURRENT_USER",
    "add a column": "ALTER TABLE {} ADD COLUMN added int",
    "drop a column": "ALTER TABLE {} DROP COLUMN IF EXISTS missing",
    "add a check": "ALTER TABLE {} ADD CONSTRAINT added CHECK (false) NOT VALID",
    "drop a check": "ALTER TABLE {} DROP CONSTRAINT IF EXISTS missing",
    "switch user triggers off": "ALTER TABLE {} DISABLE TRIGGER USER",
    "switch all triggers off": "ALTER TABLE {} DISABLE TRIGGER ALL",
    "switch triggers on": "ALTER TABLE {} ENABLE TRIGGER ALL",
    "add row security": "ALTER TABLE {} ENABLE ROW LEVEL SECURITY",
    "force row security": "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY",
    "switch rules off": "ALTER TABLE {} REPLICA IDENTITY FULL",
    "set storage": "ALTER TABLE {} SET (autovacuum_enabled = false)",
    "forget at a crash": "ALTER TABLE {} SET UNLOGGED",
    "inherit": "ALTER TABLE {} NO INHERIT pg_class",
    "cluster": "ALTER TABLE {} SET WITHOUT CLUSTER",
    "add a trigger": "CREATE TRIGGER added BEFORE INSERT ON {} EXECUTE FUNCTION {function}()",
    "add a rule": "CREATE RULE added AS ON INSERT TO {} DO INSTEAD NOTHING",
    "add a policy": "CREATE POLICY added ON {}",
    "add an index": "CREATE INDEX ON {} ((1))",
    "comment": "COMMENT ON TABLE {} IS 'x'",
    "index anew": "REINDEX TABLE {}",
    # Without the right PostgreSQL may warn alone: then the root fails.
    "grant": "GRANT TRIGGER ON {0} TO PUBLIC;"
    " SELECT sqrt(has_table_privilege('public', '{0}', 'TRIGGER')::int - 1)",
}
OF_A_SEQUENCE = {
    "set a sequence": "SELECT setval('{}', 1)",
    "read a sequence": "SELECT last_value FROM {}",
    "restart a sequence": "ALTER SEQUENCE {} RESTART",
    "own a sequence": "ALTER SEQUENCE {} OWNER TO CURRENT_USER",
    "lock a sequence": "SELECT 1 FROM {} FOR UPDATE",
    "drop a sequence": "DROP SEQUENCE {} CASCADE",
}
OF_A_FUNCTION = {
    "own a function": "ALTER ROUTINE {} OWNER TO CURRENT_USER",
    "rename a function": "ALTER ROUTINE {} RENAME TO renamed",
    "change a function": "ALTER ROUTINE {} SECURITY DEFINER",
    "drop a function": "DROP ROUTINE {} CASCADE",
    "grant a function": "GRANT EXECUTE ON ROUTINE {} TO PUBLIC",
}
OF_A_SCHEMA = {
    "make a table": "CREATE TABLE {}.made (id int)",
    "make a view": "CREATE VIEW {}.made AS SELECT 1 AS id",
    "make a materialized view": "CREATE MATERIALIZED VIEW {}.made AS SELECT 1 AS id",
    "make a sequence": "CREATE SEQUENCE {}.made",
    "make a function": "CREATE FUNCTION {}.made() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "make a procedure": "CREATE PROCEDURE {}.made() LANGUAGE sql AS 'SELECT 1'",
    "make an aggregate": "CREATE AGGREGATE {}.made (int) (sfunc = int4pl, stype = int)",
    "make a type": "CREATE TYPE {}.made AS ENUM ('x')",
    "make a domain": "CREATE DOMAIN {}.made AS int",
    "make an operator": "CREATE OPERATOR {}.=== (leftarg = int, rightarg = int, function = int4eq)",
    "make a collation": 'CREATE COLLATION {}.made FROM "C"',
    "make a text search": "CREATE TEXT SEARCH CONFIGURATION {}.made (copy = pg_catalog.simple)",
    "own a schema": "ALTER SCHEMA {} OWNER TO CURRENT_USER",
    "rename a schema": "ALTER SCHEMA {} RENAME TO renamed",
    "drop a schema": "DROP SCHEMA {} CASCADE",
}
OF_A_ROLE = {
    "become a role": "SET ROLE {}",
    "sign in as a role": "SET SESSION AUTHORIZATION {}",
    "join a role": "GRANT {} TO CURRENT_USER",
    "give a role a password": "ALTER ROLE {} PASSWORD 'x'",
    "set a role's settings": "ALTER ROLE {} SET work_mem = '1MB'",
    "reset a role's settings": "ALTER ROLE {} RESET ALL",
    "let a role in": "ALTER ROLE {} LOGIN",
    "rename a role": "ALTER ROLE {} RENAME TO renamed",
    "drop a role": "DROP ROLE {}",
    "take what a role owns": "REASSIGN OWNED BY {} TO CURRENT_USER",
    "drop what a role owns": "DROP OWNED BY {}",
    "default rights of a role": "ALTER DEFAULT PRIVILEGES FOR ROLE {} GRANT ALL ON TABLES TO CURRENT_USER",
}
OF_A_DATABASE = {
    "drop a database": "DROP DATABASE {}",
    "rename a database": "ALTER DATABASE {} RENAME TO renamed",
    "own a database": "ALTER DATABASE {} OWNER TO CURRENT_USER",
    "set a database's settings": "ALTER DATABASE {} SET work_mem = '1MB'",
    "limit a database": "ALTER DATABASE {} CONNECTION LIMIT 0",
    "copy a database": "CREATE DATABASE copied TEMPLATE {}",
}
OF_ITSELF = {
    "become a superuser": "ALTER ROLE CURRENT_USER SUPERUSER",
    "make roles": "ALTER ROLE CURRENT_USER CREATEROLE",
    "make databases": "ALTER ROLE CURRENT_USER CREATEDB",
    "replicate": "ALTER ROLE CURRENT_USER REPLICATION",
    "pass by row security": "ALTER ROLE CURRENT_USER BYPASSRLS",
    "limit itself": "ALTER ROLE CURRENT_USER CONNECTION LIMIT 0",
    "end itself": "ALTER ROLE CURRENT_USER VALID UNTIL '2000-01-01'",
    "make a role": "CREATE ROLE made",
    "make a schema": "CREATE SCHEMA made",
    "make a temporary table": "CREATE TEMPORARY TABLE made (id int)",
    "make a temporary view": "CREATE TEMPORARY VIEW made AS SELECT 1 AS id",
    "run a program": "COPY (SELECT 1) TO PROGRAM 'true'",
    "write a file": "COPY (SELECT 1) TO '/tmp/made'",
    "read a file": "SELECT pg_read_file('/etc/hostname')",
    "read part of a file": "SELECT pg_read_binary_file('/etc/hostname', 0, 1)",
    "list a folder": "SELECT pg_ls_dir('/')",
    "look at a file": "SELECT pg_stat_file('/etc/hostname')",
    "list the log": "SELECT * FROM pg_ls_waldir()",
    "read passwords": "SELECT rolpassword FROM pg_authid",
    "read passwords by a view": "SELECT passwd FROM pg_shadow",
    "read who may connect": "SELECT * FROM pg_hba_file_rules",
    "read the server's files of settings": "SELECT * FROM pg_file_settings",
    "read statistics": "SELECT * FROM pg_statistic",
    "read subscriptions": "SELECT subconninfo FROM pg_subscription",
    "read mappings of users": "SELECT * FROM pg_user_mapping",
    "write the catalog": "UPDATE pg_class SET relowner = relowner WHERE false",
    "write rights of functions": "UPDATE pg_proc SET proacl = NULL WHERE false",
    "load a library": "LOAD 'postgres_fdw'",
    "write to the disk now": "CHECKPOINT",
    "read the settings anew": "SELECT pg_reload_conf()",
    "change the log": "SELECT pg_rotate_logfile()",
    "go on with the next log": "SELECT pg_switch_wal()",
    "make a restore point": "SELECT pg_create_restore_point('x')",
    "make a slot": "SELECT pg_create_physical_replication_slot('x')",
    "forget statistics": "SELECT pg_stat_reset()",
    "make a program": "DO 'BEGIN END'",
    "make an event trigger": "CREATE EVENT TRIGGER made ON ddl_command_start EXECUTE FUNCTION {function}()",
    "make a wrapper": "CREATE FOREIGN DATA WRAPPER made",
    "make a language": "CREATE LANGUAGE made HANDLER plpgsql_call_handler",
    "make a publication": "CREATE PUBLICATION made",
    "make a cast": "CREATE CAST (int AS point) WITHOUT FUNCTION",
    "make an access method": "CREATE ACCESS METHOD made TYPE INDEX HANDLER bthandler",
    "make a large object": "SELECT lo_create(0)",
    "make a large object the old way": "SELECT lo_creat(-1)",
    "fill a large object": "SELECT lo_from_bytea(0, 'x')",
    "read a file as a large object": "SELECT lo_import('/etc/hostname')",
}
ALONE = {
    "make a database": "CREATE DATABASE made",
    "make a place of tables": "CREATE TABLESPACE made LOCATION '/tmp'",
    "set the server's settings": "ALTER SYSTEM SET work_mem = '1MB'",
    "subscribe": "CREATE SUBSCRIPTION made CONNECTION 'dbname=x' PUBLICATION p"
    " WITH (connect = false, slot_name = NONE)",
}
IN_PUBLIC = "pronamespace = 'public'::regnamespace"
CATALOG = (
    (OF_A_SEQUENCE, "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S'"),
    (OF_A_FUNCTION, f"SELECT oid::regprocedure::text FROM pg_proc WHERE {IN_PUBLIC}"),
    (OF_A_SCHEMA, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'"),
    (OF_A_DATABASE, "SELECT quote_ident(datname) FROM pg_database"),
)
EXTENSIONS = """SELECT DISTINCT name FROM pg_available_extension_versions
    WHERE requires IS NULL AND NOT installed ORDER BY name"""
SETTINGS = "SELECT name FROM pg_settings WHERE context = 'superuser'"


def of_role(connection, rights, kind):
    """All statements that a role tries, as the owner of the tables sees the catalog."""
    tables = _columns(connection)
    triggers = f"SELECT proname FROM pg_proc WHERE {IN_PUBLIC} AND prorettype = 'trigger'::regtype"
    function = _names(connection, triggers)[0]
    for table, columns in tables.items():
        yield from _on_table(table, columns, rights.get(table, NOTHING), function)
    for templates, query in CATALOG:
        for name in _names(connection, query):
            for what, text in templates.items():
                yield Statement(what, text.format(name), is_alone=templates is OF_A_DATABASE)
    yield from _calls(connection, kind)
    yield from _of_the_server(connection, kind, function)


def _of_the_server(connection, kind, function):
    """What concerns no table: other roles, extensions, settings, and powers of the role itself."""
    for name in _names(connection, f"SELECT rolname FROM pg_roles WHERE rolname <> 'hazemap_{kind}'"):
        for what, text in OF_A_ROLE.items():
            yield Statement(what, text.format(name))
    for name in _names(connection, EXTENSIONS):
        yield Statement("make an extension", f'CREATE EXTENSION "{name}"')
    for name in _names(connection, SETTINGS):
        yield Statement("set what a superuser sets", f"SET {name} TO DEFAULT")
    for what, text in OF_ITSELF.items():
        yield Statement(what, text.format(function=function))
    for what, text in ALONE.items():
        yield Statement(what, text, is_alone=True)


def _on_table(table, columns, rights, function):
    whole = {right for right in rights if not isinstance(right, ColumnRights)}
    part = {right.right: set(right.names) for right in rights if isinstance(right, ColumnRights)}
    may = {right: {c for c in columns if right in whole or c in part.get(right, ())} for right in _OF_COLUMNS}
    first = next(iter(columns))
    for column in columns:
        yield Statement("read a column", f'SELECT "{column}" FROM {table} LIMIT 0', column in may["SELECT"])
        yield Statement(
            "write a column", f'UPDATE {table} SET "{column}" = NULL WHERE false', column in may["UPDATE"]
        )
        insert = f'INSERT INTO {table} ("{column}") SELECT NULL WHERE false'
        yield Statement("fill a column", insert, column in may["INSERT"])
    reads = may["SELECT"] == set(columns)
    locks = bool(may["SELECT"] and may["UPDATE"])
    yield Statement("read a table", f"SELECT * FROM {table} LIMIT 0", reads)
    yield Statement("count a table", f"SELECT count(*) FROM {table}", bool(may["SELECT"]))
    yield Statement("plan a query", f"EXPLAIN SELECT 1 FROM {table}", bool(may["SELECT"]))
    yield Statement("read where rows lie", f"SELECT ctid FROM {table} LIMIT 0", "SELECT" in whole)
    yield Statement("read who wrote rows", f"SELECT xmin FROM {table} LIMIT 0", "SELECT" in whole)
    yield Statement("copy a table out", f"COPY {table} TO STDOUT", reads)
    yield Statement("copy a table in", f"COPY {table} FROM STDIN", may["INSERT"] == set(columns))
    yield Statement("insert", f"INSERT INTO {table} DEFAULT VALUES", bool(may["INSERT"]))
    yield Statement("delete", f"DELETE FROM {table} WHERE false", "DELETE" in whole)
    merge = f"MERGE INTO {table} USING (SELECT 1) s ON false WHEN MATCHED THEN DELETE"
    yield Statement("merge", merge, {"SELECT", "DELETE"} <= whole)
    for strength in ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"):
        text = f"SELECT 1 FROM {table} WHERE false FOR {strength}"
        yield Statement(f"lock rows for {strength.lower()}", text, locks)
    for mode, needed in LOCKS.items():
        text = f"LOCK TABLE {table} IN {mode} MODE NOWAIT"
        yield Statement(f"lock a table in {mode.lower()}", text, bool(needed & whole))
    for what, text in OF_THE_OWNER.items():
        yield Statement(what, text.format(table, function=function))
    yield Statement("default of a column", f'ALTER TABLE {table} ALTER "{first}" DROP DEFAULT')
    yield Statement("null in a column", f'ALTER TABLE {table} ALTER "{first}" SET STATISTICS 0')
    yield Statement("rename a column", f'ALTER TABLE {table} RENAME "{first}" TO renamed')


_OF_COLUMNS = ("SELECT", "INSERT", "UPDATE")


def _calls(connection, kind):
    """Functions of the schema that are no trigger's, with arguments of NULL."""
    query = f"""SELECT proname, array_to_string(ARRAY(SELECT 'NULL::' || format_type(argument, NULL)
        FROM unnest(proargtypes) argument), ', ') FROM pg_proc
        WHERE {IN_PUBLIC} AND prorettype <> 'trigger'::regtype AND prokind = 'f'"""
    for name, arguments in connection.execute(query).fetchall():
        yield Statement("call a function", f"SELECT {name}({arguments})", kind in FUNCTIONS.get(name, ()))


def _columns(connection):
    """Columns that may be written, by table or view of the schema."""
    query = """SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY relname, attnum"""
    columns = {}
    for table, column in connection.execute(query).fetchall():
        columns.setdefault(table, []).append(column)
    return columns


def _names(connection, query):
    return [name for (name,) in connection.execute(query).fetchall()]
