"""Many requests at once, as threads of this process or as processes of their own; prints the outcomes.

python -m tests.services.race seed SLUG LIMIT | threads SLUG COUNT | processes SLUG COUNT
"""

import json
import multiprocessing
import sys
import threading
import time

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from heatmaps import releases  # noqa: E402
from heatmaps.ledger.errors import BudgetExceeded  # noqa: E402
from heatmaps.models import Dataset, Release  # noqa: E402
from tests.services import seed  # noqa: E402

REQUEST = releases.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)


def make(slug, limit):
    steward, _ = User.objects.get_or_create(username="steward")
    seed.add_checkins(seed.make_dataset(steward, slug, limits={"presence": limit}))
    return {}


def ask(slug, barrier, report):
    """One request, from a connection of its own, when everybody is ready."""
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    barrier.wait(timeout=60)
    began = time.perf_counter()
    try:
        releases.request_release(person, dataset, REQUEST)
        outcome = "granted"
    except BudgetExceeded:
        outcome = "refused"
    except Exception as error:  # noqa: BLE001 - the test wants to see it
        outcome = f"{type(error).__name__}: {error}"
    report((outcome, time.perf_counter() - began))
    connection.close()


def in_threads(slug, count):
    barrier, outcomes = threading.Barrier(count), []
    crowd = [threading.Thread(target=ask, args=(slug, barrier, outcomes.append)) for _ in range(count)]
    return _gathered(slug, crowd, lambda: outcomes)


def in_processes(slug, count):
    # Forked after the imports, before any connection: 64 interpreters would take minutes to start.
    context = multiprocessing.get_context("fork")
    barrier, queue = context.Barrier(count), context.SimpleQueue()
    connections.close_all()
    crowd = [context.Process(target=ask, args=(slug, barrier, queue.put)) for _ in range(count)]
    return _gathered(slug, crowd, lambda: [queue.get() for _ in range(count)])


def _gathered(slug, crowd, outcomes):
    began = time.perf_counter()
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    found = outcomes()
    seconds = sorted(time_taken for _, time_taken in found)
    return {
        "outcomes": [outcome for outcome, _ in found],
        "seconds": time.perf_counter() - began,
        "median_wait": seconds[len(seconds) // 2],
        "releases": Release.objects.filter(dataset__slug=slug, state="reserved").count(),
        "committed": Dataset.objects.get(slug=slug).accounts.get(kind="presence").committed,
    }


def main(act, slug, number):
    work = {"seed": make, "threads": in_threads, "processes": in_processes}[act]
    return work(slug, number if act == "seed" else int(number))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
