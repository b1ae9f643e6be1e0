# ruff: noqa: N999 - Django takes the name of a command from its file
"""`manage.py grant-roles`: grants the database roles of web and workers after a migration (PostgreSQL)."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from heatmaps.management import database_roles
from heatmaps.management.database_roles import DatabaseRole


class Command(BaseCommand):
    help = (
        "Make the PostgreSQL roles that web and workers sign in with, and give them what they need. Run it "
        "as the owner of the tables after every `migrate`. Passwords come from the files that "
        "HAZEMAP_WEB_PASSWORD_FILE and HAZEMAP_WORKER_PASSWORD_FILE name."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--web", default="hazemap_web", help="the web processes' role")
        parser.add_argument("--worker", default="hazemap_worker", help="the workers' role")

    def handle(self, *args: Any, web: str, worker: str, **options: Any) -> None:
        if web == worker:
            raise CommandError("web and workers need a role each")
        passwords = settings.DATABASE_ROLE_PASSWORDS
        try:
            database_roles.grant(
                web=DatabaseRole(name=web, password=passwords["WEB"]),
                worker=DatabaseRole(name=worker, password=passwords["WORKER"]),
            )
        except (database_roles.NotPostgres, database_roles.TooMighty, DatabaseError) as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{web} and {worker} may do what they need, and nothing else")
