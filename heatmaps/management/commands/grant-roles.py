# ruff: noqa: N999 - Django takes the name of a command from its file
"""`manage.py grant-roles`: grants the database roles of web, workers and clock, after a migration."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from heatmaps.management import database_roles
from heatmaps.management.database_roles import DatabaseRole, Granted


class Command(BaseCommand):
    help = (
        "Make the PostgreSQL roles that web, workers and clock sign in with, and give them what they need. "
        "Run it as the owner of the tables after every `migrate`. Passwords come from the files that "
        "HAZEMAP_WEB_PASSWORD_FILE, HAZEMAP_WORKER_PASSWORD_FILE and HAZEMAP_CLOCK_PASSWORD_FILE name. "
        "Settings and passwords that a role set for itself are taken back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--web", default="hazemap_web", help="the web processes' role")
        parser.add_argument("--worker", default="hazemap_worker", help="the workers' role")
        parser.add_argument("--clock", default="hazemap_clock", help="the clock's role")

    def handle(self, *args: Any, web: str, worker: str, clock: str, **options: Any) -> None:
        if len({web, worker, clock}) < 3:
            raise CommandError("web, workers and clock need a role each")
        passwords = settings.DATABASE_ROLE_PASSWORDS
        roles = {
            kind: DatabaseRole(name=name, password=passwords[kind.upper()])
            for kind, name in (("web", web), ("worker", worker), ("clock", clock))
        }
        try:
            granted = database_roles.grant(**roles)
        except (database_roles.NotPostgres, database_roles.TooMighty, DatabaseError) as refusal:
            raise CommandError(str(refusal)) from None
        for line in (*_without_password(passwords), *_notes(granted)):
            self.stderr.write(line)
        self.stdout.write(f"{web}, {worker} and {clock} may do what they need, and nothing else")


def _without_password(passwords: dict[str, str]) -> Iterator[str]:
    """Warns where the clock's role has no password."""
    # An installation from before there was a role of the clock has files for the other two.
    if passwords["WORKER"] and not passwords["CLOCK"]:
        yield (
            "The clock's role got no password: name one by HAZEMAP_CLOCK_PASSWORD_FILE and let the clock "
            "sign in with it (docs/how-to/upgrade.md). Until then it works as the workers' role, which reads "
            "check-ins."
        )


def _notes(granted: Granted) -> Iterator[str]:
    if granted.unnamed:
        yield f"Nobody but the owner may touch what no role was named for: {', '.join(granted.unnamed)}"
    if granted.reset:
        yield f"Settings of their own were taken from {', '.join(granted.reset)}"
    if granted.as_superuser:
        yield "The owner of the tables is a superuser of the cluster: docs/how-to/upgrade.md ends that"
    if not granted.owns_database:
        yield "This role does not own the database, so that every role of the cluster may still connect to it"
    if granted.is_open:
        yield (
            "Every role sees sizes of tables and activity of others: have a superuser run "
            f"{database_roles.CLOSING} in this database, then grant again (docs/how-to/deployment.md)"
        )
