"""Docstrings and comments name files and modules that are there, and members that these have."""

import ast
import importlib
import importlib.util
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("heatmaps", "mechanisms", "api", "clients", "static", ".package")
PATHS = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
SOURCES = [path for path in PATHS if path.suffix == ".py"]
FILE_NAMES = {path.name for path in [*PATHS, *ROOT.glob("*.py"), *(ROOT / "tests").rglob("*.py")]}
CODE, DATA = (".js", ".mjs", ".py", ".toml"), (".bin", ".csv", ".json", ".png")  # endings of files
DOTTED = re.compile(r"`([a-z_][a-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+)(?:\([^`\n]*\))?`")


@cache
def tree(path):
    return ast.parse(path.read_text())


@cache
def modules():
    """Files by the name of a module, or of the folder that is a package."""
    by_name = {}
    for path in SOURCES:
        by_name.setdefault(path.parent.name if path.stem == "__init__" else path.stem, []).append(path)
        for folder in path.relative_to(ROOT).parents[:-1]:
            by_name.setdefault(folder.name, [])
    return by_name


@cache
def members(module):
    """What a module of ours defines or uses, and what lies in its folder."""
    names = {path.stem for path in SOURCES if path.parent.name == module}
    names |= {path.parent.name for path in SOURCES if path.parent.parent.name == module}
    return names.union(*(identifiers(path) for path in modules()[module]))


@cache
def identifiers(path):
    fields = ("id", "arg", "attr", "name", "asname")
    values = {getattr(node, field, None) for node in ast.walk(tree(path)) for field in fields}
    return {value for value in values if isinstance(value, str)}


def is_foreign(module, member):
    """Whether it is of the standard library or a package."""
    if module not in sys.stdlib_module_names and importlib.util.find_spec(module) is None:
        return False
    return hasattr(importlib.import_module(module), member)


def is_there(dotted, path):
    """Whether a dotted name is a file, a module's member, or begins with a name of the code of `path`."""
    if dotted.endswith(CODE + DATA):
        return dotted.endswith(DATA) or dotted in FILE_NAMES
    parts = dotted.split(".")
    pairs = list(pairwise(parts))
    if parts[0] in modules() and all(one not in modules() or two in members(one) for one, two in pairs):
        return True
    if parts[0] not in modules() and parts[0] in identifiers(path):
        return True
    return is_foreign(*parts[:2])


def named(path):
    """Dotted names between backquotes."""
    return sorted(set(DOTTED.findall(path.read_text())))


def test_what_docstrings_name_is_there():
    names = [(str(path.relative_to(ROOT)), path, name) for path in SOURCES for name in named(path)]
    assert len(names) > 100
    assert [(file, name) for file, path, name in names if not is_there(name, path)] == []


def test_what_is_not_there_is_seen():
    path = ROOT / "heatmaps/releases/lifecycle.py"
    assert is_there("permissions.require", path)
    for name in ("access.require", "permissions.nothing", "nothing.py"):
        assert not is_there(name, path)
