"""The generated parts of the manual: each is asked for by a page, and says what the program has."""

import re
from pathlib import Path

import pytest
from django.core.management import find_commands

from docs.manual import catalogue, reference
from heatmaps.config import environment
from heatmaps.shuffler import settings as shuffler_settings
from mechanisms.catalogue import registry
from mechanisms.devices import catalogue as devices
from tests.services.installation import ROOT

MARK = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)
SHUFFLERS = {"shuffler settings", "shuffler commands"}


@pytest.fixture(scope="module")
def parts():
    return reference.parts(reference.ANALYSER)


def test_every_part_is_asked_for_and_every_one_that_is_asked_for_is_there(parts):
    asked = [mark for path in (ROOT / "docs").rglob("*.md") for mark in MARK.findall(path.read_text())]
    assert sorted(asked) == sorted({*parts, *SHUFFLERS})


@pytest.mark.parametrize("package", [reference.ANALYSER, reference.SHUFFLER])
def test_every_command_has_its_section_and_its_options(package):
    folder = Path(ROOT, *package.split("."), "management")
    told = reference.commands(package, "manage.py")

    assert re.findall(r"^### (.+)$", told, re.MULTILINE) == sorted(find_commands(str(folder)))
    assert "`--port PORT`" in told
    assert "%(default" not in told
    assert "--settings" not in told  # Django's own are not ours to explain


def test_every_setting_that_is_read_is_in_the_table(parts):
    for module, told in (
        (environment, parts["settings"]),
        (shuffler_settings, reference.documented_table(shuffler_settings.__doc__)),
    ):
        read = set(re.findall(r'"(HAZEMAP_\w+)"', Path(module.__file__).read_text()))
        assert read
        assert read <= set(re.findall(r"HAZEMAP_\w+", told)), module.__name__


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
