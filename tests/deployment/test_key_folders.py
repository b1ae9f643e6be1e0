"""Web's keys and those of datasets: one folder or two, and the way from one to two."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from heatmaps.config import key_folders
from heatmaps.people import accounts, sign_in
from tests.services.installation import Installation

OLD = {"django-secret-key": "signs", "second-factor-key": "encrypts", "city-0123.key": "hashes"}
STEPS = ((os, "fsync"), (os, "link"), (Path, "unlink"))


@pytest.fixture
def keys(tmp_path):
    """The folder of an installation that had one folder."""
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    for name, content in OLD.items():
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    return folder


@pytest.fixture
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("HAZEMAP_WEB_KEY_DIR", str(tmp_path / "web-keys"))
    return tmp_path / "web-keys"


def contents(*folders):
    """Of keys; the note that says where they went is none."""
    paths = [path for folder in folders if folder.exists() for path in folder.iterdir()]
    return {path.name: path.read_text() for path in paths if path.name != key_folders.MOVED}


def read(folder):
    return key_folders.signing_key(folder), key_folders.second_factor_key(folder)


def test_where_nothing_is_set_both_are_one_folder(keys, monkeypatch):
    monkeypatch.delenv("HAZEMAP_WEB_KEY_DIR", raising=False)

    assert read(key_folders.web_key_dir(keys)) == ("signs", "encrypts")

    assert contents(keys) == OLD


def test_new_keys_are_made_once(tmp_path, apart, monkeypatch):
    monkeypatch.setenv("HAZEMAP_KEY_DIR", str(tmp_path / "keys"))
    first = read(key_folders.web_key_dir(key_folders.key_dir(tmp_path)))

    assert read(key_folders.web_key_dir(key_folders.key_dir(tmp_path))) == first
    assert len({*first}) == 2
    assert set(contents(apart)) == {"django-secret-key", "second-factor-key"}
    assert contents(tmp_path / "keys") == {}


def test_webs_keys_are_moved_and_those_of_datasets_stay(keys, apart):
    for _ in range(2):
        assert read(key_folders.web_key_dir(keys)) == ("signs", "encrypts")

    assert contents(keys) == {"city-0123.key": "hashes"}
    assert contents(apart) == {"django-secret-key": "signs", "second-factor-key": "encrypts"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in apart.iterdir()} == {0o600}
    assert stat.S_IMODE(apart.stat().st_mode) == 0o700


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1])
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_on_the_way_loses_and_replaces_no_key(keys, apart, monkeypatch, step, after):
    place, name = step
    act = getattr(place, name)

    def dies(*arguments, **options):
        if after:
            act(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, name, dies)
        with pytest.raises(KeyboardInterrupt):
            key_folders.web_key_dir(keys)

    assert contents(keys, apart).items() >= OLD.items()
    assert read(key_folders.web_key_dir(keys)) == ("signs", "encrypts")
    assert contents(keys) == {"city-0123.key": "hashes"}


def test_many_at_once_move_the_same_keys(keys, apart):
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: key_folders.web_key_dir(keys), range(8)))

    assert {read(folder) for folder in folders} == {("signs", "encrypts")}
    assert contents(keys) == {"city-0123.key": "hashes"}
    assert set(contents(apart)) == {"django-secret-key", "second-factor-key"}


def test_no_key_takes_the_place_of_another(keys, apart):
    apart.mkdir()
    (apart / "second-factor-key").write_text("another")

    with pytest.raises(RuntimeError, match="two different keys second-factor-key") as refusal:
        key_folders.web_key_dir(keys)

    assert "encrypts" not in str(refusal.value)
    assert (keys / "second-factor-key").read_text() == "encrypts"
    assert (apart / "second-factor-key").read_text() == "another"


def test_keys_that_were_moved_are_not_made_anew_where_they_were(keys, apart, monkeypatch):
    key_folders.web_key_dir(keys)
    monkeypatch.delenv("HAZEMAP_WEB_KEY_DIR")

    with pytest.raises(RuntimeError, match=rf"were moved from .* to {apart}: set HAZEMAP_WEB_KEY_DIR"):
        key_folders.web_key_dir(keys)

    assert contents(keys) == {"city-0123.key": "hashes"}
    for path in apart.iterdir():  # they may be put back
        path.rename(keys / path.name)
    assert read(key_folders.web_key_dir(keys)) == ("signs", "encrypts")


@pytest.mark.parametrize("name", key_folders.OF_WEB)
def test_a_note_that_a_worker_points_elsewhere_overwrites_no_key(keys, apart, name):
    apart.mkdir()
    for key in key_folders.OF_WEB:
        (apart / key).write_text(OLD[key])
    (keys / key_folders.MOVED).symlink_to(apart / name)

    assert read(key_folders.web_key_dir(keys)) == ("signs", "encrypts")

    assert contents(apart) == {"django-secret-key": "signs", "second-factor-key": "encrypts"}
    assert key_folders.spool.key_text(keys / key_folders.MOVED) == f"{apart}\n"


@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: path.symlink_to("city.key"), Path.mkdir])
def test_what_is_no_file_in_a_keys_place_is_not_read(tmp_path, apart, plant):
    (folder := tmp_path / "keys").mkdir(mode=0o700)
    (folder / "city.key").write_text("of a worker")
    plant(folder / "django-secret-key")

    first = read(key_folders.web_key_dir(folder))

    assert "of a worker" not in first
    assert read(key_folders.web_key_dir(folder)) == first
    assert set(contents(apart)) == {"django-secret-key", "second-factor-key"}


def test_a_process_without_webs_keys_reads_and_makes_none(keys, monkeypatch):
    monkeypatch.setenv("HAZEMAP_WEB_KEY_DIR", "none")
    folder = key_folders.web_key_dir(keys)

    assert folder is None
    assert key_folders.signing_key(folder) not in {"signs", key_folders.signing_key(folder)}
    assert key_folders.second_factor_key(folder) == ""
    assert contents(keys) == OLD


def test_without_webs_keys_nothing_is_sealed_and_no_session_overlooked(settings):
    settings.WEB_KEY_DIR, settings.SECOND_FACTOR_KEY = None, ""

    with pytest.raises(RuntimeError, match="HAZEMAP_WEB_KEY_DIR"):
        sign_in.MFAAdapter().encrypt("a secret")
    with pytest.raises(RuntimeError, match="HAZEMAP_WEB_KEY_DIR"):
        accounts.end_sessions(User(pk=1))


@pytest.mark.long
def test_no_web_serves_without_its_keys(tmp_path):
    made = Installation(folder=tmp_path / "state", broker_url="redis://127.0.0.1:1/0")
    made.others = {"HAZEMAP_WEB_KEY_DIR": "none"}

    for arguments in (("manage.py", "serve", "--port", "0"), ("-c", "import heatmaps.config.wsgi")):
        refused = made.python(*arguments, check=False)
        assert refused.returncode == 1
        assert "web needs its keys: HAZEMAP_WEB_KEY_DIR is none" in refused.stderr
