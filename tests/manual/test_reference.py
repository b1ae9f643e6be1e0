"""The generated parts of the manual: each is asked for by a page, and says what the program has."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import find_commands

from docs.manual import catalogue, reference
from heatmaps.config import environment
from mechanisms.catalogue import registry
from mechanisms.devices import catalogue as devices
from tests.services.installation import ROOT

MARK = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
SHUFFLERS = {"shuffler settings", "shuffler commands"}


@pytest.fixture(scope="module")
def parts():
    return reference.parts(reference.ANALYSER)


@pytest.fixture(scope="module")
def shuffler_parts(tmp_path_factory):
    """From a process of its own, as the manual asks: these settings move the folder of temporary files."""
    state = tmp_path_factory.mktemp("shuffler")
    told = subprocess.check_output(
        [sys.executable, "-m", "docs.manual.reference", "shuffler"],
        cwd=ROOT,
        env=os.environ | {"HAZEMAP_SHUFFLER_STATE": str(state)},
    )
    return json.loads(told)


def test_every_part_is_asked_for_and_every_one_that_is_asked_for_is_there(parts):
    asked = [mark for path in (ROOT / "docs").rglob("*.md") for mark in MARK.findall(path.read_text())]
    assert sorted(asked) == sorted({*parts, *SHUFFLERS})


@pytest.mark.parametrize("package", [reference.ANALYSER, reference.SHUFFLER])
def test_every_command_has_its_section_and_its_options(package, parts, shuffler_parts):
    folder = Path(ROOT, *package.split("."), "management")
    is_shuffler = package == reference.SHUFFLER
    told = shuffler_parts["shuffler commands"] if is_shuffler else parts["commands"]
    names = [f"shuffler {name}" if is_shuffler else name for name in sorted(find_commands(str(folder)))]

    assert re.findall(r"^### (.+)$", told, re.MULTILINE) == names
    assert "`--port PORT`" in told
    assert "%(default" not in told
    assert "--settings" not in told  # Django's own are not ours to explain


def test_every_setting_that_is_read_is_in_the_table(parts, shuffler_parts):
    for path, told in (
        (environment.__file__, parts["settings"]),
        (ROOT / "heatmaps/shuffler/settings.py", shuffler_parts["shuffler settings"]),
    ):
        read = set(re.findall(r'"(HAZEMAP_\w+)"', Path(path).read_text()))
        assert read
        assert read <= set(re.findall(r"HAZEMAP_\w+", told)), path


def test_every_mechanism_and_every_operation_has_its_row(parts):
    rows = set(re.findall(r"^\| `([\w-]+)` \|", parts["mechanisms"], re.MULTILINE))
    assert rows >= {entry.name for entry in registry.entries()}
    assert all(f"| `{entry.name}` |" in parts["device mechanisms"] for entry in devices.entries())
    assert "| `POST /api/v1/datasets/{slug}/releases/` | Ask for a release |" in parts["operations"]
    assert parts["operations"].count("\n| `") > 70


def test_what_is_simulated_is_named_where_a_method_is_chosen():
    text = " ".join((ROOT / "docs/explanation/methods.md").read_text().split())
    told = text.partition("called *simulated* (")[2].partition(")")[0]
    simulated = [one.name for one in registry.entries() if one.simulates_shuffling or one.simulates_devices]
    assert told == ", ".join(f"`{name}`" for name in simulated)


def test_text_of_the_program_shows_every_character():
    assert reference.plain("a | b\n <c> * &") == "a &#124; b &lt;c> &#42; &amp;"
    assert "nearest" in catalogue.nearest_maps()
