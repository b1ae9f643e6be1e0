"""Processes killed at the commits of the transition table, before and after each, and at random."""

import random
import signal
import time

import psutil
import pytest

from tests.services.programs import wait_until

CHARGE = 10**12 // 2
# Of a server that is killed again and again: releases, each of which takes a start or two, and kills.
WAITING, MOST_KILLS = 6, 6
SERVE = ("-m", "tests.services.killing", "serve")
# What is left after a restart, by where the process died: state, draws and charge of its release.
EXPECTED = {
    "before reserve": None,  # nobody was promised anything
    "after reserve": ("published", 1, CHARGE),
    "before spend": ("published", 1, CHARGE),
    "after spend": ("published", 1, CHARGE),  # nobody had begun to draw it
    "before claim": ("published", 1, CHARGE),
    "after claim": ("failed", 0, CHARGE),
    "before finish": ("failed", 1, CHARGE),
    "after finish": ("published", 1, CHARGE),  # what was drawn waited for its moment
    "before give_up": ("failed", 0, CHARGE),
    "after give_up": ("failed", 0, CHARGE),
    "before publish": ("published", 1, CHARGE),
    "after publish": ("published", 1, CHARGE),
    "before fail": ("failed", 0, CHARGE),
    "after fail": ("failed", 0, CHARGE),
    "before cancel": ("published", 1, CHARGE),
    "after cancel": ("cancelled", 0, 0),
}


def check(point, told):
    state, draws, charge = EXPECTED[point] or (None, None, 0)
    assert told["states"] == ([state] if state else [])
    assert told["draws"] == ([draws] if state else [])
    assert told["maps"] == (state == "published")
    assert told["committed"] == charge
    assert told["problem"] == ""


@pytest.mark.long
def test_it_survives_a_kill_at_every_commit(installation):
    told = installation.script("killing", "all")
    assert set(told) == set(EXPECTED)
    for point, outcome in told.items():
        assert outcome["killed"], point
        check(point, outcome)


@pytest.mark.long
def test_the_real_server_takes_up_what_killed_processes_left(installation):
    """A process killed at each fail-point, then one start of `manage.py serve`."""
    slugs = installation.script("killing", "leave")
    assert set(slugs) == set(EXPECTED)
    with installation.serving(program=SERVE):
        # What no worker had begun in time is put off for as long as it has waited.
        wait_until(lambda: not queued(installation), seconds=240, what="the end of all")
    told = installation.script("killing", "reports", *slugs.values())
    for point, slug in slugs.items():
        check(point, told[slug])


def queued(installation):
    return installation.value("SELECT count(*) FROM heatmaps_release WHERE state IN ('reserved', 'spent')")


def draws_begun(installation):
    path = installation.folder / "draws"
    return len(path.read_text().split()) if path.exists() else 0


@pytest.mark.long
def test_it_survives_a_server_that_is_killed_again_and_again(installation):
    """Kills while releases wait to be drawn: in the middle of a draw, and at random moments, in turn."""
    chance = random.Random(7)
    installation.script("killing", "queue", WAITING, "city")
    kills = 0
    while queued(installation) and kills < MOST_KILLS:
        with installation.serving(program=SERVE) as server:
            if kills % 2 == 0:
                begun = draws_begun(installation)
                wait_until(
                    lambda begun=begun: draws_begun(installation) > begun or not queued(installation),
                    seconds=240,
                    what="a draw",
                )
                time.sleep(chance.uniform(0, 0.2))  # of the 0.3 s that one takes
                victims = psutil.Process(server.process.pid).children(recursive=True)
            else:
                time.sleep(chance.uniform(0, 0.6))
                victims = []  # a worker ends its draw, and itself, once its server is gone
            for process in (*victims, server.process):
                process.send_signal(signal.SIGKILL)
            server.process.wait()
            kills += 1
    if queued(installation):
        with installation.serving(program=SERVE):
            wait_until(lambda: not queued(installation), seconds=240, what="the end of all")
    told = installation.script("killing", "report", "city")
    assert kills > 1
    assert len(told["states"]) == WAITING
    assert set(told["states"]) <= {"published", "failed"}
    assert max(told["draws"]) == 1
    assert all(
        draws for state, draws in zip(told["states"], told["draws"], strict=True) if state == "published"
    )
    assert told["maps"] == told["states"].count("published") > 0
    assert told["committed"] == WAITING * CHARGE
    assert told["problem"] == ""
