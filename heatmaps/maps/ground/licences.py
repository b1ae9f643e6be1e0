"""Gathers the licences of the front-end packages that are handed on with the product."""

import json
from pathlib import Path
from typing import Final

FILE: Final = "licences.txt"
_TYPES: Final = "@types/"  # declarations for compilers: nothing of them is handed on


def shipped(lock: Path) -> dict[str, str]:
    """Returns the licence of each package by its name, as the lock file of npm states it. Errors: OSError."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    named_packages = {path.rpartition("node_modules/")[2]: about for path, about in packages.items() if path}
    return {
        name: about["license"]
        for name, about in sorted(named_packages.items())
        if not about.get("dev") and not name.startswith(_TYPES)
    }


def texts(packages: Path, lock: Path) -> str:
    """Returns each package with its licence, in full where the package has it. Errors: OSError."""
    parts = []
    for name, licence in shipped(lock).items():
        title = f"{name}: {licence}"
        files = sorted((packages / name).glob("LICENSE*"))
        licence_texts = [path.read_text(encoding="utf-8").strip() for path in files]
        parts.append("\n\n".join([f"{title}\n{'-' * len(title)}", *licence_texts]))
    return "\n\n\n".join(parts) + "\n"
