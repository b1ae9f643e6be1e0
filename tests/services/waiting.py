"""A worker process whose one thread for files is held up, and a release that is drawn beside it.

python -m tests.services.waiting
"""

import json
import os
import sys
import threading

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connections  # noqa: E402

from heatmaps.broker import queue  # noqa: E402
from heatmaps.config.celery import app as celery_app  # noqa: E402
from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.management import embedded_worker  # noqa: E402
from heatmaps.releases import clock, lifecycle  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.programs import wait_until  # noqa: E402

REQUEST = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.5", resolution=2)
PATIENCE_SECONDS = 60


def work(tasks, told):
    """The worker that `serve` starts, with a file that is never read to its end."""
    os.dup2(tasks, 0)
    os.dup2(told, 1)
    sys.stdin = os.fdopen(0)

    def read_for_ever(_upload_id):
        os.write(1, b"reading\n")
        threading.Event().wait()

    uploads.run = read_for_ever
    embedded_worker.STOP_SECONDS = 0
    embedded_worker.work(celery_app)


def forked():
    """Where tasks are written to, and where the worker is read from."""
    (tasks, hand_over), (listen, told) = os.pipe(), os.pipe()
    connections.close_all()
    if os.fork() == 0:
        for end in (hand_over, listen):
            os.close(end)
        work(tasks, told)
    for end in (tasks, told):
        os.close(end)
    return os.fdopen(hand_over, "wb", buffering=0), os.fdopen(listen, "rb")


def main():
    steward = User.objects.create_user("steward")
    dataset = seed.make_dataset(steward, "waiting")
    seed.add_checkins(dataset)
    worker, said = forked()
    queue._send = lambda name, ids: worker.write(json.dumps([name, *ids]).encode() + b"\n")
    assert said.readline() == b"ready\n"
    queue.send(queue.INGEST, "00000000-0000-4000-8000-000000000000")
    assert said.readline() == b"reading\n"
    release = lifecycle.request_release(steward, dataset, REQUEST)

    def is_over():
        clock.tick()
        release.refresh_from_db()
        return release.state not in ("reserved", "spent")

    try:
        wait_until(is_over, seconds=PATIENCE_SECONDS, what="the end of the release")
    finally:
        worker.close()
    return {"state": release.state, "left": said.read().decode()}


if __name__ == "__main__":
    print(json.dumps(main()))
