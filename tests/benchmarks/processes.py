"""Runs a command to its end and counts the CPU seconds and the memory of it and of all that it started."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.benchmarks.measure import Figure, Unit, in_turns

ROOT: Final = Path(__file__).resolve().parents[2]
MB: Final = 1e6
_LOOK_SECONDS: Final = 0.05
_SHARED: Final = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Holds CPU seconds, user and system, and the most memory at one moment, of a tree of processes."""

    cpu: float
    peak_mb: float


def usage(*arguments: object, environment: Mapping[str, str] | None = None) -> Usage:
    """Runs Python with these arguments in the repository's folder.

    Memory is PSS, which counts what processes share once; RSS where the system keeps PSS closed. It is looked
    at 20 times a second. Errors: RuntimeError with the end of what a failed command said.
    """
    command = [sys.executable, *map(str, arguments)]
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=words
        )
        with Peak(process.pid) as peak:
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            words.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {words.read()[-2000:].decode(errors='replace')}")
    return Usage(cpu=used.ru_utime + used.ru_stime, peak_mb=peak.megabytes)


def figures_in_turns(
    name: str,
    ours: Sequence[object],
    alternative: str,
    theirs: Sequence[object],
    *,
    repeats: int,
    goals: tuple[str, str] = ("", ""),
    details: Mapping[str, float] | None = None,
) -> Iterator[Figure]:
    """Runs two Pythons in turns: a figure of CPU seconds, and one of memory from the same runs.

    goals: of time, of memory.
    """
    runs, bare = in_turns(lambda: usage(*ours), lambda: usage(*theirs), repeats=repeats)
    yield Figure(
        name=name,
        alternative=alternative,
        ours=tuple(run.cpu for run in runs),
        theirs=tuple(run.cpu for run in bare),
        goal=goals[0],
        details=dict(details or {}),
    )
    yield Figure(
        name=f"{name}, memory",
        alternative=alternative,
        ours=tuple(run.peak_mb for run in runs),
        theirs=tuple(run.peak_mb for run in bare),
        unit=Unit.MEGABYTES,
        goal=goals[1],
        details=dict(details or {}),
    )


class Peak:
    """Watches the memory of a process and its descendants while the context is open."""

    def __init__(self, pid: int) -> None:
        self.megabytes = 0.0
        self._pid, self._ends = pid, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ends.wait(_LOOK_SECONDS):
            self.megabytes = max(self.megabytes, tree_memory_mb(self._pid))


def tree_memory_mb(pid: int) -> float:
    return sum(memory_mb(process) for process in tree(pid))


def tree(pid: int) -> Sequence[psutil.Process]:
    """Returns a process and its descendants; none once it ended."""
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


def memory_mb(process: psutil.Process) -> float:
    """Returns PSS, else RSS, else 0 of a process that is gone."""
    with contextlib.suppress(OSError):
        share = _SHARED.search(Path(f"/proc/{process.pid}/smaps_rollup").read_text())
        if share:
            return int(share[1]) * 1024 / MB
    with contextlib.suppress(psutil.Error):
        return float(process.memory_info().rss) / MB
    return 0.0


def tree_cpu(*pids: int) -> float:
    """Returns CPU seconds so far of running processes, their descendants, and those of them that ended."""
    seconds = 0.0
    for process in (member for pid in pids for member in tree(pid)):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds
