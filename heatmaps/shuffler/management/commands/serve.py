"""`manage.py shuffler serve`: takes packets and looks after rounds."""

import logging
import resource
import signal
import socket
import ssl
from argparse import ArgumentParser
from types import FrameType
from typing import Any, Final, NoReturn

from django.conf import settings as django_settings
from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application

from heatmaps.front import certificate, server
from heatmaps.shuffler import files, memory, settings
from heatmaps.shuffler.life.polling import Poller
from heatmaps.shuffler.management.command import ShufflerCommand

WEB_THREADS: Final = 4

_log = logging.getLogger(__name__)


class Command(ShufflerCommand):
    help = (
        "Answer devices and look after the rounds of all collections. TLS is ended here, by --certificate "
        "and --key, or by a proxy that HAZEMAP_SHUFFLER_PROXY names."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)
        certificate.add_arguments(parser)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of this process holds keys
        memory.overwrite_what_is_freed()
        try:
            with files.locked(settings.STATE_DIR / "serve.lock", wait=False):
                self._serve(host, port, _tls(options))
        except certificate.BadCertificate as refusal:
            raise CommandError(str(refusal)) from None
        except files.InUse:
            raise CommandError(f"another server uses {settings.STATE_DIR}") from None
        except OverflowError:
            raise CommandError(f"there is no port {port}") from None
        except OSError as error:
            raise CommandError(f"port {port} of {host}: {error.strerror}") from None

    def _serve(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        with socket.create_server((host, port), backlog=1024) as listener:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, _leave)
            poller = Poller()
            poller.start()
            port = listener.getsockname()[1]
            scheme = "http" if tls is None else "https"
            self.stdout.write(f"The shuffler is at {scheme}://{host}:{port} (Ctrl+C stops it)")
            self.stdout.flush()
            try:
                server.create(get_wsgi_application(), listener, threads=WEB_THREADS, tls=tls).run()
            finally:
                poller.stop()


def _tls(options: dict[str, Any]) -> ssl.SSLContext | None:
    """Returns the TLS context of the options. Errors: BadCertificate, CommandError."""
    files = (options["certificate"], options["key"])
    tls = certificate.optional_context(*files)
    if tls is None:
        return None
    if settings.TRUSTED_PROXIES:
        raise CommandError("TLS is ended here or by HAZEMAP_SHUFFLER_PROXY: one of both")
    for doubt in certificate.doubts(*files):
        _log.warning("%s", doubt)
    django_settings.HTTPS = True  # known only now: browsers are told to come by nothing else
    return tls


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    raise SystemExit
