"""The command `heatmap` until it has helped, and until it has drawn 10,000 check-ins, beside bare imports.

In CPU seconds of all processes, and in memory. The yardstick is a process that imports Django and numpy.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks import checkin_files
from tests.benchmarks.command import BARE, BARE_IMPORTS, HEATMAP, drawing
from tests.benchmarks.measure import Figure, Size
from tests.benchmarks.processes import figures_in_turns

ROWS: Final = {Size.TINY: 200, Size.USUAL: 10_000, Size.LARGE: 10_000}
FORMATS: Final = {"tif": "GeoTIFF", "png": "PNG", "html": "a web page"}
REPEATS: Final = 3


def figures(size: Size) -> Iterator[Figure]:
    rows, repeats = ROWS[size], size.repeats(REPEATS)
    yield from figures_in_turns(
        "heatmap --help",
        (*HEATMAP, "--help"),
        BARE,
        BARE_IMPORTS,
        repeats=repeats,
        goals=("start.help", ""),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = checkin_files.write_csv(folder / "checkins.csv", rows)
        for suffix in list(FORMATS)[:1] if size.is_tiny else FORMATS:
            output = folder / f"map.{suffix}"
            yield from figures_in_turns(
                f"heatmap of {rows:,} check-ins as {FORMATS[suffix]}",
                drawing(path, output, mechanism="adaptive", persons=rows // checkin_files.CHECKINS_A_PERSON),
                BARE,
                BARE_IMPORTS,
                repeats=repeats,
                goals=(f"start.{suffix}", ""),
            )
