"""What the wheel hands on: all that the product needs, nothing else, and by whose leave."""

import os
import re
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.core.management import get_commands

from heatmaps.maps.ground.licences import shipped
from tests.deployment.wheel import another_checkout, built
from tests.services.installation import ROOT

APP = "hazemap/app/"
PACKAGES = ("api", "heatmaps", "mechanisms", "static", "templates", "clients/device/hazemap_device")
NOT_HANDED_ON = {".lock", ".md", ".ts", ".pyc"}
NOTICE = " ".join((ROOT / "NOTICE").read_text().split())
LABORATORY = ROOT / "mechanisms/reproduction"
# Of a checkout's set-up, and of `serve` alone.
UNLISTED = {"ground", "work"}
ONLY_INSTALLED = {"worker", "shuffler", "createsuperuser"}

pytestmark = pytest.mark.skipif(
    not (ROOT / "build" / "front").is_dir(), reason="the packages of npm are not installed"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def hazemap(unpacked, *arguments, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HAZEMAP_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "-m", "hazemap", *arguments],
        env=kept | {"PYTHONPATH": str(unpacked)} | environment,
        cwd=unpacked.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_holds_the_product_and_nothing_else(unpacked):
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    expected = {f"{APP}manage.py"}
    for package in PACKAGES:
        files = [path for path in (ROOT / package).rglob("*") if path.is_file()]
        expected |= {APP + path.relative_to(ROOT).as_posix() for path in files if wanted(path)}
    own = {name for name in found if not name.startswith(APP) and ".dist-info/" not in name}
    built_before = {name for name in found if name.startswith(f"{APP}build/")}
    about = {name for name in found if ".dist-info/" in name}

    assert found == expected | own | built_before | about
    assert own == {f"hazemap/{path.name}" for path in (ROOT / ".package/hazemap").glob("*.py")}
    assert {"LICENSE", "NOTICE", "entry_points.txt"} <= {Path(name).name for name in about}
    assert {name.split("/")[3] for name in built_before} <= {"front", "ground", "manual"}
    for needed in (
        "front/licences.txt",
        "front/protomaps-leaflet.js",
        "front/hpke/core/mod.js",
        "ground/sea-1.npz",
    ):
        assert f"{APP}build/{needed}" in found


def wanted(path):
    return (
        path.suffix not in NOT_HANDED_ON
        and "__pycache__" not in path.parts
        and not path.is_relative_to(LABORATORY)
    )


def test_it_is_the_same_twice_with_files_that_all_may_read_and_no_path_of_the_builder(wheel, tmp_path):
    again = built(tmp_path, another_checkout(tmp_path / "checkout"))
    assert again.read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        modes = {stat.S_IMODE(one.external_attr >> 16) for one in archive.infolist()}
        assert modes <= {0o644, 0o755}
        told = [name for name in archive.namelist() if str(ROOT).encode() in archive.read(name)]
    assert told == []


def test_the_notice_names_every_package_of_npm_with_its_licence_and_every_file_of_data(unpacked):
    packages = shipped(ROOT / "package-lock.json")
    texts = (unpacked / APP / "build/front/licences.txt").read_text()
    data = [
        path
        for path in (unpacked / APP).rglob("*")
        if path.suffix in {".npz", ".json", ".csv", ".gz", ".tif"}
    ]

    assert len(packages) > 15
    assert len(data) > 8
    for name, licence in packages.items():
        told = re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w-])[^()]*\((?:code: )?([^)]*)\)", NOTICE)
        assert told is not None, name
        assert told[1] == licence, name
        assert f"\n{name}: {licence}\n" in f"\n{texts}"
    assert [path.name for path in data if not names(path)] == []


def names(path):
    """Whether the notice names a file, or all of its kind by a star."""
    starred = {path.name, re.sub(r"-\d+\.", "-*.", path.name), f"{path.parent.name}/*{path.suffix}"}
    return any(name in NOTICE for name in starred)


def test_help_lists_every_command_in_words_and_the_version_is_that_of_the_project(unpacked):
    ours = {name for name, app in get_commands().items() if app == "heatmaps"} - UNLISTED
    told = hazemap(unpacked, "help").stdout
    assert set(re.findall(r"^  (\S+) {2,}\S", told, re.MULTILINE)) == ours | ONLY_INSTALLED
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert hazemap(unpacked, "--version").stdout == f"Hazemap {version}\n"


def test_the_papers_experiments_are_run_from_a_checkout(unpacked):
    done = hazemap(unpacked, "reproduce")
    assert done.returncode != 0
    assert "made from a checkout of Hazemap" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_of_the_shuffler_lists_its_commands_and_the_one_that_makes_its_tables(unpacked):
    folder = unpacked / APP / "heatmaps/shuffler/management/commands"
    ours = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    for asked in ([], ["help"], ["--help"]):
        told = hazemap(unpacked, "shuffler", *asked).stdout
        assert set(re.findall(r"^  (\S+) {2,}\S", told, re.MULTILINE)) == ours | {"migrate"}
    assert "--port" in hazemap(unpacked, "shuffler", "help", "serve").stdout


def test_a_command_before_there_are_tables_says_what_makes_them(unpacked, tmp_path):
    refused = hazemap(unpacked, "createdemo", "--empty", XDG_DATA_HOME=str(tmp_path))
    assert refused.stderr == "hazemap: the database waits for migrations; run `hazemap migrate` first\n"
    assert (tmp_path / "hazemap" / "hazemap.sqlite3").is_file()


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(unpacked, tmp_path):
    (tmp_path / "file").write_text("")
    for command, folder in ((["check"], "hazemap"), (["shuffler", "status"], "hazemap-shuffler")):
        refused = hazemap(unpacked, *command, XDG_DATA_HOME=str(tmp_path / "file"))
        assert refused.returncode == 1
        assert re.fullmatch(
            rf"hazemap: the folder {tmp_path}/file/{folder} cannot be made: Not a directory; .*_STATE.*\n",
            refused.stderr,
        )
