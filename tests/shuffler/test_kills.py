"""A shuffler that is killed: whatever has a receipt is handed over, once, and then forgotten."""

import contextlib
import http.client
import random
import threading
import time

import pytest

from tests.shuffler import device
from tests.shuffler.conftest import joined
from tests.shuffler.process import wait_until


class Devices:
    """Threads that send a report for every invitation until they have its receipt."""

    def __init__(self, shuffler, made, facts):
        self.shuffler, self.made, self.facts = shuffler, made, facts
        self.contents = {secret: device.contents(facts) for _, secret in shuffler.secrets(made)}
        self.receipts = {}
        self.is_over = False
        self.left = list(self.contents)
        self.threads = [threading.Thread(target=self.send, daemon=True) for _ in range(3)]
        for thread in self.threads:
            thread.start()

    def send(self):
        while self.left and not self.is_over:
            try:
                secret = self.left.pop()
            except IndexError:
                return
            packet = device.packet(self.facts, self.contents[secret])
            while secret not in self.receipts and not self.is_over:
                self.attempt(secret, packet)

    def attempt(self, secret, packet):
        try:
            answer = self.shuffler.report(self.made, secret, packet)
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)  # it was killed
        else:
            if answer.status in (200, 201):
                self.receipts[secret] = answer.json()["receipt"]
            elif answer.status != 500:
                assert answer.json()["code"] == "round_closed"
                self.is_over = True


def check(shuffler, made, devices):
    """What was handed over holds each report with a receipt, and none twice."""
    assert made.decided.wait(30), shuffler.output()
    wait_until(lambda: not shuffler.files_of(made).exists(), "the end")
    devices.is_over = True
    batch, reports = made.handed_over
    assert len(set(made.batches)) == 1
    contents = device.opened(batch, made.key, devices.facts)
    handed_over = [secret for secret, told in devices.contents.items() if told[0] in contents]
    assert set(devices.receipts) <= set(handed_over)
    assert reports == len(handed_over)
    assert contents == sorted(one for secret in handed_over for one in devices.contents[secret])
    assert not shuffler.rows()["shuffler_invitation"]
    assert not list((shuffler.state / "rounds").iterdir())


def test_it_goes_on_where_it_was_killed(tmp_path):
    """At the commitment, between reports, and while the analyser takes the batch."""
    with joined(tmp_path) as (shuffler, analyser):
        made = analyser.plan(message_bytes=12)
        was_killed = threading.Event()

        def kill():
            shuffler.kill()
            was_killed.set()

        def start_again():
            assert was_killed.wait(30)
            was_killed.clear()
            shuffler.start()
            wait_until(shuffler.is_up, "the server")

        made.when_asked = {"commitment": kill, "batch": kill}
        shuffler.start()
        start_again()
        devices = Devices(shuffler, made, shuffler.facts(made))
        wait_until(lambda: len(devices.receipts) >= 10, "reports")
        kill()
        start_again()
        wait_until(lambda: len(devices.receipts) == 30, "all reports")
        shuffler.let_close(made)
        start_again()
        check(shuffler, made, devices)
        assert len(made.batches) == 2


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_it_goes_on_wherever_it_was_killed(tmp_path, seed):
    """Before, while and after it makes, commits, takes, closes and hands over."""
    moments = random.Random(seed)
    with joined(tmp_path) as (shuffler, analyser):
        began = time.monotonic()
        shuffler.start()
        wait_until(shuffler.is_up, "the server")
        to_start = time.monotonic() - began
        made = analyser.plan(message_bytes=12)
        for what in ("commitment", "batch", "batch taken"):
            if moments.random() < 0.4:
                made.when_asked[what] = shuffler.kill
        time.sleep(moments.uniform(0, 0.2))
        shuffler.kill()
        live(shuffler, moments, to_start, 2)
        shuffler.start()
        wait_until(lambda: is_ready(shuffler, made), "facts")
        devices = Devices(shuffler, made, shuffler.facts(made))
        time.sleep(moments.uniform(0, 0.3))
        shuffler.kill()
        live(shuffler, moments, to_start, 2)
        wait_until(lambda: is_served(shuffler, devices), "reports")
        shuffler.kill()
        shuffler.let_close(made)
        live(shuffler, moments, to_start, 3)
        wait_until(lambda: is_started(shuffler) and not shuffler.files_of(made).exists(), "the end")
        check(shuffler, made, devices)


def live(shuffler, moments, to_start, times):
    for _ in range(times):
        shuffler.start()
        time.sleep(to_start * moments.uniform(0.3, 1.6))
        shuffler.kill()


def is_started(shuffler):
    """Whatever killed it."""
    if shuffler.process.poll() is not None:
        shuffler.start()
    with contextlib.suppress(AssertionError):
        return shuffler.is_up()
    return False


def is_ready(shuffler, made):
    with contextlib.suppress(OSError):
        return is_started(shuffler) and shuffler.get(f"/rounds/{made.id}/facts.json").status == 200
    return False


def is_served(shuffler, devices):
    return is_started(shuffler) and len(devices.receipts) >= 10
