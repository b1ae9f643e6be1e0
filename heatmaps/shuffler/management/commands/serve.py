"""`manage.py shuffler serve`: takes packets and looks after rounds."""

import resource
import signal
import socket
from argparse import ArgumentParser
from types import FrameType
from typing import Any, Final, NoReturn

from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application

from heatmaps.front import server
from heatmaps.shuffler import files, settings
from heatmaps.shuffler.life.polling import Poller
from heatmaps.shuffler.management.command import ShufflerCommand

WEB_THREADS: Final = 4


class Command(ShufflerCommand):
    help = "Answer devices and look after the rounds of all collections; TLS is ended by a proxy before it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of this process holds keys
        try:
            with files.locked(settings.STATE_DIR / "serve.lock", wait=False):
                self._serve(host, port)
        except files.InUse:
            raise CommandError(f"another server uses {settings.STATE_DIR}") from None
        except OverflowError:
            raise CommandError(f"there is no port {port}") from None
        except OSError as error:
            raise CommandError(f"port {port} of {host}: {error.strerror}") from None

    def _serve(self, host: str, port: int) -> None:
        with socket.create_server((host, port), backlog=1024) as listener:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, _leave)
            poller = Poller()
            poller.start()
            port = listener.getsockname()[1]
            self.stdout.write(f"The shuffler is at http://{host}:{port} (Ctrl+C stops it)")
            self.stdout.flush()
            try:
                server.create(get_wsgi_application(), listener, threads=WEB_THREADS).run()
            finally:
                poller.stop()


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    raise SystemExit
