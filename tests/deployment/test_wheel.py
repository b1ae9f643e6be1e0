"""The wheel in an empty environment, without a network, beside foreign packages of the same names."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from tests.deployment import installed
from tests.deployment.wheel import built, environment, python_or_skip
from tests.services.http import health
from tests.services.programs import Redis, found_or_skip, free_port, wait_until

FOREIGN = ("api", "heatmaps")
PNG = b"\x89PNG\r\n\x1a\n".hex()
# Refuses, and notes, what would leave this machine, in every process of the environment.
GUARD = """
import os, sys
def _look(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if str(host or "localhost") not in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "b'127.0.0.1'"):
        with open({path!r}, "a") as file:
            file.write(f"{{event}} {{host}}\\n")
        raise OSError("there is no network")
sys.addaudithook(_look)
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def programs_for(tmp_path_factory):
    """The programs of an environment for Python 3.`minor`, made once; what it noted of connections beside."""
    folder = tmp_path_factory.mktemp("environments")
    wheel = built(folder)

    @cache
    def made(minor):
        python = python_or_skip(minor)
        return guarded(environment(folder / str(minor), python, wheel), folder / f"connections-{minor}")

    return made


@pytest.fixture
def place(tmp_path):
    """A folder for state and files, and its environment variables: none of Hazemap's."""
    kept = ("PATH", "LANG", "TMPDIR")
    own = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data"), "PYTHONUNBUFFERED": "1"}
    return tmp_path, {name: os.environ[name] for name in kept if name in os.environ} | own


def guarded(programs, noted):
    """The environment, with the guard and foreign packages in it; and where the guard notes."""
    (packages,) = programs.parent.glob("lib/python*/site-packages")
    for name in FOREIGN:
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text('WHOSE = "foreign"\n')
    (packages / "sitecustomize.py").write_text(GUARD.format(path=str(noted)))
    return programs, noted


def without_network():
    """The command that takes the network away, where this account may."""
    command = ["unshare", "--net", "--map-root-user"]
    may = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if may and may.returncode == 0 else []


@pytest.mark.parametrize("minor", sorted({11, 13, sys.version_info[1]}))
def test_it_serves_and_releases_without_a_network(minor, programs_for, place):
    folder, variables = place
    programs, noted = programs_for(minor)
    unshared = without_network()
    variables |= {"WITHOUT_NETWORK": "1"} if unshared else {"https_proxy": "http://127.0.0.1:1"}
    done = subprocess.run(
        [*unshared, str(programs / "python"), installed.__file__, str(folder)],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)

    assert told["version"].startswith("Hazemap ")
    assert told["foreign"] == ["foreign", "foreign"]
    assert told["offline"] > 16 * 16
    assert json.loads(told["health"]) == {"status": "ok"}
    assert told["picture"] == PNG
    assert min(told[name] for name in ("style", "map", "streets", "sealing")) > 500
    assert told["code"] == 0
    assert Path(told["state"]) == folder / "data" / "hazemap"
    assert f"sign in with: {told['state']}/credentials" in told["output"]
    assert "Traceback" not in told["output"]
    assert not noted.exists(), noted.read_text()
    assert not (folder / ".local").exists()


def test_a_worker_of_its_own_answers_where_there_is_redis(programs_for, place):
    found_or_skip(Redis)
    folder, variables = place
    programs, _ = programs_for(sys.version_info[1])
    port = free_port()
    # Packages of the same names in the current folder are nobody's.
    for name in FOREIGN:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise SystemExit('of another product')")
    with Redis.started() as redis, ExitStack() as stack:
        variables["HAZEMAP_BROKER_URL"] = redis.url
        for command in (["serve", "--port", str(port)], ["worker", "--pool", "solo"], ["clock"]):
            stack.enter_context(running([programs / "hazemap", *command], folder, variables))
        wait_until(lambda: health(port) == (200, ""), seconds=120, what="the worker's answer")
    assert "`hazemap createdemo --empty` makes the first accounts" in (folder / "serve").read_text()


@contextmanager
def running(command, folder, variables):
    with (folder / command[1]).open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)
