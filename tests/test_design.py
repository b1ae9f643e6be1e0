"""What the design page and the decisions say of packages and numbers is so in the code."""

import re
import sys
import tomllib

import pytest

from heatmaps.config import environment
from mechanisms.central.adaptive import mechanism as adaptive
from tests.services.installation import ROOT

FOLDERS = {"hazemap_client": "clients/python", "hazemap_device": "clients/device"}
OURS = ("mechanisms", "heatmaps", "api", *FOLDERS)
DESIGN = (ROOT / "docs/explanation/design.md").read_text()
IMPORT = re.compile(r"^ *(?:from ([\w.]+) import |import ([\w.]+))", re.MULTILINE)


def packages():
    """Rows of the table: name, what it imports of ours, and of others."""
    table = DESIGN.partition("## Packages")[2].partition("\n\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| .* \| (.*) \| (.*) \|$", table, re.MULTILINE)
    return {name: (ours, others) for name, ours, others in rows}


def files_of(package):
    folder = ROOT / FOLDERS.get(package, package.replace(".", "/"))
    return [path for path in folder.rglob("*.py") if "build" not in path.parts]


def imported(paths):
    return {one or two for path in paths for one, two in IMPORT.findall(path.read_text())}


def room(module):
    return ".".join(module.split(".")[:2])


def others(modules):
    roots = {module.partition(".")[0] for module in modules}
    return roots - set(sys.stdlib_module_names) - set(OURS)


def decision(number):
    (path,) = (ROOT / "docs/decisions").glob(f"{number:04}-*.md")
    return path.read_text()


def test_the_table_has_every_package():
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    clients = {path.parent.name for path in ROOT.glob("clients/*/*/__init__.py")}
    assert set(packages()) == folders | clients | {"heatmaps.shuffler"}


@pytest.mark.parametrize("package", ["mechanisms", "api", *FOLDERS])
def test_a_package_imports_what_the_table_says(package):
    ours, _ = packages()[package]
    modules = imported(files_of(package))
    roots = {module.partition(".")[0] for module in modules} & set(OURS) - {package}
    assert roots == set(re.findall(r"`(\w+)`", ours))


def test_the_product_imports_the_device_client_for_its_demo_alone():
    roots = {path: {module.partition(".")[0] for module in imported([path])} for path in files_of("heatmaps")}
    users = {path.relative_to(ROOT).parts[1] for path, names in roots.items() if "hazemap_device" in names}
    assert users == {"demo"}
    assert set().union(*roots.values()) & set(OURS) == {"heatmaps", "mechanisms", "hazemap_device"}


def test_the_shuffler_imports_what_the_table_says():
    ours, foreign = packages()["heatmaps.shuffler"]
    modules = imported(files_of("heatmaps.shuffler"))
    of_product = {module for module in modules if module.startswith("heatmaps.")}
    shared = {room(module) for module in of_product} - {"heatmaps.shuffler"}
    assert shared == set(re.findall(r"`(heatmaps\.\w+)`", ours))
    assert others(modules) - {"django"} == set(re.findall(r"[a-z]+", foreign.partition(", ")[2]))


@pytest.mark.parametrize("package", ["mechanisms", *FOLDERS])
def test_libraries_are_those_of_the_table(package):
    _, foreign = packages()[package]
    names = re.sub(r"POT \(`ot`\)", "ot", foreign.partition(" in ")[0])
    named = set(re.findall(r"\b[A-Za-z]+\b", names)) - {"as", "extras"}
    assert others(imported(files_of(package))) == named


def test_the_papers_figures_alone_need_matplotlib():
    users = [path for path in files_of("mechanisms") if "matplotlib" in others(imported([path]))]
    assert {path.relative_to(ROOT).parts[1] for path in users} == {"reproduction"}


def test_the_ledger_imports_the_mechanisms_that_are_named():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (allowed,) = (
        one["ignore_imports"] for one in contracts if one.get("source_modules") == ["heatmaps.ledger"]
    )
    sentence = re.search(r"The ledger\s+imports of the mechanisms (.*?) alone\.", DESIGN, re.DOTALL).group(1)
    assert set(re.findall(r"`([\w.]+)`", sentence)) == {line.partition(" -> ")[2] for line in allowed}


def test_numbers_of_decisions_are_those_of_the_code():
    lines = sum(len(path.read_text().splitlines()) for path in (ROOT / "heatmaps/front").rglob("*.py"))
    (stated,) = re.findall(r"(\d+) lines at most", decision(8))
    assert 0.85 * int(stated) < lines <= int(stated)
    least, most = adaptive.GUIDED
    assert f"Up to n·ε = {adaptive.MOST_WALKED:,} (" in decision(10)
    assert f"from {least:,} to {most:,} a map" in decision(10)
    assert f"Below n·ε = {least:,} guides are refused" in " ".join(decision(10).split())
    assert "Small datasets wait two seconds." in decision(5)
    assert re.search(r"`HAZEMAP_SLOT_SECONDS` \| `2,", environment.__doc__)
