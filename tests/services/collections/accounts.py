"""Accounts of the operating system for roles, and a Python that all of them may run.

Accounts are numbers that nobody has: nothing is added to the machine's list of users.
"""

import atexit
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.services.programs import roomy_memory

ROOT = Path(__file__).resolve().parents[3]
_FIRST = 61_000
_TRIED = "import celery, cryptography, django, numpy, redis, scipy"


def require():
    """Skip, saying why, where no accounts can be had; fail instead when REQUIRE_SERVICES=1."""
    if not (why := missing()):
        return
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(f"REQUIRE_SERVICES=1, but {why}", pytrace=False)
    pytest.skip(why)


def missing():
    if os.geteuid() != 0:
        return "only root may run processes under accounts of their own"
    if interpreter() is None:
        return "other accounts may not read the product and its packages"
    return ""


def three():
    """For analyser, shuffler and devices; others for each process of pytest-xdist."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    free = [number for number in range(_FIRST, _FIRST + 1000) if number not in taken]
    return free[3 * worker : 3 * worker + 3]


def run_as(account):
    """Options of `subprocess` for a process of that account; None: this one's."""
    return {} if account is None else {"user": account, "group": account, "extra_groups": []}


def environment():
    """What an interpreter without the packages of this one needs to find them."""
    packages = sysconfig.get_path("purelib")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LD_LIBRARY_PATH": str(_place() / "lib"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "device"), packages]),
        "PYTHONUNBUFFERED": "1",
    }


@cache
def interpreter():
    """This one, or a copy where this one lies in a folder of root's own; None: neither can be run."""
    if _runs(sys.executable):
        return sys.executable
    copied = _copied()
    return copied if _runs(copied) else None


@cache
def _place():
    """Of the copy, until the tests end."""
    made = Path(tempfile.mkdtemp(prefix="hazemap-python-", dir=roomy_memory()))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    made.chmod(0o755)
    return made


def _copied():
    """Without what no program of ours imports."""
    place, library = _place(), Path(sysconfig.get_path("stdlib"))
    program = place / "bin" / "python3"
    for folder in (program.parent, place / "lib"):
        folder.mkdir()
    shutil.copy(os.path.realpath(sys.executable), program)
    for shared in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython3*.so*"):
        shutil.copy(shared, place / "lib")
    left_out = shutil.ignore_patterns("test", "tests", "site-packages", "idlelib", "config-*")
    shutil.copytree(library, place / "lib" / library.name, ignore=left_out)
    for folder in (program.parent, place / "lib"):
        folder.chmod(0o755)
    return str(program)


def _runs(program):
    try:
        options = {"env": environment(), "cwd": "/", "capture_output": True} | run_as(three()[0])
        return subprocess.run([program, "-c", _TRIED], check=False, **options).returncode == 0
    except OSError:
        return False
