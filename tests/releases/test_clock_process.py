"""The clock as a process: no outage ends it, and no broker holds it up."""

from threading import Event
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connections

from heatmaps.broker import queue
from heatmaps.releases import clock


@pytest.mark.parametrize("error", [OperationalError("host=secret"), MemoryError("secret")])
def test_no_outage_ends_it_and_it_asks_less_often_meanwhile(settings, monkeypatch, error):
    """Neither tick nor sweep reaches the database."""

    def refuse():
        raise error

    settings.SWEEP_SECONDS = 0
    monkeypatch.setattr(connections["default"], "ensure_connection", refuse)
    waits = []
    clock.run(SimpleNamespace(wait=lambda seconds: waits.append(seconds) or len(waits) > 7))
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]


def test_it_waits_for_no_broker(monkeypatch):
    """One that hangs takes seconds for every task; what very many others wait before is the sweep's."""
    began, answers, sent, done = Event(), Event(), [], Event()

    def publish(_name, ids):
        began.set()
        answers.wait(60)
        sent.extend(ids)
        if ids == ("last",):
            done.set()

    monkeypatch.setattr(queue, "_publish", publish)
    monkeypatch.setattr(queue, "_MOST_WAITING", 3)
    queue.send_in_background()
    try:
        queue._send(queue.RELEASE, ("0",))
        assert began.wait(60)
        for _ in range(100):  # 3 is one too many, and each waits once
            for number in "0123":
                queue._send(queue.RELEASE, (number,))
        answers.set()
        while not done.wait(0.01):
            queue._send(queue.RELEASE, ("last",))
    finally:
        queue._handed_over.clear()
    assert sent[:4] == ["0", "0", "1", "2"]
    assert set(sent[4:]) == {"last"}
