"""Each part of a deployment stops for a while: health and metrics name it, and the release that waits comes.

AWAY_SECONDS sets how long a part stays away once health and metrics name it.
"""

import json
import os
import re
import threading
import time
from urllib.request import Request, urlopen

import pytest

from tests.services.deployment import Parts
from tests.services.http import get
from tests.services.programs import free_port, wait_until
from tests.services.traffic import ASKED, send

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.long]

PARTS = ["database", "broker", "clock", "draws", "files"]
SOURCE = {"database": "postgres", "broker": "redis", "clock": "scheduler", "draws": "draws", "files": "files"}
REASONS = {
    "database": "the database does not answer",
    "broker": "the broker does not answer",
    "clock": "the clock does not run",
    "draws": "no worker draws releases",
    "files": "no worker reads files",
}
# A clock or worker that ended is as one that hangs; a server that ended also cuts its clients off.
WAYS = [*((part, "hanging") for part in PARTS), ("database", "ended"), ("broker", "ended")]
AWAY_SECONDS = float(os.environ.get("AWAY_SECONDS", "0"))
BOUND_SECONDS = 120 + AWAY_SECONDS  # on a machine that is busy
SAMPLE = re.compile(r'^hazemap_part_up\{part="(\w+)"\} (\S+)$', re.MULTILINE)


class Monitor:
    """What health and metrics said, looked at all the time."""

    def __init__(self, stack):
        self.stack, self.statuses, self._stopping = stack, set(), threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stopping.set()
        self._thread.join()

    def _look(self):
        while not self._stopping.wait(0.1):
            self.statuses.add(get(self.stack.port, "/healthz")[0])

    def missing(self):
        """As `/healthz` says, whose status and words must agree."""
        status, body = get(self.stack.port, "/healthz")
        told = json.loads(body)
        parts = told.get("missing", [])
        assert status == (503 if parts else 200), body
        assert told.get("reason", "") == "; ".join(REASONS[part] for part in parts)
        return parts

    def values(self):
        """Of the metrics, by part."""
        return dict(SAMPLE.findall(get(self.stack.metrics_port, "/metrics")[1]))


@pytest.fixture(scope="module")
def stack(world, tmp_path_factory):
    metrics_port = free_port()
    facts = {"settings": "tests.services.impatient", "others": {"HAZEMAP_METRICS": str(metrics_port)}}
    with world.deployment(tmp_path_factory.mktemp("parts"), kind=Parts, **facts) as stack:
        stack.metrics_port = metrics_port
        stack.token = stack.installation.script("traffic")[0]
        stack.epsilon = iter(range(1000, 2000))
        yield stack


def ask(stack):
    """The id of a new release."""
    question = {"mechanism": "sparse-emd", "epsilon": f"0.{next(stack.epsilon)}", "resolution": 16}
    status, told = send(
        stack.port, stack.token, f"datasets/{ASKED}/releases/", {**question, "parameters": {}}, {}
    )
    assert status == 202, (status, told)
    return told["id"]


def state(stack, release):
    address = f"http://127.0.0.1:{stack.port}/api/v1/releases/{release}/"
    with urlopen(Request(address, headers={"Authorization": f"Bearer {stack.token}"}), timeout=30) as answer:
        return json.load(answer)["state"]


@pytest.mark.parametrize(("part", "how"), WAYS)
def test_what_is_away_is_named_and_the_release_that_waits_is_published(stack, part, how):
    with Monitor(stack) as monitor:
        wait_until(lambda: monitor.missing() == [], seconds=BOUND_SECONDS, what="every part's answer")
        assert monitor.values() == dict.fromkeys(PARTS, "1")
        release = ask(stack) if part == "database" else None
        stack.take_away(SOURCE[part], how)
        release = release or ask(stack)
        try:
            wait_until(lambda: monitor.missing() == [part], seconds=BOUND_SECONDS, what=f"{part} named")
            wait_until(
                lambda: monitor.values()[part] == "0", seconds=BOUND_SECONDS, what=f"{part} in metrics"
            )
            end = time.monotonic() + AWAY_SECONDS
            while time.monotonic() < end:
                assert monitor.missing() == [part]
                time.sleep(0.2)
        finally:
            stack.bring_back(SOURCE[part], how)
        wait_until(lambda: monitor.missing() == [], seconds=BOUND_SECONDS, what="every part's answer again")
        wait_until(lambda: state(stack, release) == "published", seconds=BOUND_SECONDS, what="publishing")
    assert monitor.statuses <= {200, 503}
    assert "Traceback" not in stack.installation.output()
