"""Tests that a text names, as `tests/folder/test_file.py` or with `::test_name` behind it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def named_in(text):
    """(path, name) of each; no name where the whole file is meant."""
    return sorted(set(_NAMED.findall(text)))


def is_there(path, name):
    """Whether the file has that test, or any."""
    file = ROOT / path
    found = re.findall(
        r"^(?:async )?def (test_\w+)\(", file.read_text() if file.is_file() else "", re.MULTILINE
    )
    return name in found if name else bool(found)
