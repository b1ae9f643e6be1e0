"""Processes that are killed at a commit of a chosen move, and the restart after it.

The fail-points are wrapped around the product here and exist nowhere else: the event a move writes says
which move it is, and the next commit is that move's.

python -m tests.services.killing
    [all REPEATS | make SLUG | queue COUNT SLUG... | die MOVE WHEN SLUG | report SLUG | serve PORT]
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import django

django.setup()

from celery import current_app  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402

from heatmaps import masses, releases, serve  # noqa: E402
from heatmaps.ledger import events, transitions  # noqa: E402
from heatmaps.ledger.transitions import reserving  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Release  # noqa: E402
from mechanisms.central.sparse_emd import SparseEmd  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.programs import wait_until  # noqa: E402

REQUEST = releases.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
POINTS = [(move, when) for move in transitions.MOVES for when in ("before", "after")]
DRAWS = settings.STATE_DIR / "draws"


def die_at(move, when):
    """SIGKILL this process just before or just after the commit of a move."""
    write_event, on_server = events.append, reserving._on_server
    commit = BaseDatabaseWrapper.commit
    seen = []

    def note(ledger, kind, **facts):
        seen.append(kind)
        return write_event(ledger, kind, **facts)

    def reserve_and_die(*asked):
        """Where a reservation is one statement, it commits on the server."""
        if (move, when) == ("reserve", "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        on_server(*asked)
        if move == "reserve":
            os.kill(os.getpid(), signal.SIGKILL)

    def commit_and_die(connection):
        due = seen[-1:] == [move]
        if due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        commit(connection)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)

    events.append, reserving._on_server = note, reserve_and_die
    BaseDatabaseWrapper.commit = commit_and_die


def write_down_draws(*, seconds=0.0):
    """Every draw leaves its release's id before it begins, in a file that survives the process."""
    prepare, draw, at_work = releases._draw, SparseEmd.release, threading.local()

    def note_release(release, *arguments):
        at_work.on = release.pk
        return prepare(release, *arguments)

    def note_draw(mechanism, read, rng):
        with DRAWS.open("a") as file:
            file.write(f"{at_work.on}\n")
        time.sleep(seconds)
        return draw(mechanism, read, rng)

    releases._draw, SparseEmd.release = note_release, note_draw


def make(slug):
    steward, _ = User.objects.get_or_create(username="steward")
    seed.add_checkins(seed.make_dataset(steward, slug, limits={"presence": "10"}))


def queue(count, *slugs):
    """Datasets with releases that no worker of this process will draw."""
    for slug in slugs:
        make(slug)
        person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
        for _ in range(int(count)):
            releases.request_release(person, dataset, REQUEST)


def die(move, when, slug):
    """Ask for a release and go the way that leads to `move`, killed there."""
    settings.LEASE_SECONDS = 0  # so that a sweep after the restart takes this worker for dead at once
    write_down_draws()
    die_at(move, when)
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    release = releases.request_release(person, dataset, REQUEST)
    if move == "cancel":
        releases.cancel(person, release)
    if move == "fail":
        masses.read = _fails
    releases.run(release.pk)
    raise AssertionError(f"not killed {when} {move}")


def restart(slug):
    """What the next start makes of it: the embedded worker works until nothing is queued."""
    write_down_draws()
    background = serve.Background(current_app)
    background.start()
    wait_until(lambda: not _queued(slug), seconds=30, what="the end of all queued releases")
    return report(slug)


def report(slug):
    dataset = Dataset.objects.get(slug=slug)
    verified = verify(dataset)
    found = list(Release.objects.filter(dataset=dataset).order_by("requested_at"))
    drawn = DRAWS.read_text().splitlines() if DRAWS.exists() else []
    return {
        "states": [release.state for release in found],
        "draws": [drawn.count(str(release.pk)) for release in found],
        "maps": sum(
            releases.heatmap_of(release).level == 4 for release in found if release.state == "published"
        ),
        "committed": dataset.accounts.get(kind="presence").committed,
        "problem": verified.problem,
    }


def every_point(repeats):
    """All fail-points in forked processes: the imports take longer than everything else."""
    found = {}
    for repeat in range(repeats):
        for move, when in POINTS:
            slug = f"{move}-{when}-{repeat}"
            _forked(make, slug)
            status, _ = _forked(die, move, when, slug)
            _, told = _forked(restart, slug)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            found.setdefault(f"{when} {move}", []).append({"killed": killed, **(told or {})})
    return found


def serve_web(port):
    """The product's own server, with the draws written down and slow enough to be killed in."""
    write_down_draws(seconds=0.3)
    settings.LEASE_SECONDS = 2  # on PostgreSQL leases decide who is dead, and a quarter of an hour is long
    call_command("serve", port=int(port))


def _fails(*_args, **_options):
    raise ZeroDivisionError


def _queued(slug):
    return Release.objects.filter(dataset__slug=slug, state__in=["reserved", "spent"]).exists()


def _forked(work, *arguments):
    """(exit status, what `work` returned) of a process that shares nothing with this one but its imports."""
    connections.close_all()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        child = os.fork()
        if child == 0:
            _answer_and_exit(answer, work, arguments)
        return os.waitpid(child, 0)[1], json.loads(answer.read_text()) if answer.exists() else None


def _answer_and_exit(answer, work, arguments):
    try:
        told = json.dumps(work(*arguments))
        answer.write_text(told)
    finally:
        os._exit(0)


def main(act, *arguments):
    if act == "all":
        print(json.dumps(every_point(int(arguments[0]))))
    elif act == "serve":
        serve_web(*arguments)
    else:
        print(json.dumps({"make": make, "queue": queue, "die": die, "report": report}[act](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
