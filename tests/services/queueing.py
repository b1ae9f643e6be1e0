"""Moves of one ledger that arrive while another holds it, on PostgreSQL; prints how they were let in.

python -m tests.services.queueing
"""

import json
import threading
from functools import partial

import django

django.setup()

import psycopg  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402

from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.ledger.transitions import locks  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Release  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from heatmaps.releases.question import latest_version  # noqa: E402
from heatmaps.releases.request import Plan  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.programs import wait_until  # noqa: E402

SLUG = "queue"
settings.SLOT_SECONDS = dict.fromkeys(settings.SLOT_SECONDS, 3600)  # the second can be cancelled for an hour
REQUEST = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.001", resolution=16)
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def new_release(dataset):
    """Not yet asked for, and what it is charged."""
    planned = Plan.of(dataset, REQUEST)
    person = User.objects.get(username="steward")
    version = latest_version(dataset)
    return seed.new_release(person, planned, version), planned.charges


def reserve(dataset):
    release, charges = new_release(dataset)
    return transitions.reserve(release, charges, actor=release.requested_by)


def moves(dataset):
    """Five moves, each called when those before it wait; the kinds of their events."""
    steward = User.objects.get(username="steward")
    first, second = reserve(dataset), reserve(dataset)
    acts = [
        partial(reserve, dataset),
        partial(transitions.spend, first.pk),
        partial(reserve, dataset),
        partial(transitions.cancel, second.pk, actor=steward),
        partial(transitions.record, dataset, "note", actor=steward, before={}, after={"text": "x"}),
    ]
    before = dataset.events.count()
    crowd = [threading.Thread(target=_alone, args=(act,)) for act in acts]
    with psycopg.connect(**connection.get_connection_params()) as holder:
        holder.execute(locks._QUEUE, [dataset.pk])
        for ahead, one in enumerate(crowd):
            one.start()
            wait_until(partial(_are_waiting, ahead + 1), seconds=20, what=f"move {ahead + 1} in the queue")
    for one in crowd:
        one.join()
    return list(dataset.events.order_by("sequence").values_list("kind", flat=True))[before:]


def _alone(act):
    """In a connection of its own."""
    try:
        act()
    finally:
        connection.close()


def _are_waiting(count):
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return cursor.fetchone()[0] == count


def main():
    dataset = Dataset.objects.filter(slug=SLUG).first()
    if dataset is None:
        steward, _ = User.objects.get_or_create(username="steward")
        dataset = seed.make_dataset(steward, SLUG)
        seed.add_checkins(dataset)
    return {
        "kinds": moves(dataset),
        "releases": Release.objects.count(),
        "problem": verify(dataset).problem,
    }


if __name__ == "__main__":
    print(json.dumps(main()))
