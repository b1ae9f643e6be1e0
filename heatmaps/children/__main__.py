"""Runs the `main` of a module of ours: `python -m heatmaps.children` MODULE MEMORY SECONDS FILE_BYTES NICER
[FOLDER].

The limits hold before the module is loaded, and so before anything that was sent is looked at. 0 seconds: no
limit of time; 0 bytes of files: nothing can be written but into what was opened before.
"""

import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from heatmaps.children.confinement import confine
from heatmaps.children.process import OUT_OF_MEMORY


def _go_first() -> None:
    """Has Linux end this process before its server where memory is used up.

    A child that was taken over can evade the limit of what it writes to.
    """
    with suppress(OSError):  # another system
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit(memory_bytes: int, cpu_seconds: int, file_bytes: int, nicer: int) -> None:
    os.nice(nicer)
    # Of what a process may write to: address space would count the libraries, and what is only reserved.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of the memory holds what was read
    if cpu_seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


if __name__ == "__main__":
    module, figures, folder = sys.argv[1], sys.argv[2:6], sys.argv[6:]
    _go_first()
    _limit(*map(int, figures))
    confine(module, Path(*folder) if folder else None)
    try:
        import_module(module).main()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # at once: nothing is left to end with
