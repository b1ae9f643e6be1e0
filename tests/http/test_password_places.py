"""Places for hashing passwords: who gets one, who waits, who is turned away."""

import contextlib
import time
from threading import Thread

import pytest

from heatmaps.children.turns import Busy
from heatmaps.http.password_places import MANY, PLACES, HashingPlaces


@pytest.fixture
def places():
    return HashingPlaces(wait_seconds=60)


class Asker(Thread):
    """Asks for a place with so many failures, and keeps it until told."""

    def __init__(self, places, failures):
        super().__init__(daemon=True)
        self.places, self.failures, self.outcome = places, failures, None
        self.start()

    def run(self):
        try:
            with self.places.place(self.failures):
                self.outcome = "hashed"
        except Busy:
            self.outcome = "turned away"

    def waits(self):
        while self.places._waiter is None or self.places._waiter.failures != self.failures:
            time.sleep(0.001)
        return self

    def end(self):
        self.join(timeout=60)
        return self.outcome


def test_guessers_leave_a_place_to_others(places):
    places.wait_seconds = 0
    with places.place(MANY):
        with pytest.raises(Busy) as refused, places.place(MANY + 7):
            pass
        with places.place(MANY - 1), pytest.raises(Busy), places.place(0):
            pass
        with places.place(0):  # it was given back
            pass
    assert refused.value.retry_seconds > 0


def test_who_failed_least_is_next(places):
    """However many guess: nobody else waits, and who waited gives way."""
    with contextlib.ExitStack() as taken:
        for _ in range(PLACES):
            taken.enter_context(places.place(0))
        guesser = Asker(places, MANY).waits()
        typist = Asker(places, 2).waits()
        assert guesser.end() == "turned away"
        assert [Asker(places, failures).end() for failures in (2, 3, MANY)] == ["turned away"] * 3
        owner = Asker(places, 0).waits()
        assert typist.end() == "turned away"
    assert owner.end() == "hashed"


def test_a_guesser_waits_for_the_guessers_place(places):
    guess, owner = places.place(MANY), places.place(0)
    with guess:
        owner.__enter__()
        waiting = Asker(places, MANY).waits()
        owner.__exit__(None, None, None)
        assert places._waiter is not None
    assert waiting.end() == "hashed"


def test_nobody_takes_the_place_of_who_was_admitted_and_is_about_to_hash(places):
    with contextlib.ExitStack() as taken:
        for _ in range(PLACES):
            taken.enter_context(places.place(0))
        owner = Asker(places, 0).waits()
        with places._changed:  # so that the owner goes on a little later
            taken.pop_all().close()
            places.wait_seconds = 0
            with places.place(0), pytest.raises(Busy), places.place(0):
                pass
    assert owner.end() == "hashed"
    with places.place(0), places.place(0):
        pass


def test_a_place_is_given_back_whatever_happens(places):
    places.wait_seconds = 0
    for _ in range(PLACES + 1):
        with pytest.raises(ZeroDivisionError), places.place(0):
            raise ZeroDivisionError
    with places.place(0), places.place(0):
        pass
