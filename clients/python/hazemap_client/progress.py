"""Tells how much of a file was sent."""

import sys
from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # bytes sent, bytes in all

_STEP = 1 << 20  # between two lines


def usual() -> Progress:
    """A line that rewrites itself, in terminals and notebooks; elsewhere nothing."""
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _line() if watched else _nothing


def _nothing(sent: int, total: int) -> None:
    pass


def _line() -> Progress:
    told = -_STEP

    def tell(sent: int, total: int) -> None:
        nonlocal told
        if sent - told >= _STEP or sent == total:
            told = sent
            end = "\n" if sent == total else ""
            sys.stderr.write(f"\rSent {sent / 1e6:,.1f} of {total / 1e6:,.1f} MB{end}")
            sys.stderr.flush()

    return tell
