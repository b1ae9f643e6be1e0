"""Reads what `experiments.toml` says of each table and figure: title, caption, and what was measured on."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

DESCRIPTIONS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    tomllib.loads(Path(__file__).with_name("experiments.toml").read_text(encoding="utf-8"))
)


def caption(name: str, facts: Mapping[str, object]) -> str:
    """Returns the caption of that experiment on one line, with its facts filled in. Errors: KeyError."""
    description = DESCRIPTIONS[name]
    template = DESCRIPTIONS[description.get("caption_of", name)]["caption"]
    return " ".join(template.format(**facts).split())
