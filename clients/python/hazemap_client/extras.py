"""Loads packages that only some results need."""

from importlib import import_module
from typing import Any

from hazemap_client.errors import MissingExtra


def needed(module: str, *, extra: str) -> Any:
    """A module, or a sentence that says what to install. Errors: `MissingExtra`."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"{module} is not installed. Install it with: pip install 'hazemap-client[{extra}]'"
        ) from None
