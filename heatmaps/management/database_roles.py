"""Grants roles of the database what `database_rights` says, on PostgreSQL."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from heatmaps.management.database_rights import CLOCK, FUNCTIONS, NOTHING, WEB, WORKER, ColumnRights, Tables

CLOSING: Final = Path(__file__).with_name("closing.sql")

_TABLES: Final = """SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname"""
# Columns of GENERATED … AS IDENTITY need no right to their sequence, those of `serial` do.
_SERIALS: Final = """SELECT held.relname, sequence.relname FROM pg_depend
    JOIN pg_class sequence ON sequence.oid = objid AND sequence.relkind = 'S'
    JOIN pg_class held ON held.oid = refobjid
    WHERE deptype = 'a' AND classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass
    AND sequence.relnamespace = 'public'::regnamespace"""
_FUNCTIONS: Final = """SELECT proname, oid::regprocedure::text FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND pg_has_role(proowner, 'USAGE')"""
_ROLE: Final = """SELECT pg_has_role(oid, current_user, 'MEMBER'), rolsuper OR rolreplication OR rolbypassrls,
        rolcreaterole OR rolcreatedb,
        ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = oid)
    FROM pg_roles WHERE rolname = %s"""
_SETTINGS: Final = """SELECT datname FROM pg_db_role_setting
    LEFT JOIN pg_database ON setdatabase = pg_database.oid WHERE setrole = %s::regrole"""
# Where closing.sql was run, nobody else takes such a lock; elsewhere everybody may, and it says nothing.
_PACKING: Final = "GRANT EXECUTE ON FUNCTION pg_try_advisory_xact_lock(bigint) TO {}"
_MAY_MIGRATE: Final = """SELECT pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables
    WHERE schemaname = current_schema() AND tablename = 'django_migrations'"""
_STATE: Final = """SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
        pg_has_role(datdba, 'USAGE'), datname,
        has_function_privilege(%s, 'pg_relation_size(regclass)', 'EXECUTE')
    FROM pg_database WHERE datname = current_database()"""


class NotPostgres(Exception):  # noqa: N818 - reads as what it says
    """Refuses the embedded database, which is a file: whoever may read it may do everything."""


class TooMighty(Exception):  # noqa: N818 - reads as what it says
    """Refuses a role that may do more than web, workers or the clock shall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRole:
    """Names a role to sign in with; no password: it keeps the one it has, or is let in without one."""

    name: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Tells an operator what came of a grant."""

    unnamed: tuple[str, ...]  # tables that `database_rights` does not name for every role
    reset: tuple[str, ...]  # roles that had settings of their own
    as_superuser: bool
    owns_database: bool  # else everybody may still connect, who may sign in to the cluster
    is_open: bool  # web sees sizes and activity: closing.sql was not run by a superuser


def grant(*, web: DatabaseRole, worker: DatabaseRole, clock: DatabaseRole) -> Granted:
    """Makes the three roles where they are missing and gives them what `database_rights` says, nothing else.

    The owner of the tables calls it after each migration, in one transaction, while others may work. Settings
    that a role made for itself are taken back.
    Errors: NotPostgres; TooMighty; DatabaseError for whoever is not the owner, or may make no roles.
    """
    if connection.vendor != "postgresql":
        raise NotPostgres("roles are PostgreSQL's; the embedded database has none")
    rights = {"web": (web, WEB), "worker": (worker, WORKER), "clock": (clock, CLOCK)}
    roles = {kind: role.name for kind, (role, _) in rights.items()}
    with transaction.atomic(), connection.cursor() as cursor:
        tables = [name for (name,) in _rows(cursor, _TABLES)]
        serials = _rows(cursor, _SERIALS)
        reset = tuple(role.name for role, _ in rights.values() if _sign_in(cursor, role))
        for statement in (
            *_on_database(cursor, roles.values()),
            *(
                each
                for role, named in rights.values()
                for each in _on_tables(role.name, tables, serials, named)
            ),
            *_on_functions(roles, _rows(cursor, _FUNCTIONS)),
        ):
            cursor.execute(statement)
        is_superuser, owns_database, _, _ = _state(cursor, web.name)
        if is_superuser:
            cursor.execute(CLOSING.read_text())
        cursor.execute(sql.SQL(_PACKING).format(sql.Identifier(worker.name)))
        return Granted(
            unnamed=tuple(
                table for table in tables if not all(table in named for _, named in rights.values())
            ),
            reset=reset,
            as_superuser=bool(is_superuser),
            owns_database=bool(owns_database),
            is_open=bool(_state(cursor, web.name)[3]),
        )


def may_migrate() -> bool:
    """Returns whether this process signs in as the owner of the tables, or finds none."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(_MAY_MIGRATE)
        row = cursor.fetchone()
    return row is None or bool(row[0])


