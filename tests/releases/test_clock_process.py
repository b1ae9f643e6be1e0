"""The clock as a process: no outage ends it, and no broker holds it up."""

from threading import Event
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connections

from heatmaps import queue
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
    answers, sent, done = Event(), [], Event()

    def publish(name, ids):
        answers.wait(60)
        sent.append((name, *ids))
        if ids == ("last",):
            done.set()

    monkeypatch.setattr(queue, "_publish", publish)
    monkeypatch.setattr(queue, "_MOST_WAITING", 2)
    queue.send_in_background()
    try:
        for number in range(100):
            queue._send(queue.RELEASE, (str(number),))
        answers.set()
        while not done.wait(0.01):
            queue._send(queue.RELEASE, ("last",))
    finally:
        queue._handed_over.clear()
    assert sent[0] == (queue.RELEASE, "0")
    assert len(sent) < 100
