"""Grants what the database lets web processes and workers do, on PostgreSQL.

Tables belong to the role that migrates. Web and workers sign in as two others, which may neither change a
table nor disable a trigger, and which read and write every table but these:

| table | web | workers |
| --- | --- | --- |
| events, reads by administrators, guide files, elections | read, append | read, append |
| the installation | read, append | everything |
| restores | read, change | read |
| what was charged after a restore | read | read |
| migrations that ran | read | read |
| check-ins, enrolments, partial sums of shares, readings, draws before their moment | nothing | everything |
| check-ins in columns | whether an upload has a copy | everything |
| the clock's heartbeat | read | everything |
| second factors and their wrong codes, links to a provider | everything | nothing |
| mail addresses, sessions, tokens, invitations | everything | nothing |
| accounts, their profiles and rules, members | everything | read |

The web hashes names of people who opt out, and bytes of files, so it has the keys; nothing of that needs a
check-in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

EVERYTHING: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")
APPEND: Final = ("SELECT", "INSERT")
READ: Final = ("SELECT",)
CHANGE: Final = ("SELECT", "UPDATE")
NOTHING: Final[tuple[str, ...]] = ()

# For a table that is not named here: everything.
BOTH: Final = {
    "heatmaps_event": APPEND,
    "heatmaps_administratorread": APPEND,
    "heatmaps_guidefile": APPEND,
    "heatmaps_election": APPEND,
    "heatmaps_restoration": READ,
    "heatmaps_restoredcharge": READ,
    "django_migrations": READ,
}
WEB: Final = BOTH | {
    "heatmaps_installation": APPEND,
    "heatmaps_restoration": CHANGE,
    "heatmaps_checkin": NOTHING,
    "heatmaps_enrolment": NOTHING,
    "heatmaps_packedcheckins": NOTHING,
    "heatmaps_drawing": NOTHING,
    "heatmaps_sourcereading": NOTHING,
    "heatmaps_sourcestate": READ,
    "heatmaps_heartbeat": READ,
}
# What lets somebody in, or makes somebody more than they are: a worker needs the name behind a number alone.
WORKER: Final = BOTH | {
    "account_emailaddress": NOTHING,
    "account_emailconfirmation": NOTHING,
    "mfa_authenticator": NOTHING,
    "socialaccount_socialaccount": NOTHING,
    "socialaccount_socialapp": NOTHING,
    "socialaccount_socialtoken": NOTHING,
    "django_session": NOTHING,
    "knox_authtoken": NOTHING,
    "heatmaps_apitoken": NOTHING,
    "heatmaps_codetries": NOTHING,
    "heatmaps_invitation": NOTHING,
    "auth_user": READ,
    "heatmaps_membership": READ,
    "heatmaps_peoplerules": READ,
    "heatmaps_profile": READ,
}
# Where a role may not read a table: columns that it may.
WEB_COLUMNS: Final = {"heatmaps_packedcheckins": ("upload_id",)}

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
        for table, columns in WEB_COLUMNS.items():
            cursor.execute(
                sql.SQL("GRANT SELECT ({}) ON {} TO {}").format(
                    sql.SQL(", ").join(map(sql.Identifier, columns)),
                    sql.Identifier(table),
                    sql.Identifier(web.name),
                )
            )


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


def _on_tables(
    role: str, tables: list[str], exceptions: dict[str, tuple[str, ...]]
) -> Iterator[sql.Composed]:
    name = sql.Identifier(role)
    yield sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name)
    yield sql.SQL("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}").format(name)
    for table in tables:
        if rights := exceptions.get(table, EVERYTHING):
            yield sql.SQL("GRANT {} ON {} TO {}").format(
                sql.SQL(", ").join(map(sql.SQL, rights)), sql.Identifier(table), name
            )
