"""Grants roles of the database what `database_rights` says, on PostgreSQL."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from heatmaps.management.database_rights import EVERYTHING, WEB, WORKER, Columns, Tables

_TABLES: Final = """SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"""
_IS_OWNER: Final = (
    """SELECT rolsuper OR pg_has_role(oid, current_user, 'MEMBER') FROM pg_roles WHERE rolname = %s"""
)
_MAY_MIGRATE: Final = """SELECT pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables
    WHERE schemaname = current_schema() AND tablename = 'django_migrations'"""


class NotPostgres(Exception):  # noqa: N818 - reads as what it says
    """The embedded database is a file: whoever may read it may do everything."""


class TooMighty(Exception):  # noqa: N818 - reads as what it says
    """The role that web or workers would have is the one that they shall not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRole:
    """A role to sign in with; no password: it keeps the one it has, or is let in without one."""

    name: str
    password: str = ""


def grant(*, web: DatabaseRole, worker: DatabaseRole) -> None:
    """Make both roles where they are missing and give them what the table above says, and nothing else.

    The owner of the tables calls it after each migration, in one transaction, while others may work.
    Errors: NotPostgres; TooMighty; DatabaseError for whoever is not the owner, or may make no roles.
    """
    if connection.vendor != "postgresql":
        raise NotPostgres("roles are PostgreSQL's; the embedded database has none")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_TABLES)
        tables = [name for (name,) in cursor.fetchall()]
        for role in (web, worker):
            _sign_in(cursor, role)
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        for statement in (*_on_tables(web.name, tables, WEB), *_on_tables(worker.name, tables, WORKER)):
            cursor.execute(statement)


def may_migrate() -> bool:
    """Whether this process signs in as the owner of the tables, or finds none."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(_MAY_MIGRATE)
        row = cursor.fetchone()
    return row is None or bool(row[0])


def _sign_in(cursor: CursorWrapper, role: DatabaseRole) -> None:
    name = sql.Identifier(role.name)
    cursor.execute(_IS_OWNER, [role.name])
    row = cursor.fetchone()
    if row is None:
        cursor.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
    elif row[0]:
        raise TooMighty(f"the role {role.name} may act as the owner of the tables; take another one")
    if role.password:
        cursor.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(name, sql.Literal(role.password)))
    cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name))


def _on_tables(role: str, tables: list[str], exceptions: Tables) -> Iterator[sql.Composed]:
    name = sql.Identifier(role)
    yield sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name)
    yield sql.SQL("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}").format(name)
    for table in tables:
        if rights := exceptions.get(table, EVERYTHING):
            yield sql.SQL("GRANT {} ON {} TO {}").format(
                sql.SQL(", ").join(map(_right, rights)), sql.Identifier(table), name
            )


def _right(right: str | Columns) -> sql.Composable:
    if isinstance(right, Columns):
        columns = sql.SQL(", ").join(map(sql.Identifier, right.names))
        return sql.SQL("{} ({})").format(sql.SQL(right.right), columns)
    return sql.SQL(right)
