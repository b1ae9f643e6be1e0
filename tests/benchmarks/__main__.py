"""Runs every benchmark, or the groups that are named; prints each group as it ends.

`.local/bench/figures.json` and a picture of each group are written as it ends, too: nothing is lost where a
later one fails. Then the others go on, and the command ends with an error.
"""

import json
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import accuracy, plots, scale_plots
from tests.benchmarks.accuracy import Point
from tests.benchmarks.groups import GROUPS
from tests.benchmarks.measure import Figure, Size

Row = dict[str, object]


def main(*names: str) -> int:
    """How many groups failed."""
    size = {"1": Size.LARGE, "tiny": Size.TINY}.get(os.environ.get("SCALE", "0"), Size.USUAL)
    folder = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    failed = [name for name in names or GROUPS if not is_measured(name, size, folder, rows)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


def is_measured(name: str, size: Size, folder: Path, rows: list[Row]) -> bool:
    """Whether a group ended well; `rows` has what it measured from then on."""
    measured: list[Figure | Point] = []
    try:
        for figure in GROUPS[name](size):
            measured.append(figure)
            print(figure, flush=True)
        pictures = list(drawn(name, measured, folder))
    except Exception:  # noqa: BLE001 - the other groups go on
        traceback.print_exc()
        return False
    finally:
        rows += [figure.row() | {"group": name} for figure in measured]
        write(rows, folder / "figures.json")
    for picture in pictures:
        print(f"written: {picture}", flush=True)
    return True


def write(rows: Sequence[Row], path: Path) -> None:
    document = {"at": datetime.now(UTC).isoformat(), "machine": platform.machine(), "figures": rows}
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"written: {path}", flush=True)


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
    sys.exit(1 if main(*sys.argv[1:]) else 0)
