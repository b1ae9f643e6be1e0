"""Files of an installation open for its own account alone, whatever the shell's umask was."""

import os
import stat
import subprocess
import sys

import pytest

from heatmaps.config import private_files
from heatmaps.config.environment import state_dir
from heatmaps.config.key_folders import key_dir
from tests.services.installation import ROOT, Installation

SETTINGS = "from heatmaps.config import settings"
DATABASE = """
import os
from django.db import connection
connection.cursor().execute("CREATE TABLE t (x int)")
os._exit(0)  # nothing is taken away
"""
STARTS = {
    "a command": "from django.conf import settings; settings.STATE_DIR",
    "a worker": "from heatmaps.config.celery import app; app.conf.broker_url",
    "the web": "import heatmaps.config.wsgi",
}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("start", [*list(STARTS)[:2], pytest.param("the web", marks=pytest.mark.long)])
def test_every_process_makes_files_for_itself_alone(tmp_path, start):
    made = tmp_path / "made"
    environment = Installation(folder=tmp_path / "state", broker_url="redis://127.0.0.1:1/0").environment
    code = f"{STARTS[start]}\nopen({str(made)!r}, 'w')"
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, umask=0o000, check=True)
    assert mode(made) == 0o600


def test_the_database_is_private_from_the_start(tmp_path):
    state = tmp_path / "state"
    Installation(folder=state).python("-c", DATABASE, umask=0o022)
    files = [path for path in state.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"hazemap.sqlite3", "hazemap.sqlite3-wal", "django-secret-key"}
    assert {mode(path) for path in files} == {0o600}
    assert {mode(path) for path in state.rglob("*") if path.is_dir()} == {0o700}


def test_what_is_loose_is_tightened(tmp_path):
    state = tmp_path / "state"
    loose = [state / "credentials", state / "hazemap.sqlite3", state / "hazemap.sqlite3-wal"]
    loose += [state / "keys" / name for name in ("city-0123.key", "django-secret-key")]
    for path in loose:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        path.chmod(0o644)
    for folder in (state, state / "keys"):
        folder.chmod(0o755)
    Installation(folder=state).python("-c", SETTINGS)
    assert {mode(path) for path in loose} == {0o600}
    assert {mode(folder) for folder in (state, state / "keys", state / "uploads")} == {0o700}


def test_a_folder_of_another_account_is_refused(tmp_path, monkeypatch):
    for name, read in (("HAZEMAP_STATE", state_dir), ("HAZEMAP_KEY_DIR", lambda: key_dir(tmp_path))):
        monkeypatch.setenv(name, str(tmp_path / "of others"))
        (tmp_path / "of others").mkdir(exist_ok=True)
        monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
        with pytest.raises(RuntimeError, match=rf"of others belongs to another account .* {name}"):
            read()
        monkeypatch.undo()


def test_a_folder_for_everybody_is_refused(tmp_path):
    tmp_path.chmod(0o1777)
    with pytest.raises(RuntimeError, match="choose a folder inside it with HAZEMAP_STATE"):
        private_files.folder(tmp_path)


def test_a_key_of_another_account_is_refused(tmp_path, monkeypatch):
    key = tmp_path / "city.key"
    key.write_text("x")
    monkeypatch.setattr(os, "geteuid", lambda: key.stat().st_uid + 1)
    with pytest.raises(RuntimeError, match=r"the file .*city\.key belongs to another account"):
        private_files.tighten(key)


def test_links_and_what_is_gone_are_left_alone(tmp_path):
    target = tmp_path / "target"
    target.write_text("x")
    target.chmod(0o644)
    (tmp_path / "link").symlink_to(target)
    private_files.tighten(tmp_path / "link", tmp_path / "gone")
    assert mode(target) == 0o644
