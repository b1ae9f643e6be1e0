"""The shuffler and the analyser share no state, no key and no code but what answers connections.

`conftest.OF_THE_ANALYSER` makes everything of the analyser's unusable for all tests of this folder.
"""

import tomllib
from pathlib import Path

import pytest

from tests.shuffler.process import ROOT

SHARED = {"front", "http", "page_bundle", "shuffler"}


def contract(name):
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(one for one in told if one["name"] == name)


def rooms():
    found = {path.stem for path in (ROOT / "heatmaps").iterdir() if path.suffix in ("", ".py")}
    return {name for name in found if not name.startswith("_")}


def test_the_contracts_name_every_room():
    shared_nothing = contract("the shuffler knows nothing of the analyser")["forbidden_modules"]
    assert {f"heatmaps.{name}" for name in rooms() - SHARED} <= set(shared_nothing)
    knowing_nothing = contract("the product knows nothing of the shuffler")["source_modules"]
    assert {f"heatmaps.{name}" for name in rooms() - {"shuffler"}} <= set(knowing_nothing)


def test_it_touches_its_own_state_alone(shuffler):
    """Its working folder is where the analyser's state would be by default."""
    assert not (shuffler.folder / ".local").exists()
    opened = {str(path.readlink()) for path in Path(f"/proc/{shuffler.process.pid}/fd").iterdir()}
    mine = (
        str(shuffler.state),
        str(shuffler.folder / "output"),
        "/dev/null",
        "socket:",
        "pipe:",
        "anon_inode:",
    )
    assert [path for path in opened if not path.startswith(mine)] == []


@pytest.mark.long
def test_there_is_one_server_a_state_folder(shuffler):
    told = shuffler.manage("serve", "--port", "0")
    assert told.returncode == 1
    assert "another server uses" in told.stderr
