"""Fifty analysts at once in four processes, each with a connection of its own; prints outcomes and waits.

python -m tests.services.crowd requests|reserve|update REQUESTS LIMIT

`requests` goes the whole way of a page, `reserve` is the ledger's move alone, `update` one conditional
UPDATE of one row, for comparison.
"""

import json
import multiprocessing
import sys
import threading
import time
from collections import Counter

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from heatmaps.broker import queue  # noqa: E402
from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.ledger.errors import BudgetExceeded  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Membership, Release  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from heatmaps.releases.question import latest_version  # noqa: E402
from heatmaps.releases.request import Plan  # noqa: E402
from tests.services import seed  # noqa: E402

ANALYSTS, PROCESSES = 50, 4
SLUG = "crowded"
REQUEST = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.001", resolution=16)
UPDATE = """UPDATE heatmaps_account SET committed = committed + 1000000000
    WHERE dataset_id = %s AND kind = 'presence' AND committed + 1000000000 <= "limit" """


def make(limit):
    steward, _ = User.objects.get_or_create(username="steward")
    dataset = seed.make_dataset(steward, SLUG, limits={"presence": limit})
    seed.add_checkins(dataset)
    analysts = User.objects.bulk_create(User(username=f"analyst-{number}") for number in range(ANALYSTS))
    Membership.objects.bulk_create(
        Membership(dataset=dataset, user=user, role="analyst") for user in analysts
    )


def request(person, dataset):
    return lambda: lifecycle.request_release(person, dataset, REQUEST)


def reserve(person, dataset):
    """The question is planned before the crowd begins: the other act has nothing to plan."""
    planned = Plan.of(dataset, REQUEST)
    release = seed.new_release(person, planned, latest_version(dataset))
    return lambda: transitions.reserve(release, planned.charges, actor=person)


def update(_person, dataset):
    def go():
        with connection.cursor() as cursor:
            cursor.execute(UPDATE, [dataset.pk])
            if cursor.rowcount != 1:
                raise BudgetExceeded("presence", requested=1, available=0, reserved=0)

    return go


ACTS = {"requests": request, "reserve": reserve, "update": update}


def analyst(act, number, count, barrier, report):
    """One person who asks again as soon as he is answered."""
    person, dataset = User.objects.get(username=f"analyst-{number}"), Dataset.objects.get(slug=SLUG)
    asked = [ACTS[act](person, dataset) for _ in range(count)]
    barrier.wait(timeout=60)
    told = []
    for go in asked:
        began = time.perf_counter()
        try:
            go()
            told.append(("granted", time.perf_counter() - began))
        except BudgetExceeded:
            told.append(("refused", time.perf_counter() - began))
        except Exception as error:  # noqa: BLE001 - the test wants to see it
            told.append((type(error).__name__, time.perf_counter() - began))
    connection.close()
    report(told)


def process(act, numbers, count, barrier, answers):
    queue._send = lambda _task, _ids: None  # nobody works here
    told = []
    crowd = [
        threading.Thread(target=analyst, args=(act, number, count, barrier, told.extend))
        for number in numbers
    ]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    answers.put(told)


def crowd(act, count):
    # Forked after the imports, before any connection.
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(ANALYSTS), context.SimpleQueue()
    connections.close_all()
    processes = [
        context.Process(target=process, args=(act, range(at, ANALYSTS, PROCESSES), count, barrier, answers))
        for at in range(PROCESSES)
    ]
    for one in processes:
        one.start()
    told = [line for _ in processes for line in answers.get()]
    for one in processes:
        one.join()
    return told


def main(act, requests, limit):
    settings.MOST_QUESTIONS_A_DAY = {"person": 10_000, "dataset": 10_000}
    make(limit)
    began = time.perf_counter()
    told = crowd(act, int(requests) // ANALYSTS)
    seconds = time.perf_counter() - began
    dataset = Dataset.objects.get(slug=SLUG)
    waits = sorted(waited for _, waited in told)
    return {
        "outcomes": Counter(outcome for outcome, _ in told),
        "committed": dataset.accounts.get(kind="presence").committed,
        "releases": Release.objects.filter(dataset=dataset).count(),
        "problem": "" if act == "update" else verify(dataset).problem,
        "seconds": seconds,
        "median": waits[len(waits) // 2],
        "p95": waits[int(len(waits) * 0.95)],
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
