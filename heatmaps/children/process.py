"""Starts a child process under limits, with a minimal environment."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Final

_ROOT: Final = Path(__file__).resolve().parents[2]
# No address of a service, no password, no folder of keys.
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "LD_LIBRARY_PATH")
_OWN: Final = {
    "PYTHONPATH": str(_ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",  # files are limited
    # Each thread would take memory of its own, and a core of somebody else's.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Memory is what is used, not what an allocator reserves.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


OUT_OF_MEMORY: Final = 12  # how a child ends that may not take what it needs
_LONGEST_SECONDS: Final = 300.0  # on the clock, for a machine that is busy with other things
_LOGGED_BYTES: Final = 2**16  # of what a child says of errors
_BLOCK_BYTES: Final = 2**12
_STANDARD_ERROR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits what a child may take."""

    memory_bytes: int
    cpu_seconds: int = 0  # 0: as long as it is wanted
    file_bytes: int = 0  # of each file it writes
    nicer: int = 10  # behind the web and the workers


def started(
    module: str,
    limits: Limits,
    *,
    files: Sequence[int] = (),
    quiet: bool = False,
    folder: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a child that runs the module's `main`, with pipes to its input and from its output.

    It reads programs, and nothing else that it does not get here (`heatmaps.children.confinement`). files:
    descriptors that stay open in the child under their numbers. quiet: what it says of errors is dropped, as
    it may hold what was read. folder: where it makes files. Whoever starts it ends it. Errors: OSError.
    """
    return _started(module, limits, files=files, quiet=quiet, folder=folder, output=subprocess.PIPE)


def _started(
    module: str, limits: Limits, *, files: Sequence[int], quiet: bool, folder: Path | None, output: int
) -> subprocess.Popen[bytes]:
    """Starts a child as `started` says. output: where what it writes to its output goes."""
    inherited = {name: os.environ[name] for name in _KEPT if name in os.environ}
    figures = (limits.memory_bytes, limits.cpu_seconds, limits.file_bytes, limits.nicer)
    folders = [] if folder is None else [str(folder)]
    places = {} if folder is None else {"TMPDIR": str(folder)}
    child = subprocess.Popen(  # noqa: S603  # our own program with numbers of ours
        [sys.executable, "-P", "-m", "heatmaps.children", module, *map(str, figures), *folders],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
        pass_fds=files,
        cwd="/",
        env=inherited | _OWN | places,
    )
    if child.stderr is not None:
        # Never the server's own stream: a child could cut off the file of its log, or fill the disk by it.
        Thread(target=_log, args=[child.stderr], name="child's errors", daemon=True).start()
        child.stderr = None  # read there alone
    return child


def _log(errors: BinaryIO) -> None:
    """Hands on to the server's log what a child says of errors, up to a bound, and drops the rest."""
    left = _LOGGED_BYTES
    with errors, suppress(OSError):  # a log that is closed
        while block := os.read(errors.fileno(), _BLOCK_BYTES):
            os.write(_STANDARD_ERROR, block[:left])
            left = max(0, left - len(block))


def finished(
    module: str,
    content: bytes,
    limits: Limits,
    *,
    files: Sequence[int] = (),
    quiet: bool = False,
    folder: Path | None = None,
    seconds: float = _LONGEST_SECONDS,
) -> int:
    """Runs a child on `content`; 0 where it ended well, below 0 where a signal or the clock did it.

    Its output is dropped: it would fill the memory of whoever waits, and answers are in files.
    seconds: on the clock. files, quiet, folder: as for `started`. Errors: OSError.
    """
    output = subprocess.DEVNULL
    child = _started(module, limits, files=files, quiet=quiet, folder=folder, output=output)
    try:
        child.communicate(content, timeout=seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        status = ended(child)
    return status


def ended(child: subprocess.Popen[bytes]) -> int:
    """Ends the child now, if it still runs; returns how it ended: 0 where it had ended well."""
    if child.poll() is None:
        child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent yet is lost with the child
                pipe.close()
    return child.wait()
