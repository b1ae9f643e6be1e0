"""Confines a child before it looks at what was sent: to reading programs, and what it was handed open."""

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import import_module
from os import environ, pathsep
from pathlib import Path
from typing import Final

from heatmaps.children import kernel, landlock, seccomp

ROOT: Final = Path(__file__).resolve().parents[2]
# Beside the packages that are loaded, never the folder of the product itself: a checkout has state in it.
_OWN: Final = ("templates", "static", "build/front", "build/ground")
_OF_THE_SYSTEM: Final = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/openssl.cnf",
    "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom",
)
_PACKAGES: Final = ("heatmaps", "mechanisms")


def missing() -> list[str]:
    """Names the parts of `Landlock` and `seccomp` that this system does not offer."""
    offered = {"Landlock": landlock.version() > 0, "seccomp": seccomp.is_offered()}
    return [name for name, is_offered in offered.items() if not is_offered]


def confine(module: str, folder: Path | None = None) -> None:
    """Leaves this process to load the module and what it imports, with no way to others.

    folder: where it may make files. What the system does not offer is left out: whoever starts the server is
    told (`missing`). Errors: OSError.
    """
    lacking = missing()
    kernel.hide_memory()
    if "Landlock" in lacking and "seccomp" in lacking:
        return
    kernel.give_up_privileges()
    if "Landlock" not in lacking:
        landlock.restrict(_readable([*_PACKAGES, module.partition(".")[0]]), folder)
    if "seccomp" not in lacking:
        seccomp.restrict(writes=folder is not None)


def _readable(packages: Iterable[str]) -> Iterator[Path]:
    """Yields programs, libraries and their data: nothing that differs between two installations."""
    for name in packages:  # loaded here, as the folder that they are in cannot be listed later
        yield from map(Path, import_module(name).__path__)
    yield from (ROOT / name for name in _OWN)
    yield from (Path(path) for path in sys.path if path and Path(path).resolve() != ROOT)
    yield Path(sys.prefix) / "share" / "xyzservices"  # where that package has its data
    yield Path(sys.base_prefix) / "lib"
    yield Path(sysconfig.get_path("stdlib"))
    yield from map(Path, filter(None, environ.get("LD_LIBRARY_PATH", "").split(pathsep)))
    yield from map(Path, _OF_THE_SYSTEM)
