"""Processes that are killed at a commit of a chosen move, and the restart after it.

The fail-points are wrapped around the product here and exist nowhere else: the event a move writes says
which move it is, and the next commit is that move's.

python -m tests.services.killing
    [all | leave | queue COUNT SLUG... | report SLUG | reports SLUG... | serve PORT | work]
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

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402

from heatmaps import masses  # noqa: E402
from heatmaps.config.celery import app as celery_app  # noqa: E402
from heatmaps.ledger import events  # noqa: E402
from heatmaps.ledger.transitions.moves import MOVES  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.management import embedded_worker  # noqa: E402
from heatmaps.models import Dataset, Release  # noqa: E402
from heatmaps.releases import clock, draws, lifecycle, sweep  # noqa: E402
from mechanisms.central.sparse_emd.mechanism import SparseEmd  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.draws import carry_out  # noqa: E402

REQUEST = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
DRAWING = ("claim", "finish", "give_up")
# Releases are lost where an operator resumes (tests/services/test_restores.py).
POINTS = [(move, when) for move in (*MOVES, *DRAWING) for when in ("before", "after") if move != "lose"]
settings.SLOT_SECONDS = dict.fromkeys(settings.SLOT_SECONDS, 0)
settings.DRAW_PLACES = dict.fromkeys(settings.DRAW_PLACES, 50)  # what was killed keeps its place for a while
DRAWS = settings.STATE_DIR / "draws"


def die_at(move, when, slug):
    """SIGKILL this process just before or just after the commit of a move of that dataset."""
    write_event, commit, seen = events.append, BaseDatabaseWrapper.commit, []
    if move in DRAWING:
        kill_around(move, when)
        return

    def note(ledger, kind, **facts):
        seen.append((kind, ledger.dataset.slug))  # the clock moves what earlier deaths left, too
        return write_event(ledger, kind, **facts)

    def commit_and_die(connection):
        due = seen[-1:] == [(move, slug)]
        if due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        commit(connection)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)

    events.append, BaseDatabaseWrapper.commit = note, commit_and_die


def kill_around(move, when):
    """The same for what is no event: each commits itself."""
    work = getattr(draws, move)

    def work_and_die(*arguments):
        if when == "after":
            work(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(draws, move, work_and_die)


def write_down_draws(*, seconds=0.0):
    """Every draw leaves its release's id before it begins, in a file that survives the process."""
    prepare, draw, at_work = lifecycle._draw, SparseEmd.release, threading.local()

    def note_release(release, *arguments):
        at_work.on = release.pk
        return prepare(release, *arguments)

    def note_draw(mechanism, read, rng):
        with DRAWS.open("a") as file:
            file.write(f"{at_work.on}\n")
        time.sleep(seconds)
        return draw(mechanism, read, rng)

    lifecycle._draw, SparseEmd.release = note_release, note_draw


def make(slug):
    steward, _ = User.objects.get_or_create(username="steward")
    seed.add_checkins(seed.make_dataset(steward, slug, limits={"presence": "10"}))


def queue(count, *slugs):
    """Datasets with releases that no worker of this process will draw."""
    for slug in slugs:
        make(slug)
        person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
        for _ in range(int(count)):
            lifecycle.request_release(person, dataset, REQUEST)


def die(move, when, slug):
    """Ask for a release and go the way that leads to `move`, killed there."""
    settings.LEASE_SECONDS = 0  # so that a sweep after the restart takes this worker for dead at once
    write_down_draws()
    die_at(move, when, slug)
    settings.START_SECONDS = 5 if move == "cancel" else 0
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    release = lifecycle.request_release(person, dataset, REQUEST)
    if move == "cancel":
        lifecycle.cancel(person, release)
    if move in ("fail", "give_up"):
        masses.read = _fails
    carry_out(release.pk)
    raise AssertionError(f"not killed {when} {move}")


def restart(slug):
    """What the next start makes of it: clock and worker, here in one, until nothing is queued."""
    write_down_draws()
    sweep.recover()
    deadline = time.monotonic() + 120
    while _queued(slug) and time.monotonic() < deadline:
        clock.tick()
        for release_id in Release.objects.filter(state="spent", drawing=None).values_list("pk", flat=True):
            lifecycle.run(release_id)
        sweep.sweep()
    return report(slug)


def reports(*slugs):
    return {slug: report(slug) for slug in slugs}


def report(slug):
    dataset = Dataset.objects.get(slug=slug)
    verified = verify(dataset)
    found = list(Release.objects.filter(dataset=dataset).order_by("requested_at"))
    drawn = DRAWS.read_text().splitlines() if DRAWS.exists() else []
    return {
        "states": [release.state for release in found],
        "draws": [drawn.count(str(release.pk)) for release in found],
        "maps": sum(
            lifecycle.heatmap_of(release).level == 4 for release in found if release.state == "published"
        ),
        "committed": dataset.accounts.get(kind="presence").committed,
        "problem": verified.problem,
    }


def every_point():
    """All fail-points in forked processes: the imports take longer than everything else."""
    outcomes = {}
    for move, when in POINTS:
        slug = f"{move}-{when}".replace("_", "-")
        _forked(make, slug)
        status, _ = _forked(die, move, when, slug)
        _, report_after = _forked(restart, slug)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        outcomes[f"{when} {move}"] = {"killed": killed, **(report_after or {})}
    return outcomes


def leave():
    """What processes killed at every fail-point leave: {fail-point: slug}. All were killed."""
    left = {}
    for move, when in POINTS:
        slug = f"{move}-{when}".replace("_", "-")
        _forked(make, slug)
        status, _ = _forked(die, move, when, slug)
        assert os.WIFSIGNALED(status), slug
        assert os.WTERMSIG(status) == signal.SIGKILL, slug
        left[f"{when} {move}"] = slug
    return left


def serve_web(port):
    """The product's own server, with the draws written down and slow enough to be killed in."""
    embedded_worker.COMMAND = [sys.executable, "-m", "tests.services.killing", "work"]
    settings.LEASE_SECONDS = 2  # on PostgreSQL leases decide who is dead
    call_command("serve", port=int(port))


def work():
    settings.LEASE_SECONDS = 2
    write_down_draws(seconds=0.3)
    embedded_worker.work(celery_app)


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
    acts = {"all": every_point, "leave": leave, "queue": queue, "report": report, "reports": reports}
    if act == "serve":
        serve_web(*arguments)
    elif act == "work":
        work()
    else:
        print(json.dumps(acts[act](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
