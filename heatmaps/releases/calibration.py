"""Calibrates mechanisms that take long in children, under a time limit, and remembers them.

Who asks has one such question at a time. All of it depends on public parameters and on how busy the machine
is, never on data.
"""

import atexit
import fcntl
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from threading import Lock, Timer
from typing import BinaryIO, ClassVar, Final, cast

import structlog
from django.conf import settings

from heatmaps.children import planner, process
from heatmaps.children.calibrated import Calibration, MechanismQuestion, Refused
from heatmaps.children.messages import MessageError
from heatmaps.children.turns import Busy, turn
from mechanisms.check import ParameterError

_REMEMBERED: Final = 256
_log: Final = structlog.stdlib.get_logger(__name__)
_LIMITS: Final = process.Limits(memory_bytes=2**30, nicer=3)  # somebody waits for it


class OneAtATime(Busy):
    """Refuses a second question of a person while the first is planned."""

    code: ClassVar[str] = "one_quote_at_a_time"
    status: ClassVar[int] = 429

    def __init__(self) -> None:
        super().__init__("another question of yours is being planned; only one runs at a time")


class TakesLong(Busy):
    """Says that planning took as long as a request may; results so far are remembered."""

    code: ClassVar[str] = "planning_takes_long"

    def __init__(self) -> None:
        super().__init__(
            f"planning takes longer than the {settings.PLANNING_SECONDS:g} seconds of a request; "
            "results are kept, so asking again continues; a larger ε, or a given ε instead of a target "
            "error, is faster"
        )


@dataclass(slots=True)
class _Asking:
    """Holds the lock and the end of one request of a person."""

    lock: Path
    ends: float  # on the monotonic clock
    file: BinaryIO | None = None

    def take(self) -> None:
        """Takes the lock of the person. Errors: OneAtATime."""
        if self.file is not None:
            return
        file = self.lock.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise OneAtATime from None
        self.file = file

    def give_back(self) -> None:
        if self.file is not None:
            self.file.close()


_asking: ContextVar[_Asking | None] = ContextVar("asking", default=None)
_remembered: OrderedDict[str, Calibration | Refused] = OrderedDict()
_idle: list[Popen[bytes]] = []
_lock: Final = Lock()  # of the two above


@contextmanager
def for_person(person_id: int) -> Iterator[None]:
    """Plans what is in the block as one question of a person, `PLANNING_SECONDS` long at most."""
    folder = Path(settings.PLANNING_DIR)
    folder.mkdir(mode=0o700, exist_ok=True)
    asking = _Asking(lock=folder / f"{person_id}.lock", ends=time.monotonic() + settings.PLANNING_SECONDS)
    token = _asking.set(asking)
    try:
        yield
    finally:
        _asking.reset(token)
        asking.give_back()


def calibrated(question: MechanismQuestion) -> Calibration:
    """Returns a remembered calibration, or one of a child. Errors: `ParameterError`, Busy."""
    key = question.key
    with _lock:
        answer = _remembered.get(key)
        if answer is not None:
            _remembered.move_to_end(key)
    if answer is None:
        answer = _answer(question)
        with _lock:
            _remembered[key] = answer
            while len(_remembered) > _REMEMBERED:
                _remembered.popitem(last=False)
    if isinstance(answer, Refused):
        raise ParameterError(answer.parameter, answer.value, answer.allowed)
    return answer


def forget() -> None:
    """Forgets all answers and ends the children: everything is planned anew."""
    with _lock:
        _remembered.clear()
        while _idle:
            process.ended(_idle.pop())


def _answer(question: MechanismQuestion) -> Calibration | Refused:
    asking = _asking.get()
    ends = time.monotonic() + settings.PLANNING_SECONDS
    if asking is not None:
        asking.take()
        ends = asking.ends
    with turn():
        left = ends - time.monotonic()
        if left <= 0:
            raise TakesLong
        return _ask(question, left)


def _ask(question: MechanismQuestion, seconds: float) -> Calibration | Refused:
    with _lock:
        child = _idle.pop() if _idle else None
    if child is None:
        child = process.started("heatmaps.children.planner", _LIMITS)
    timer = Timer(seconds, child.kill)
    timer.start()
    answer = None
    try:
        answer = planner.answer(question, cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout))
    except BrokenPipeError:
        pass
    except MessageError:  # it does what it was not made for, and asks for nothing more
        _log.error("planning.answer_refused")
    finally:
        timer.cancel()
    if answer is None:
        process.ended(child)
        raise TakesLong
    with _lock:
        _idle.append(child)
    return answer


atexit.register(forget)
