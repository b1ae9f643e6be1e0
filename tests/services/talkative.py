"""The embedded server with errors that talk about people, and every message to workers written down.

python -m tests.services.talkative PORT|work
"""

import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import OperationalError  # noqa: E402

from heatmaps import queries  # noqa: E402
from heatmaps.broker import queue  # noqa: E402
from heatmaps.config.celery import app as celery_app  # noqa: E402
from heatmaps.ingest import reading  # noqa: E402
from heatmaps.management import embedded_worker  # noqa: E402
from mechanisms.central.sparse_emd.mechanism import SparseEmd  # noqa: E402

TOLD = "user marker-person was at 47.1123581, 8.5432198"
MESSAGES = settings.STATE_DIR / "messages"


def write_down(task_name, ids):
    """What a process says to the worker, and the worker to itself."""
    with MESSAGES.open("a") as file:
        file.write(f"{task_name} {ids}\n")
    send(task_name, ids)


def talk(*_arguments, **_options):
    raise ValueError(TOLD)


def read_and_talk(upload, *arguments, **options):
    if "database" in upload.file_name:
        raise OperationalError(TOLD)
    if "program" in upload.file_name:
        raise ZeroDivisionError(TOLD)
    return read(upload, *arguments, **options)


send, queue._send = queue._send, write_down
read, reading.read = reading.read, read_and_talk
SparseEmd.release = talk
queries.events_of = talk


if __name__ == "__main__":
    if sys.argv[1] == "work":
        embedded_worker.work(celery_app)
    else:
        embedded_worker.COMMAND = [sys.executable, "-m", "tests.services.talkative", "work"]
        call_command("serve", port=int(sys.argv[1]))
