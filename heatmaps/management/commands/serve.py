"""`manage.py serve`: migrates, resumes pending work, answers requests."""

import os
import socket
import ssl
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.wsgi import get_wsgi_application
from django.db import connection

from heatmaps import schema
from heatmaps.children import notice
from heatmaps.front import certificate as certificates
from heatmaps.front import proxy
from heatmaps.http import counters
from heatmaps.management import database_roles, metrics, server, spooled_files
from heatmaps.record import elections, hold, place
from heatmaps.record.hold import OnHold


class Command(BaseCommand):
    help = (
        "Serve pages and API from one process. Without HAZEMAP_BROKER_URL it also runs the clock and a "
        "worker process; with Redis those are `manage.py clock` and `celery -A heatmaps.config worker`."
    )
    requires_system_checks = []  # they open the database before the port is known to be free

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        # argparse reads the default as it reads what is given
        parser.add_argument("--port", type=server.port, default=os.environ.get("PORT", "8000"))
        parser.add_argument("--demo", action="store_true", help="make the demo city first, if missing")
        certificates.add_arguments(parser)

    def handle(
        self,
        *args: Any,
        host: str,
        port: int,
        demo: bool,
        certificate: Path | None,
        key: Path | None,
        **options: Any,
    ) -> None:
        alone = server.only_server(settings.STATE_DIR) if server.is_embedded() else nullcontext()
        try:
            tls = certificates.optional_context(certificate, key)
            _check_origin(tls)
            for doubt in filter(None, [proxy.doubt(), *certificates.doubts(certificate, key)]):
                self.stderr.write(self.style.WARNING(doubt))
            with server.listen(host, port) as listener, metrics.listener() as watched, alone:
                self._prepare(demo)
                scheme = "http" if tls is None else "https"
                self._serve(listener, watched, f"{scheme}://{host}:{listener.getsockname()[1]}", tls)
        except (server.CannotServe, certificates.BadCertificate) as refusal:
            raise CommandError(str(refusal)) from None

    def _prepare(self, demo: bool) -> None:
        self.check()
        notice.warn()
        if settings.WEB_KEY_DIR is None:
            raise server.CannotServe("web needs its keys: HAZEMAP_WEB_KEY_DIR is none, as for workers")
        if problem := counters.eviction_problem():
            raise server.CannotServe(problem)
        spooled_files.move_old()
        self._migrate()
        self._look_at_record()
        if demo:
            call_command("createdemo", stdout=self.stdout)
        elif not User.objects.exists():
            self.stdout.write(
                f"Nobody can sign in yet: `{settings.PROGRAM} createdemo --empty` makes the first accounts, "
                f"and `{settings.PROGRAM} serve --demo` a demo city, too"
            )

    def _look_at_record(self) -> None:
        """Says whether the installation is on hold; its pages say so, too. Errors: CannotServe."""
        try:
            place.check()
            if server.is_embedded():
                elections.look()
        except OnHold:
            cause = hold.cause()
            reason = "" if cause is None else cause.label
            self.stderr.write(
                self.style.WARNING(
                    f"On hold: {reason}. Nothing is drawn and no page is shown until you say what happened: "
                    f"`{settings.PROGRAM} resume --help`"
                )
            )
        except place.RecordError as refusal:
            raise server.CannotServe(str(refusal)) from None

    def _serve(
        self, listener: socket.socket, watched: socket.socket | None, address: str, tls: ssl.SSLContext | None
    ) -> None:
        background = server.Background(embedded=server.is_embedded())
        background.start()
        if watched is not None:
            metrics.start(watched, background.stopping)
        self.stdout.write(f"Hazemap is at {address} (Ctrl+C stops it)")
        self.stdout.flush()
        try:
            server.serve_web(get_wsgi_application(), listener, tls)
        finally:
            background.stop()

    def _migrate(self) -> None:
        if database_roles.may_migrate():
            call_command("migrate", interactive=False, verbosity=0)
        elif schema.is_behind(connection):
            raise server.CannotServe(
                "the database waits for migrations; as the owner of its tables run "
                f"`{settings.PROGRAM} migrate` and then `{settings.PROGRAM} grant-roles`"
            )


def _check_origin(tls: ssl.SSLContext | None) -> None:
    """Cookies and redirections follow the origin, so it must be the true one. Errors: CannotServe."""
    if tls is not None and not settings.HTTPS:
        raise server.CannotServe(
            "--certificate needs HAZEMAP_ORIGINS=https://..., the origin that browsers show, and "
            "HAZEMAP_PROXY=none: else cookies would also go out without TLS"
        )
    if tls is None and settings.HTTPS and not settings.TRUSTED_PROXIES:
        raise server.CannotServe(
            "HAZEMAP_ORIGINS says https and HAZEMAP_PROXY=none: give --certificate and --key, or name a proxy"
        )
