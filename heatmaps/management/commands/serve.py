"""`manage.py serve`: migrate, take up what is to be done, answer requests."""

import os
import socket
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.wsgi import get_wsgi_application

from heatmaps import serve


class Command(BaseCommand):
    help = (
        "Serve pages and API from one process. With the in-process broker (no HAZEMAP_BROKER_URL) it also "
        "runs the worker and the sweep; with Redis those are `celery -A heatmaps.config worker` and `beat`."
    )
    requires_system_checks = []  # they open the database before the port is known to be free

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            with serve.listen(host, port) as listener, self._alone():
                self._serve(listener, f"http://{host}:{listener.getsockname()[1]}")
        except serve.CannotServe as refusal:
            raise CommandError(str(refusal)) from None

    def _alone(self) -> Any:
        return serve.only_server(settings.STATE_DIR) if serve.is_embedded() else nullcontext()

    def _serve(self, listener: socket.socket, address: str) -> None:
        self.check()
        settings.STATIC_ROOT.mkdir(exist_ok=True)  # nothing is collected; whitenoise warns without it
        call_command("migrate", interactive=False, verbosity=0)
        background = serve.Background(current_app) if serve.is_embedded() else None
        if background is not None:
            background.start()
        self.stdout.write(f"Hazemap is at {address} (Ctrl+C stops it)")
        self.stdout.flush()
        serve.serve_web(get_wsgi_application(), listener)
        if background is not None and not background.stop():
            serve.leave_unfinished_work()
