"""Limits by Landlock what this process may open: Linux, from 5.13 on, refuses everything else.

Newer kernels also close TCP, abstract sockets of others and signals to others. Three calls do it, so there is
no library: those on PyPI are young and would run in each child before it is confined.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from heatmaps.children import kernel

_ONLY_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
# Writing, removing folders and files, making both, cutting off (from version 3 on).
_WRITE: Final = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 14
# All that a version knows, by the first version that does: of files, of TCP, of other processes.
_FILES: Final = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP: Final = {4: 0b11}
_OTHERS: Final = {6: 0b11}


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("others", ctypes.c_uint64)]


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def version() -> int:
    """Returns the version that this kernel offers; 0: none, or a container's profile refuses it."""
    try:
        return kernel.call("landlock_create_ruleset", 0, 0, _ONLY_VERSION)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], folder: Path | None = None) -> None:
    """Leaves this thread, and those it starts, to read these folders and files, and what is open already.

    What is not there is left out. folder: where it may also write. Errors: OSError.
    """
    offered = version()
    ruleset = _Ruleset(*(_supported(rights, offered) for rights in (_FILES, _TCP, _OTHERS)))
    size = ctypes.sizeof(ruleset)
    rules = kernel.call("landlock_create_ruleset", ctypes.byref(ruleset), size, 0)
    try:
        for path in readable:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow(rules, path, _READ_FILE | _READ_FOLDER)
        if folder is not None:
            _allow(rules, folder, _READ_FILE | _READ_FOLDER | _WRITE & ruleset.files)
        kernel.call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)


def _supported(rights: dict[int, int], offered: int) -> int:
    return sum(right for first, right in rights.items() if first <= offered)


def _allow(rules: int, path: Path, allowed: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = _Rule(allowed if is_folder else allowed & _READ_FILE, descriptor)
        kernel.call("landlock_add_rule", rules, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
