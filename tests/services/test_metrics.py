"""The metrics' own address: of `serve`, and of a process of its own; never that of the pages."""

import re
import signal
from urllib.request import urlopen

import pytest

from tests.services.http import get
from tests.services.programs import free_port, wait_until
from tests.services.refused_bodies import Answers, outcomes, post

pytestmark = pytest.mark.long

EMBEDDED = {"database", "clock", "draws", "files"}


@pytest.fixture
def embedded(world, tmp_path):
    return world.installation(tmp_path)


def metrics(port):
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return answer.read().decode()


def test_serve_opens_them_beside_its_pages_and_they_stay_as_they_are_while_a_map_is_drawn(embedded):
    own = free_port()
    embedded.others = {"HAZEMAP_METRICS": str(own)}
    taken = embedded.manage("serve", "--port", own, check=False)
    assert taken.stderr.startswith(f"CommandError: port {own} of 127.0.0.1 is taken; ")
    assert taken.stderr.endswith("choose another with HAZEMAP_METRICS=HOST:PORT\n")
    release, session = embedded.script("web", "begin")
    with embedded.serving() as server:
        port, process = server.port, server.process
        said = {metrics(own)}
        page = f"/releases/{release}/state/"

        def published():
            said.add(metrics(own))
            return "published" in get(port, page, session=session)[1]

        wait_until(published, seconds=60, what="publishing")
        assert len(said) == 1
        text = said.pop()
        assert "\nhazemap_worker_up 1\n" in text
        assert set(re.findall(r'hazemap_part_up\{part="(\w+)"\} 1\n', text)) == EMBEDDED
        assert "hazemap_up" not in get(port, "/metrics")[1]
        assert get(own, "/healthz")[0] == 404
        assert get(own, "/metrics", host="evil.example")[0] == 400
        assert outcomes(own, [post("/metrics")], 10) == {(0, Answers((405,), is_whole=True)): 120}
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    assert "Traceback" not in embedded.output()


@pytest.mark.redis
def test_they_are_a_process_of_their_own_where_workers_are(embedded, redis):
    assert "`serve` opens HAZEMAP_METRICS itself" in embedded.manage("metrics", check=False).stderr
    embedded.broker_url = redis.url
    assert "set HAZEMAP_METRICS to HOST:PORT" in embedded.manage("metrics", check=False).stderr
    own = free_port()
    embedded.others = {"HAZEMAP_METRICS": f"127.0.0.1:{own}"}
    with embedded.running("manage.py", "metrics") as process:
        wait_until(lambda: get(own, "/metrics")[0] == 200, seconds=60, what="the metrics' answer")
        text = metrics(own)
        assert "\nhazemap_worker_up 0\n" in text
        for part, value in {"database": 1, "broker": 1, "clock": 0, "draws": 0, "files": 0}.items():
            assert f'\nhazemap_part_up{{part="{part}"}} {value}\n' in text
        assert "\nhazemap_migrations_pending 0\n" in metrics(own)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    assert embedded.output() == f"Metrics are at http://127.0.0.1:{own}/metrics (Ctrl+C stops them)\n"
