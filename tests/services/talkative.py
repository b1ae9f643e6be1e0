"""The embedded server with errors that talk about people, and every message to workers written down.

python -m tests.services.talkative PORT
"""

import sys

import django

django.setup()

from celery.signals import before_task_publish  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import OperationalError  # noqa: E402

from heatmaps import queries  # noqa: E402
from heatmaps.ingest import reading  # noqa: E402
from mechanisms.central.sparse_emd import SparseEmd  # noqa: E402

TOLD = "user marker-person was at 47.1123581, 8.5432198"
MESSAGES = settings.STATE_DIR / "messages"


@before_task_publish.connect
def write_down(headers=None, body=None, properties=None, **_others):
    with MESSAGES.open("a") as file:
        file.write(f"{headers} {body} {properties}\n")


def talk(*_arguments, **_options):
    raise ValueError(TOLD)


def read_and_talk(upload, *arguments, **options):
    if "database" in upload.file_name:
        raise OperationalError(TOLD)
    if "program" in upload.file_name:
        raise ZeroDivisionError(TOLD)
    return read(upload, *arguments, **options)


read, reading.read = reading.read, read_and_talk
SparseEmd.release = talk
queries.events_of = talk


if __name__ == "__main__":
    call_command("serve", port=int(sys.argv[1]))
