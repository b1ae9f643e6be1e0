"""Turns: never more at once, and who comes too late is told when to try again."""

import time
from contextlib import ExitStack
from threading import Thread

import pytest

from heatmaps.children import turns
from heatmaps.children.turns import AT_ONCE, Busy, turn


def test_it_gives_as_many_turns_as_there_are(monkeypatch):
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.01)
    with ExitStack() as taken:
        for _ in range(AT_ONCE):
            taken.enter_context(turn())
        with pytest.raises(Busy) as caught, turn():
            pass
    assert caught.value.retry_seconds > 0
    with turn():  # they were given back
        pass


def test_one_waits_and_the_others_are_sent_away_at_once(monkeypatch):
    monkeypatch.setattr(turns, "WAIT_SECONDS", 60)
    refused = []

    def ask():
        try:
            with turn():
                pass
        except Busy:
            refused.append(time.monotonic())

    with ExitStack() as taken:
        for _ in range(AT_ONCE):
            taken.enter_context(turn())
        start = time.monotonic()
        several = [Thread(target=ask) for _ in range(5)]
        for one in several:
            one.start()
        while len(refused) < 4:
            time.sleep(0.01)
    for one in several:
        one.join()
    assert len(refused) == 4  # the fifth had its turn
    assert max(refused) - start < turns.WAIT_SECONDS