def reads_check_ins() -> bool:
    """Returns whether this process's role reads check-ins; the embedded database knows no roles."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege('heatmaps_checkin', 'SELECT')")
        return bool(cursor.fetchone()[0])


def _rows(cursor: CursorWrapper, query: str, *values: str) -> list[tuple[str, ...]]:
    cursor.execute(query, values)
    return list(cursor.fetchall())


def _state(cursor: CursorWrapper, web: str) -> tuple[object, ...]:
    cursor.execute(_STATE, [web])
    (row,) = cursor.fetchall()
    return tuple(row)


def _sign_in(cursor: CursorWrapper, role: DatabaseRole) -> bool:
    """Lets the role sign in, with the server's settings; True where it had others."""
    name = sql.Identifier(role.name)
    cursor.execute(_ROLE, [role.name])
    row = cursor.fetchone()
    if row is None:
        cursor.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
    else:
        _check(role.name, *row)
        if row[2]:
            cursor.execute(sql.SQL("ALTER ROLE {} NOCREATEROLE NOCREATEDB").format(name))
    if role.password:
        cursor.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(name, sql.Literal(role.password)))
    settings = _rows(cursor, _SETTINGS, sql.Identifier(role.name).as_string())
    for (database,) in settings:
        place = sql.SQL("IN DATABASE {}").format(sql.Identifier(database)) if database else sql.SQL("")
        cursor.execute(sql.SQL("ALTER ROLE {} {} RESET ALL").format(name, place))
    return bool(settings)


def _check(name: str, is_owner: bool, is_mighty: bool, _makes_others: bool, groups: list[str]) -> None:
    if is_owner or is_mighty:
        raise TooMighty(f"the role {name} may act as the owner of the tables; take another one")
    if groups:
        raise TooMighty(
            f"the role {name} has the rights of {', '.join(sorted(groups))}, too; revoke them, or take "
            "another one"
        )


def _on_database(cursor: CursorWrapper, roles: Iterable[str]) -> Iterator[sql.Composed]:
    cursor.execute("SELECT current_database()")
    (database,) = (sql.Identifier(name) for (name,) in cursor.fetchall())
    yield sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database)
    yield sql.Composed([sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC")])
    for role in map(sql.Identifier, roles):
        yield sql.SQL("REVOKE ALL ON DATABASE {} FROM {}").format(database, role)
        yield sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, role)
        yield sql.SQL("REVOKE ALL ON SCHEMA public FROM {}").format(role)
        yield sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(role)


def _on_tables(
    role: str, tables: list[str], serials: list[tuple[str, ...]], named: Tables
) -> Iterator[sql.Composed]:
    name = sql.Identifier(role)
    yield sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name)
    yield sql.SQL("REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {}").format(name)
    for table in tables:
        if rights := named.get(table, NOTHING):
            yield sql.SQL("GRANT {} ON {} TO {}").format(
                sql.SQL(", ").join(map(_right, rights)), sql.Identifier(table), name
            )
    for table, sequence in serials:
        if "INSERT" in named.get(table, NOTHING):
            yield sql.SQL("GRANT USAGE ON SEQUENCE {} TO {}").format(sql.Identifier(sequence), name)


def _on_functions(roles: dict[str, str], functions: list[tuple[str, ...]]) -> Iterator[sql.Composed]:
    for name, signature in functions:
        function = sql.SQL(signature)  # as PostgreSQL quotes it itself
        for holder in (sql.SQL("PUBLIC"), *map(sql.Identifier, roles.values())):
            yield sql.SQL("REVOKE ALL ON ROUTINE {} FROM {}").format(function, holder)
        for kind in FUNCTIONS.get(name, ()):
            yield sql.SQL("GRANT EXECUTE ON ROUTINE {} TO {}").format(function, sql.Identifier(roles[kind]))


def _right(right: str | ColumnRights) -> sql.Composable:
    if isinstance(right, ColumnRights):
        columns = sql.SQL(", ").join(map(sql.Identifier, right.names))
        return sql.SQL("{} ({})").format(sql.SQL(right.right), columns)
    return sql.SQL(right)
