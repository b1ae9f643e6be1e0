"""Many requests at once, as threads of this process or as processes of their own; prints the outcomes.

python -m tests.services.race threads|processes|cancel|redeliver COUNT LIMIT
"""

import json
import multiprocessing
import sys
import threading
import time
from functools import partial

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.ledger.errors import BudgetExceeded  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Release  # noqa: E402
from heatmaps.releases import clock, lifecycle  # noqa: E402
from mechanisms.central.sparse_emd.mechanism import SparseEmd  # noqa: E402
from tests.services import seed  # noqa: E402

REQUEST = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)


def make(slug, limit):
    steward, _ = User.objects.get_or_create(username="steward")
    seed.add_checkins(seed.make_dataset(steward, slug, limits={"presence": limit}))


def ask(slug, barrier, report):
    """One request, from a connection of its own, when everybody is ready."""
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    barrier.wait(timeout=60)
    began = time.perf_counter()
    try:
        lifecycle.request_release(person, dataset, REQUEST)
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


def cancel(slug, count):
    """For each of some releases, in datasets of their own: who spends it and who finds it expired."""
    person = User.objects.get(username="steward")
    barrier, won = threading.Barrier(2 * count), []

    def go(name, move, release):
        barrier.wait(timeout=60)
        if move(release.pk):
            won.append((name, str(release.pk)))
        connection.close()

    crowd = []
    for number in range(count):
        made = seed.make_dataset(person, f"{slug}-{number}")
        seed.add_checkins(made)
        release = lifecycle.request_release(person, made, REQUEST)
        for name, move in (
            ("spend", transitions.spend),
            ("cancel", partial(transitions.cancel, actor=None)),
        ):
            crowd.append(threading.Thread(target=go, args=(name, move, release)))
    _joined(crowd)
    made = Dataset.objects.filter(slug__startswith=f"{slug}-")
    held = [one.accounts.get(kind="presence").committed for one in made]
    return {"won": won, "held": sum(held), "problems": [verify(one).problem for one in made]}


def redeliver(slug, count):
    """The same message to many workers at once."""
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    release = lifecycle.request_release(person, dataset, REQUEST)
    barrier, draws, draw = threading.Barrier(count), [], SparseEmd.release
    SparseEmd.release = lambda *arguments: (draws.append(1), draw(*arguments))[1]

    def go():
        barrier.wait(timeout=60)
        clock.tick()
        lifecycle.run(release.pk)
        connection.close()

    _joined([threading.Thread(target=go) for _ in range(count)])
    clock.complete(release.pk)
    release.refresh_from_db()
    return {"draws": len(draws), "state": release.state}


def _joined(crowd):
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()


def _gathered(slug, crowd, outcomes):
    began = time.perf_counter()
    _joined(crowd)
    found = outcomes()
    seconds = sorted(time_taken for _, time_taken in found)
    return {
        "outcomes": [outcome for outcome, _ in found],
        "seconds": time.perf_counter() - began,
        "median_wait": seconds[len(seconds) // 2],
        "releases": Release.objects.filter(dataset__slug=slug, state="reserved").count(),
    }


def main(act, count, limit):
    """Everything in one process: a dataset with that limit on ε, the race, then what the ledger says."""
    make(act, limit)
    told = {"threads": in_threads, "processes": in_processes, "cancel": cancel, "redeliver": redeliver}[act](
        act, int(count)
    )
    dataset = Dataset.objects.get(slug=act)
    verified = verify(dataset)
    return told | {
        "committed": dataset.accounts.get(kind="presence").committed,
        # Where the machine is busy, a slot is missed, and postponed; or a draw is late.
        "events": verified.events - dataset.events.filter(kind__in=["postpone", "late"]).count(),
        "problem": verified.problem,
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
