"""Runs every benchmark, or the groups that are named; prints each figure as it is measured.

`.local/bench/figures.json` and a picture of each group are written as it ends, too: nothing is lost where a
later one fails. Then the others go on, and the command ends with an error; so it does where a goal
(`goals.py`) is missed by more than its noise, with a line for each.
"""

import json
import os
import platform
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import accuracy, goals, plots, scale_plots
from tests.benchmarks.accuracy import Point
from tests.benchmarks.groups import GROUPS, OF_SIZE
from tests.benchmarks.measure import Figure, Size

Row = dict[str, object]


class Bench:
    """Collects what the groups of one run measured, and what is wrong with it."""

    def __init__(self, size: Size, folder: Path) -> None:
        self.size, self.folder = size, folder
        self.rows: list[Row] = []
        self.failed: list[str] = []
        self.missed: list[str] = []
        self.measured: set[str] = set()  # names of goals

    def run(self, name: str) -> None:
        """Measures a group. What it measured before it failed is kept."""
        measured: list[Figure | Point] = []
        begin, cpu, load = time.perf_counter(), own_cpu(), os.getloadavg()[0]
        print(f"{name} (load {load:.1f})", flush=True)
        try:
            for figure in GROUPS[name](self.size):
                measured.append(figure)
                print(figure, flush=True)
            pictures = list(drawn(name, measured, self.folder))
            if not self.size.is_tiny:
                self.missed += self.missed_by(measured)
        except Exception:  # noqa: BLE001 - the other groups go on
            traceback.print_exc()
            self.failed.append(name)
            pictures = []
        self.rows += [figure.row() | {"group": name, "load": load} for figure in measured]
        self.write()
        for picture in pictures:
            print(f"written: {picture}")
        seconds, processor = time.perf_counter() - begin, own_cpu() - cpu
        print(f"{name}: {seconds:.0f} s, {processor:.0f} s of a processor\n", flush=True)

    def missed_by(self, measured: Sequence[Figure | Point]) -> list[str]:
        """Returns a line for each goal that is missed. Errors: KeyError for a goal that is in no row."""
        figures = [figure for figure in measured if isinstance(figure, Figure)]
        self.measured |= {figure.goal for figure in figures}
        return list(filter(None, map(goals.missed, figures)))

    def write(self) -> None:
        path = self.folder / "figures.json"
        document = {
            "at": datetime.now(UTC).isoformat(),
            "size": self.size.value,
            "machine": f"{platform.machine()}, {os.cpu_count()} processors",
            "figures": self.rows,
            "failed": self.failed,
            "missed": self.missed,
        }
        path.write_text(json.dumps(document, indent=2) + "\n")
        print(f"written: {path}")

    def report(self) -> bool:
        """Says what is wrong, and which goals no figure was held to; False where something is wrong."""
        if left := sorted(goals.GOALS.keys() - self.measured):
            print(f"not measured: {', '.join(left)}")
        for line in self.missed:
            print(f"missed: {line}", file=sys.stderr)
        if self.failed:
            print(f"failed: {', '.join(self.failed)}", file=sys.stderr)
        return not self.missed and not self.failed


def main(*names: str) -> int:
    """Returns the exit code."""
    size = {"1": Size.LARGE, "tiny": Size.TINY}.get(os.environ.get("SCALE", "0"), Size.USUAL)
    folder = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(size, folder)
    for name in names or OF_SIZE[size]:
        bench.run(name)
    return 0 if bench.report() else 1


def own_cpu() -> float:
    """Returns CPU seconds so far of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def drawn(name: str, measured: Sequence[Figure | Point], folder: Path) -> list[Path]:
    """The picture of a group, where there is something to draw."""
    points = [point for point in measured if isinstance(point, Point)]
    rows = [figure.row() | {"group": name} for figure in measured]
    if not measured:
        return []
    if points:
        return [accuracy.write(points, folder)]
    return [scale_plots.write(rows, folder)] if name == "scale" else list(plots.write(rows, folder))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
