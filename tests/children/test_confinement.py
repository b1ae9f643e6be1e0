"""A child that a file has taken over gets at nothing but what it was handed."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from heatmaps.children import confinement, notice
from tests.services.collections import accounts

REFUSALS = {errno.EACCES, errno.EPERM, errno.ENOSYS, errno.ENOTTY}
LEAST = 90  # attempts: fewer are no test

pytestmark = pytest.mark.skipif(bool(confinement.missing()), reason="this kernel does not confine")


@pytest.fixture(params=["this account", pytest.param("an account without rights", marks=pytest.mark.long)])
def account(request):
    """Under whom everything runs; None: this one, which is often root."""
    if request.param == "this account":
        return None
    accounts.require()
    return accounts.three()[0]


@contextmanager
def folder_of(account):
    folder = Path(tempfile.mkdtemp(prefix="hazemap-children-"))
    if account is not None:
        os.chown(folder, account, account)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def state(account):
    with folder_of(account) as folder:
        yield folder


@pytest.fixture
def state_of_no_rights():
    """An account, and its folder; root looks into every process."""
    account = accounts.three()[0] if os.geteuid() == 0 else None
    if account is not None:
        accounts.require()
    with folder_of(account) as folder:
        yield account, folder


def program(account):
    return sys.executable if account is None else accounts.interpreter()


def environment(account):
    own = {"PYTHONPATH": str(accounts.ROOT), "PATH": os.environ["PATH"]}
    return own if account is None else accounts.environment()


def held(account, state, *, landlock=True, tcp=()):
    """What the child says that a server started under an account."""
    done = subprocess.run(
        [program(account), "-m", "tests.children.holder"],
        input=json.dumps({"state": str(state), "landlock": landlock, "tcp": list(tcp)}) + "\n",
        env=environment(account) | {"HAZEMAP_RECORD_DIR": str(state / "record")},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **accounts.run_as(account),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def unrefused(said):
    """Names of what succeeded, or failed for another reason than that it is refused."""
    assert said["status"] == 0
    assert len(said["refusals"]) > LEAST
    return [name for name, number in said["refusals"].items() if number not in REFUSALS]


def test_a_child_that_was_taken_over_reaches_nothing(account, state):
    said = held(account, state)

    assert unrefused(said) == []
    assert said["work"] == [["7", "41.5", "2.5"]]


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_it_reaches_no_database_and_no_broker(postgres, redis):
    with folder_of(None) as state:
        assert (
            unrefused(held(None, state, tcp=[("127.0.0.1", port) for port in (postgres.port, redis.port)]))
            == []
        )


@pytest.mark.long
def test_without_landlock_it_can_read_what_its_account_can_and_nothing_else(account, state):
    said = held(account, state, landlock=False)

    assert said["work"] == [["7", "41.5", "2.5"]]
    reading = ("read ", "list ", "parent's ", "own descriptors", "names of users")
    assert [name for name in unrefused(said) if not name.startswith(reading)] == []


@pytest.mark.parametrize("lacking", ["Landlock", "seccomp"])
def test_what_is_missing_is_logged_at_the_start(monkeypatch, caplog, lacking):
    monkeypatch.setattr(confinement.landlock, "version", lambda: int(lacking != "Landlock"))
    monkeypatch.setattr(confinement.seccomp, "is_offered", lambda: lacking != "seccomp")
    notice.warn()
    (record,) = caplog.records
    assert record.msg == {"event": "children.not_confined", "lacking": lacking, **record.msg}


LOOK = """
import os, sys
for name in ("environ", "mem", "maps", "fd/0"):
    try:
        os.close(os.open(f"/proc/{sys.argv[1]}/{name}", os.O_RDONLY))
    except PermissionError:
        print("refused", name)
    else:
        print("open", name)
"""
SERVE = "from heatmaps.config import settings; print(flush=True); input()"


@pytest.mark.long
def test_no_process_of_its_account_looks_into_a_server(state_of_no_rights):
    account, state = state_of_no_rights
    own = environment(account) | {"HAZEMAP_STATE": str(state), "HAZEMAP_RECORD_DIR": str(state / "record")}
    options = {"env": own, "cwd": "/", "stdout": subprocess.PIPE, "text": True} | accounts.run_as(account)
    with subprocess.Popen([program(account), "-c", SERVE], stdin=subprocess.PIPE, **options) as server:
        server.stdout.readline()
        look = [program(account), "-c", LOOK, str(server.pid)]
        said = subprocess.run(look, check=True, timeout=60, **options).stdout
        server.communicate("\n", timeout=60)
    assert said.split("\n") == [*(f"refused {name}" for name in ("environ", "mem", "maps", "fd/0")), ""]
    assert server.returncode == 0
