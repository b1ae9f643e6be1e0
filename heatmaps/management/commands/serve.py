"""`manage.py serve`: migrates, resumes pending work, answers requests."""

import os
import socket
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.wsgi import get_wsgi_application
from django.db import connection

from heatmaps import schema
from heatmaps.http import counters
from heatmaps.management import database_roles, server


class Command(BaseCommand):
    help = (
        "Serve pages and API from one process. Without HAZEMAP_BROKER_URL it also runs the clock and a "
        "worker process; with Redis those are `manage.py clock` and `celery -A heatmaps.config worker`."
    )
    requires_system_checks = []  # they open the database before the port is known to be free

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        alone = server.only_server(settings.STATE_DIR) if server.is_embedded() else nullcontext()
        try:
            with server.listen(host, port) as listener, alone:
                self._serve(listener, f"http://{host}:{listener.getsockname()[1]}")
        except server.CannotServe as refusal:
            raise CommandError(str(refusal)) from None

    def _serve(self, listener: socket.socket, address: str) -> None:
        self.check()
        if problem := counters.eviction_problem():
            raise server.CannotServe(problem)
        settings.STATIC_ROOT.mkdir(exist_ok=True)  # nothing is collected; whitenoise warns without it
        self._migrate()
        background = server.Background(embedded=server.is_embedded())
        background.start()
        self.stdout.write(f"Hazemap is at {address} (Ctrl+C stops it)")
        self.stdout.flush()
        try:
            server.serve_web(get_wsgi_application(), listener)
        finally:
            background.stop()

    def _migrate(self) -> None:
        if database_roles.may_migrate():
            call_command("migrate", interactive=False, verbosity=0)
        elif schema.is_behind(connection):
            raise server.CannotServe(
                "the database waits for migrations; as the owner of its tables run `manage.py migrate` and "
                "then `manage.py grant-roles`"
            )
