"""The command `heatmap` on files of many check-ins, beside DuckDB with one thread that adds up the same.

CPU seconds and memory of whole processes with all that they start, from the first import to the written map.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks import checkin_files
from tests.benchmarks.checkin_files import CHECKINS_A_PERSON, REGION
from tests.benchmarks.measure import Figure, Size
from tests.benchmarks.processes import figures_in_turns

ROWS: Final = {Size.TINY: (1_000,), Size.USUAL: (1_000_000,), Size.LARGE: (1_000_000, 10_000_000)}
HEATMAP: Final = ("manage.py", "heatmap")
BARE: Final = "bare imports of Django and numpy"
BARE_IMPORTS: Final = ("-m", "tests.benchmarks.bare_imports")
DUCKDB: Final = "DuckDB, one thread, the same sums"
REPEATS: Final = 3
RESOLUTION: Final = 256
FINE: Final = 4096  # cells a side of the map that is written as CSV
FINE_ROWS: Final = 10_000


def figures(size: Size) -> Iterator[Figure]:
    repeats = size.repeats(REPEATS)
    with tempfile.TemporaryDirectory(prefix="hazemap-command-") as name:
        folder = Path(name)
        for rows in ROWS[size]:
            yield from of_rows(folder, rows, repeats)
        yield from fine_csv(folder, size)


def of_rows(folder: Path, rows: int, repeats: int) -> Iterator[Figure]:
    """From CSV by two mechanisms and from Parquet by one, each beside DuckDB on the same file."""
    csv = checkin_files.write_csv(folder / "checkins.csv", rows)
    parquet = checkin_files.write_parquet(folder / "checkins.parquet", rows)
    for key, path, mechanism in (
        ("csv", csv, "sparse-emd"),
        ("csv.adaptive", csv, "adaptive"),
        ("parquet", parquet, "sparse-emd"),
    ):
        persons = rows // CHECKINS_A_PERSON
        command = drawing(path, folder / "map.tif", mechanism=mechanism, persons=persons)
        yield from figures_in_turns(
            f"heatmap of {rows:,} check-ins, {path.suffix.removeprefix('.')}, {mechanism}",
            command,
            DUCKDB,
            ("-m", "tests.benchmarks.duckdb_sums", path, RESOLUTION),
            repeats=repeats,
            goals=(f"command.{key}.{rows}", f"memory.{key}.{rows}"),
            details={"checkins": rows},
        )


def fine_csv(folder: Path, size: Size) -> Iterator[Figure]:
    """The file as the command writes it when nothing else is said."""
    path, output = checkin_files.write_csv(folder / "few.csv", FINE_ROWS), folder / "fine.csv"
    yield from figures_in_turns(
        f"CSV of a map of {FINE:,} x {FINE:,} cells",
        drawing(path, output, mechanism="adaptive", persons=1_000, resolution=FINE),
        BARE,
        BARE_IMPORTS,
        repeats=size.repeats(REPEATS),
        goals=("start.fine-csv", "memory.fine-csv"),
    )


def drawing(
    path: Path, output: Path, *, mechanism: str, persons: int, resolution: int = RESOLUTION
) -> tuple[object, ...]:
    """Returns the arguments of a command that draws a file's map; persons: what is told to `adaptive`."""
    west, south, east, north = REGION
    told = ("--expected-persons", persons) if mechanism == "adaptive" else ()
    return (
        *HEATMAP,
        path,
        f"--bbox={west},{south},{east},{north}",
        *("--mechanism", mechanism, "--epsilon", "1", "--resolution", resolution, "--output", output),
        *told,
    )
