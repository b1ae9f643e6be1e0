"""`manage.py serve`, the embedded server, as a process of its own."""

import signal
import time

import pytest
from django.core import management

from tests.services.http import get
from tests.services.programs import free_port, wait_until


@pytest.fixture
def embedded(world, tmp_path):
    return world.installation(tmp_path)


def test_it_migrates_serves_draws_and_stops(embedded):
    (embedded.folder / "hazemap.sqlite3").unlink()  # serve migrates by itself
    with embedded.serving() as started:
        port, server = started.port, started.process
        # Another process reserves; only the sweep of the server can know, and its start did.
        assert get(port, "/datasets/")[0] == 200  # the sign-in page, after a redirect
        taken = embedded.manage("serve", "--port", port, check=False)
        assert taken.returncode == 1
        assert f"CommandError: port {port} of 127.0.0.1 is taken" in taken.stderr
        assert len(taken.stderr.splitlines()) == 1
        second = embedded.manage("serve", "--port", free_port(), check=False)
        assert "another server uses" in second.stderr
        assert len(second.stderr.splitlines()) == 1
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
        assert time.monotonic() - began < 20
    assert "Traceback" not in embedded.output()
    assert f"Hazemap is at http://127.0.0.1:{port}" in embedded.output()


def test_it_takes_up_what_was_reserved_before_it_started(embedded):
    release, session = embedded.script("web", "begin")
    with embedded.serving() as server:
        page = f"/releases/{release}/state/"
        wait_until(
            lambda: "published" in get(server.port, page, session=session)[1], seconds=60, what="publishing"
        )
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=30) == 0
    assert embedded.script("web", "state", release) == {"state": "published", "spent": 1, "problem": ""}


@pytest.mark.parametrize("port", ["65536", "abc", "-1", "8 0", "\u0663"])
def test_a_port_that_is_none_is_refused_in_a_line(port, capsys, monkeypatch):
    for given in (["--port", port], []):
        monkeypatch.setenv("PORT", port)
        with pytest.raises(SystemExit):
            management.ManagementUtility(["manage.py", "serve", *given]).execute()
        assert (
            capsys.readouterr().err.splitlines()[-1].startswith("manage.py serve: error: argument --port: ")
        )


def test_several_web_processes_need_a_broker_between_them(embedded):
    embedded.broker_url = ""
    refused = embedded.python("-c", "import heatmaps.config.wsgi", check=False)
    assert "the in-process broker serves one process" in refused.stderr
    embedded.broker_url = "redis://127.0.0.1:1/0"
    embedded.python("-c", "import heatmaps.config.wsgi")
