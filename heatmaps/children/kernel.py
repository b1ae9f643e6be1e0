"""Calls Linux where Python has no function for it."""

import ctypes
import os
import platform
import sys
from typing import Final

from heatmaps.children.system_calls import CONFINING, PROCESSORS

IS_LINUX: Final = sys.platform == "linux"
PROCESSOR: Final = PROCESSORS.get(platform.machine()) if IS_LINUX else None
_SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 4, 38  # of prctl


def call(name: str, *arguments: object) -> int:
    """Makes one of the system calls that confine, with numbers or ctypes' pointers. Errors: OSError."""
    if PROCESSOR is None:
        raise OSError(f"no number is known here for {name}")
    number = CONFINING[name][PROCESSOR[1]]
    return _checked(_library().syscall(ctypes.c_long(number or 0), *map(_word, arguments)))


def hide_memory() -> None:
    """Closes memory, environment and descriptors of this process to all but root; no core is dumped.

    Another process of the same account would read keys and passwords there. Elsewhere than on Linux: nothing.
    """
    if IS_LINUX:
        _control(_SET_DUMPABLE, 0)


def give_up_privileges() -> None:
    """Makes sure that no program gives this process more rights than it has, which confining asks for."""
    _control(_SET_NO_NEW_PRIVILEGES, 1)


def _control(option: int, value: int) -> None:
    _checked(_library().prctl(ctypes.c_int(option), *map(_word, (value, 0, 0, 0))))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _word(argument: object) -> object:
    return ctypes.c_ulong(argument) if isinstance(argument, int) else argument


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
