"""The worker of `manage.py serve`: what its tasks wait for, and what becomes of them at its end."""

from threading import Event
from types import SimpleNamespace

from django.conf import settings
from django.db import OperationalError

from heatmaps.broker import queue
from heatmaps.management import embedded_worker
from heatmaps.management.embedded_worker import Tasks, Worker


def test_a_draw_waits_for_no_file(world, tmp_path):
    """The file is still being read when the release is published."""
    told = world.installation(tmp_path).script("waiting")
    assert told == {"state": "published", "left": ""}


def test_a_map_of_a_lake_waits_for_no_survey_of_another():
    """Else its analysts would see, by a slot, how large the other table is."""
    may_end, drawn = Event(), Event()
    survey = SimpleNamespace(apply=lambda args: may_end.wait(60))
    release = SimpleNamespace(apply=lambda args: drawn.set())
    tasks = Tasks(SimpleNamespace(tasks={queue.SURVEY: survey, queue.SOURCE_RELEASE: release}))
    for name in (*[queue.SURVEY] * (settings.SOURCE_PLACES + 2), queue.SOURCE_RELEASE):
        tasks.submit(name, ("1",))
    try:
        assert drawn.wait(30)
    finally:
        may_end.set()
    assert tasks.end()


def test_a_survey_waits_for_no_other_one_that_hangs():
    may_end, done = Event(), Event()
    survey = SimpleNamespace(apply=lambda args: may_end.wait(60) if args == ("hangs",) else done.set())
    tasks = Tasks(SimpleNamespace(tasks={queue.SURVEY: survey}))
    for dataset in ("hangs", "2"):
        tasks.submit(queue.SURVEY, (dataset,))
    try:
        assert done.wait(10)
    finally:
        may_end.set()
    assert tasks.end()


def test_a_task_that_sends_another_while_the_worker_ends_goes_on_to_its_end():
    began, may_go_on, done = Event(), Event(), []

    def send_another(args):
        began.set()
        may_go_on.wait(60)
        for name in (queue.RELEASE, queue.SWEEP):
            tasks.submit(name, ("dropped",))
        done.append(args)

    sweep, release = SimpleNamespace(apply=send_another), SimpleNamespace(apply=done.append)
    tasks = Tasks(SimpleNamespace(tasks={queue.SWEEP: sweep, queue.RELEASE: release}))
    tasks.submit(queue.SWEEP, ("first",))
    assert began.wait(60)
    for pool in (tasks._draws, tasks._others):
        pool.shutdown(wait=False, cancel_futures=True)
    may_go_on.set()
    assert tasks.end()
    assert done == [("first",)]


def test_a_worker_that_ends_while_the_database_is_away_is_started_again(monkeypatch):
    monkeypatch.setattr(embedded_worker, "_RESTART_SECONDS", 0)
    answers = [OperationalError("host=secret"), OperationalError("host=secret"), None]

    def take_up():
        if error := answers.pop(0):
            raise error

    worker, runs = Worker(), []

    def run():
        runs.append("started")
        worker._stopping.set()
        return 0

    monkeypatch.setattr(worker, "_take_up", take_up)
    monkeypatch.setattr(worker, "_run", run)
    worker._keep()
    assert (answers, runs) == ([], ["started"])
