"""What a server does with the database it finds: draws what is queued, or is on hold.

python -m tests.services.going_back [draw SLUG | keep SLUG | report SLUG | ask SLUG EPSILON | kill COUNT]
"""

import contextlib
import json
import os
import signal
import sys
import time

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import Error, connections  # noqa: E402
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402

from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.models import Dataset, Drawing, Election, Release  # noqa: E402
from heatmaps.record import elections, hold  # noqa: E402
from heatmaps.record.hold import OnHold  # noqa: E402
from heatmaps.releases import clock, draws, lifecycle, sweep  # noqa: E402
from tests.services import killing  # noqa: E402

LONGEST_SECONDS = 120


def draw(slug):
    """Starts as a server does and works until nothing is queued, or everything is on hold."""
    killing.write_down_draws()
    sweep.recover()
    deadline = time.monotonic() + LONGEST_SECONDS
    while killing._queued(slug) and hold.cause() is None and time.monotonic() < deadline:
        clock.tick()
        for release_id in Release.objects.filter(state="spent", drawing=None).values_list("pk", flat=True):
            _try(release_id)
    return report(slug)


def keep(slug):
    """Works as a worker does, whatever becomes of its database, until the file `stop` is there."""
    killing.write_down_draws()
    while not (settings.STATE_DIR / "stop").exists():
        with contextlib.suppress(Error):
            sweep.sweep()
            clock.tick()
            for release_id in Release.objects.filter(state="spent").values_list("pk", flat=True):
                _try(release_id)
        time.sleep(0.1)
    return report(slug)


def report(slug):
    cause = hold.cause()
    maps = Release.objects.filter(state="published").values_list("pk", "result__sha256")
    drawn = killing.DRAWS.read_text().split() if killing.DRAWS.exists() else []
    more = {"cause": cause and str(cause), "maps": {str(pk): sha for pk, sha in maps}, "drawn": drawn}
    return killing.report(slug) | more


def ask(slug, epsilon):
    """Asks for one more release than are queued."""
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=16)
    return str(lifecycle.request_release(person, dataset, request).pk)


def kill(count):
    """Kills as many elections between intent and commit, or between commit and "done", in turn."""
    killing.make("kills")
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug="kills")
    settings.MOST_QUESTIONS_A_DAY = dict.fromkeys(settings.MOST_QUESTIONS_A_DAY, 10**6)
    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.001", resolution=16)
    outcomes = []
    for number in range(int(count)):
        release = lifecycle.request_release(person, dataset, request)
        transitions.spend(release.pk)
        killed = _killed_while_electing(release.pk, before_commit=number % 2 == 0)
        elections.look()
        again = draws.claim(release)
        drawing = Drawing.objects.get(pk=release.pk).state
        elected = Election.objects.filter(release=release).exists()
        outcomes.append([killed, again, drawing, elected])
        draws.give_up(release.pk)
        clock.tick()
    return {"outcomes": outcomes, "cause": hold.cause() and str(hold.cause())}


def _killed_while_electing(release_id, *, before_commit):
    connections.close_all()
    child = os.fork()
    if child == 0:
        if before_commit:
            elect = elections.Candidate.elect
            elections.Candidate.elect = lambda *arguments, **named: (elect(*arguments, **named), _die())
        else:
            commit = BaseDatabaseWrapper.commit
            BaseDatabaseWrapper.commit = lambda connection: (commit(connection), _die())
        draws.claim(Release.objects.get(pk=release_id))
        os._exit(1)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


def _try(release_id):
    with contextlib.suppress(OnHold):
        lifecycle.run(release_id)


def main(act, *arguments):
    print(
        json.dumps({"ask": ask, "draw": draw, "keep": keep, "report": report, "kill": kill}[act](*arguments))
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
