"""Analyser, shuffler and devices killed at random moments: what has a receipt is counted, once.

Seven rounds at a time, a moment apart, so that each kill meets them at other points of their lives.
"""

import random
import time
from contextlib import suppress
from threading import Event, Thread

import pytest

from tests.services.collections import images
from tests.services.collections.stage import QUICK, charged, counted, place_text, staged
from tests.services.http import get

pytestmark = pytest.mark.long

SEEDS, ROUNDS, DEVICES = 2, 7, 24
FEW = QUICK | {"least_honest": 4}  # so that rounds have a result where much of their time was lost
NAMES = [f"Walker {number}" for number in range(DEVICES)]


class Killer:
    """A thread that kills what serves, and devices, and starts it again, until it is told to stop."""

    def __init__(self, stage, seed):
        self.stage, self.chance, self.crowds = stage, random.Random(seed), []
        self.kills = dict.fromkeys(("analyser", "shuffler", "devices"), 0)
        self.stopping = Event()
        self.thread = Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopping.wait(self.chance.uniform(0.1, 0.8) * self.stage.pace):
            running = [crowd for crowd in self.crowds if crowd.process.poll() is None]
            mortal = ["analyser", "shuffler", *(["devices"] if running else [])]
            least = min(self.kills[name] for name in mortal)
            victim = self.chance.choice([name for name in mortal if self.kills[name] == least])
            if victim == "devices":
                self.kill_devices(self.chance.choice(running))
            else:
                self.kill_server(victim)

    def kill_devices(self, crowd):
        self.kills["devices"] += 1
        crowd.kill()
        crowd.start()

    def kill_server(self, name):
        self.kills[name] += 1
        role = getattr(self.stage, name)
        port = self.stage.port if name == "analyser" else self.stage.shuffler_port
        role.kill()
        self.stopping.wait(self.chance.choice((0, 0.3)))
        getattr(self.stage, f"serve_{name}")()
        if self.chance.random() < 0.7:  # else it may be killed while it starts
            self.stage.wait(lambda: get(port, "/healthz")[0] == 200, name, seconds=120)

    def stop(self):
        self.stopping.set()
        self.thread.join(120)
        assert not self.thread.is_alive()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_goes_on_wherever_it_was_killed(world, seed):
    with staged(world) as stage:
        slugs = [f"walks-{number}" for number in range(ROUNDS)]
        for slug in slugs:
            stage.join(slug, stage.create(slug, NAMES), NAMES)
        rounds = [
            stage.plan(slug, NAMES, opens_in=3 + 0.5 * number, seconds=8, request=FEW)
            for number, slug in enumerate(slugs)
        ]
        killer = Killer(stage, seed)
        ready = [made for made in rounds if becomes_ready(stage, made)]
        stage.hand_out(*ready)
        for made in ready:
            crowd = stage.crowd(made, [(link, place_text(30.1, -97.9)) for link in made.links])
            crowd.start()
            if not killer.crowds:  # the others may all have their receipts before the killer looks
                killer.kill_devices(crowd)
            killer.crowds.append(crowd)
        last = max(made.plan["closes_at"] for made in rounds)
        time.sleep(max(0.0, last + killer.chance.uniform(2, 7) - time.time()))
        killer.stop()
        stage.wait_for_end(*rounds)
        for crowd in killer.crowds:
            crowd.finish()
        told = {made.slug: stage.tell(made) for made in rounds}
        print(seed, killer.kills, [(one["state"], one["reports"]) for one in told.values()])
        for made in rounds:
            check(made, told[made.slug])
        assert min(killer.kills.values()) > 0
        assert any(one["state"] == "published" for one in told.values())
        check_forgotten(stage, rounds, killer.crowds)


def becomes_ready(stage, made):
    """Not where shuffler or analyser was away for all the time before it opens: then it costs nothing."""
    path = f"/rounds/{made.id}/facts.json"
    while stage.state(made) != "cancelled":
        if get(stage.shuffler_port, path)[0] == 200:
            return True
        time.sleep(0.1)
    return False


def check(made, told):
    assert told["problem"] == ""
    assert told["releases"] == 1
    if told["state"] == "cancelled":
        assert set(told["committed"].values()) == {0}
        assert made.receipts == []
        return
    assert told["committed"] == charged(made)
    assert [told["events"].count(kind) for kind in ("reserve", "spend", "round")] == [1, 1, 1]
    assert sum(told["events"].count(kind) for kind in ("publish", "fail")) == 1
    if told["state"] == "no_result":
        assert len(set(made.receipts)) <= told["reports"] < made.plan["least_reports"]
    else:
        assert told["reports"] >= made.plan["least_reports"]
        counted(made, told)


def check_forgotten(stage, rounds, crowds):
    """Neither role has anything of the rounds, and devices nothing once they looked again."""
    for crowd in crowds:
        crowd.told = crowd.receipts
        crowd.start()
        crowd.finish()
    texts = {}
    for made in rounds:
        texts |= {secret.encode(): "secret" for secret in made.secrets}
        for line in made.record:
            texts[bytes.fromhex(line["packet"])[:32]] = "packet"
            texts |= {bytes.fromhex(text)[:32]: "message" for text in line["sealed"]}
    for crowd in crowds:
        with suppress(FileNotFoundError):
            (crowd.folder / "record").unlink()  # what only tests have
    roles = (stage.analyser, stage.shuffler, stage.devices)
    assert images.found(texts, images.files(*(role.folder for role in roles))) == {}
    assert images.found(texts, images.files(stage.analyser.log, stage.shuffler.log)) == {}
