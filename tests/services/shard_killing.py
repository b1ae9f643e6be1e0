"""Processes that are killed while a release is read in shards, and what sweeps and workers make of it.

python -m tests.services.shard_killing REPEATS
"""

import json
import os
import signal
import sys

from tests.services import killing  # sets Django up

from django.conf import settings  # isort: skip
from django.contrib.auth.models import User
from django.db.backends.base.base import BaseDatabaseWrapper

from heatmaps import queue, releases, shards
from heatmaps.ledger import transitions
from heatmaps.models import Dataset, FanOut, Release, Shard, Upload
from tests.services import seed

SHARDS = 3
STEPS = ("spread", "claim", "finish", "finish last", "publish", "clear")
POINTS = [(step, when) for step in STEPS for when in ("before", "after")]
ROUNDS = 20
TASKS = {queue.RELEASE: releases.run, queue.SHARD: releases.read_shard}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(step, when):
    """SIGKILL this process just before or just after what a step commits."""
    owner, name = {
        "spread": (shards, "spread"),
        "claim": (shards, "claim"),
        "publish": (transitions, "publish"),
        "clear": (shards, "clear"),
    }.get(step, (shards.Claim, "finish"))
    work, commit = getattr(owner, name), BaseDatabaseWrapper.commit
    due, calls = [], []
    on_call = 1 if step != "finish last" else SHARDS

    def note(*arguments):
        calls.append(step)
        if len(calls) != on_call:
            return work(*arguments)
        if step in {"claim", "clear"} and when == "before":
            die()  # one statement, which commits itself
        due.append(step)
        answer = work(*arguments)
        die()
        return answer

    def commit_and_die(connection):
        if due and when == "before":
            die()
        commit(connection)
        if due:
            die()

    setattr(owner, name, note)
    BaseDatabaseWrapper.commit = commit_and_die


def make(slug):
    killing.make(slug)
    Upload.objects.filter(dataset__slug=slug).update(rows_accepted=3 * seed.PERSONS)


def go(slug, step="", when=""):
    """Ask for a release and do all its work in this process, unless that is killed."""
    messages = prepared()
    if step:
        die_at(step, when)
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    releases.request_release(person, dataset, killing.REQUEST)
    work_off(messages)


def restart(slug):
    """Sweeps, and workers that do what they are sent, until the release has ended."""
    messages = prepared()
    for _ in range(ROUNDS):
        releases.sweep()
        work_off(messages)
        if not killing._queued(slug):
            break
    releases.sweep()
    release = Release.objects.get(dataset__slug=slug)
    rows = FanOut.objects.filter(pk=release.pk).count() + Shard.objects.filter(fan_out=release.pk).count()
    return killing.report(slug) | {"rows": rows}


def prepared():
    """Messages instead of a broker; leases that are over at once, shards of a third of the check-ins."""
    settings.LEASE_SECONDS, settings.ROWS_PER_SHARD = 0, seed.PERSONS
    messages = []
    queue._send = lambda task, ids: messages.append((task, *ids))
    killing.write_down_draws()
    return messages


def work_off(messages):
    while messages:
        task, *ids = messages.pop(0)
        if task in TASKS:
            TASKS[task](*ids)


def main(repeats):
    found = {}
    for repeat in range(repeats):
        for step, when in POINTS:
            slug = f"{step.replace(' ', '-')}-{when}-{repeat}"
            killing._forked(make, slug)
            status, _ = killing._forked(go, slug, step, when)
            _, told = killing._forked(restart, slug)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            found.setdefault(f"{when} {step}", []).append({"killed": killed, **(told or {})})
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
