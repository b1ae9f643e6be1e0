"""Limits by seccomp which system calls this process may make, on the processors that are known.

The filter is assembled here: bindings of libseccomp on PyPI are unkept or need the library itself installed.
"""

import ctypes
import errno
import os
import resource
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from heatmaps.children import kernel
from heatmaps.children.system_calls import ALLOWED, IN_A_FOLDER, LIMITED

# Of the kernel's machine for filters (linux/filter.h): load a word, mask it, compare it, answer.
_LOAD, _AND, _EQUAL, _ANSWER = 0x20, 0x54, 0x15, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _PROCESSOR, _ARGUMENTS = 0, 4, 16  # where the kernel puts them, in bytes
_ALL: Final = 0xFFFFFFFF
_SET_FILTER, _IS_OFFERED = 1, 2

_WRITING: Final = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC
_THREAD: Final = 0x00010000  # CLONE_THREAD
# Of mmap: memory that is shared, or grows down, is in no limit, and files could be written by it.
_KIND_OF_MEMORY, _PRIVATE = 0x0F | 0x100, 0x02
_SET_NAME: Final = 15  # of prctl: a thread's
_DUPLICATE_AND_CLOSE: Final = 1030  # F_DUPFD_CLOEXEC
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL: others lock, or have signals sent to somebody.
_OF_A_DESCRIPTOR: Final = (0, 1, 2, 3, 4, _DUPLICATE_AND_CLOSE)
# How a refusal reads, where a library asks for what it can do without: else the call does not exist.
_REFUSALS: Final = {"open": errno.EACCES, "openat": errno.EACCES, "ioctl": errno.ENOTTY}


class _Step(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step))]


class _Word(NamedTuple):
    """Describes a word of the arguments, and its only allowed value."""

    argument: int
    value: int
    mask: int = _ALL
    upper: bool = False  # the upper 32 bits of 64

    @property
    def place(self) -> int:
        return _ARGUMENTS + 8 * self.argument + 4 * self.upper


def is_offered() -> bool:
    """Returns whether this kernel filters calls, and the processor's numbers are known."""
    try:
        return kernel.call("seccomp", _IS_OFFERED, 0, ctypes.byref(ctypes.c_uint32(_REFUSE))) == 0
    except OSError:
        return False


def restrict(*, writes: bool) -> None:
    """Leaves this thread, and those it starts, the calls of `heatmaps.children.system_calls`.

    writes: files may be made and opened for writing. Errors: OSError.
    """
    steps = list(_steps(writes=writes))
    program = _Program(len(steps), (_Step * len(steps))(*steps))
    kernel.call("seccomp", _SET_FILTER, 0, ctypes.byref(program))


def _steps(*, writes: bool) -> Iterator[_Step]:
    assert kernel.PROCESSOR is not None  # noqa: S101 - asked before
    processor, column = kernel.PROCESSOR
    yield _Step(_LOAD, 0, 0, _PROCESSOR)
    yield _Step(_EQUAL, 1, 0, processor)
    yield _Step(_ANSWER, 0, 0, _KILL)  # numbers of another processor, which mean other calls
    yield _Step(_LOAD, 0, 0, _NUMBER)
    for numbers in (ALLOWED | IN_A_FOLDER if writes else ALLOWED).values():
        if (number := numbers[column]) is not None:
            yield _Step(_EQUAL, 0, 1, number)
            yield _Step(_ANSWER, 0, 0, _ALLOW)
    for name, numbers in LIMITED.items():
        if (number := numbers[column]) is not None:
            yield from _limit_steps(number, _limits(name, writes=writes), _REFUSALS.get(name, errno.EPERM))
    yield _Step(_ANSWER, 0, 0, _REFUSE | errno.ENOSYS)


def _limit_steps(number: int, limits: Sequence[Sequence[_Word]], refusal: int) -> Iterator[_Step]:
    """Returns steps that allow a call where all words of one limit are as they must be."""
    tries = [[step for word in limit for step in _compared(word)] for limit in limits]
    for steps in tries:
        left = len(steps) + 1
        for position, step in enumerate(steps):
            if step.code == _EQUAL:
                step.if_false = left - position - 1
    body = [step for steps in tries for step in (*steps, _Step(_ANSWER, 0, 0, _ALLOW))]
    yield _Step(_EQUAL, 0, len(body) + 1, number)
    yield from body
    yield _Step(_ANSWER, 0, 0, _REFUSE | refusal)


def _compared(word: _Word) -> Iterator[_Step]:
    yield _Step(_LOAD, 0, 0, word.place)
    yield _Step(_AND, 0, 0, word.mask)
    yield _Step(_EQUAL, 0, 0, word.value)


def _limits(name: str, *, writes: bool) -> Sequence[Sequence[_Word]]:
    """Returns the limits of a call's arguments: all words of one limit must hold, or all of another."""
    itself, none_given = _Word(0, 0), (_Word(2, 0), _Word(2, 0, upper=True))
    return {
        "open": [[] if writes else [_Word(1, 0, _WRITING)]],
        "openat": [[] if writes else [_Word(2, 0, _WRITING)]],
        "fcntl": [[_Word(1, command)] for command in _OF_A_DESCRIPTOR],
        "ioctl": [],
        "clone": [[_Word(0, _THREAD, _THREAD)]],
        "mmap": [[_Word(3, _PRIVATE, _KIND_OF_MEMORY)]],
        "prctl": [[_Word(0, _SET_NAME)]],
        # Its own limits are read; that of open files may be lowered further.
        "prlimit64": [[itself, *none_given], [itself, _Word(1, resource.RLIMIT_NOFILE)]],
        "tgkill": [[_Word(0, os.getpid())]],
    }[name]
