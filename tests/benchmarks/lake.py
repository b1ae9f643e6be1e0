"""Sums of masses in a lake by Spark, against DuckDB on the same files with the same sums, bit for bit.

Made-up check-ins (`tests/synthetic.py`, ten a person) in Parquet files on disk, deleted afterwards. Spark
has two executors of one core; of the largest table one is killed (SIGKILL) in the middle, once it took as
long as the table before. DuckDB may use two threads and 2 GB of memory.

Seconds are from the first word to the server to the masses in this process; what executors, server and this
process hold at most is what the system counts as resident, looked at five times a second.

`make bench SCALE=1` sums 10 and 100 million, and kills a part of a whole deployment 60 times; alone:
`python -m tests.benchmarks.lake CHECKINS ...` and `python -m tests.benchmarks.lake kills 60`.
"""

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heatmaps.config.settings")
django.setup()

import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import psutil  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from heatmaps.sources import engine, manifest, question, sources_file  # noqa: E402
from heatmaps.sources.question import ColumnKinds, LakeScope  # noqa: E402
from mechanisms.records.row_key import RowKey  # noqa: E402
from mechanisms.space.grid import FINEST_LEVEL, Region  # noqa: E402
from tests.benchmarks.measure import Figure, Size  # noqa: E402
from tests.sources import killed  # noqa: E402
from tests.sources.lake import Lake  # noqa: E402
from tests.sources.spark import SAFE, Spark  # noqa: E402
from tests.synthetic import Crowd  # noqa: E402

COUNTS = {
    Size.TINY: (2_000,),
    Size.USUAL: (1_000_000,),
    Size.LARGE: (1_000_000, 10_000_000, 100_000_000),
}
KILLS = 60
MOST_SECONDS = {10_000_000: 90.0, 100_000_000: 360.0}
MOST_BYTES = 2 * 2**30  # of an executor
CHECKINS_A_PERSON, OPTED_OUT = 10, 1000
ROWS_OF_A_FILE = 5_000_000
REGION, LEVEL, UNIT = Region(0, 0, 1, 1), 10, 2**40
COLUMNS = ColumnKinds(user="text", time="instant", opted_out="text")
SETTINGS = SAFE | {"spark.sql.shuffle.partitions": "32"}
LOOK_SECONDS = 0.2


def figures(counts: tuple[int, ...], running: Spark | None = None) -> Iterator[Figure]:
    """One for each number of check-ins; one executor is killed at the largest, where there are several.

    running: a server to ask, in place of a new one for each.
    """
    earlier = 0.0
    for count in counts:
        # With Java as a deployment has it: tests save its second compiler.
        new = Spark.started(SETTINGS, java_options="") if running is None else contextlib.nullcontext(running)
        with tempfile.TemporaryDirectory(prefix="hazemap-lake-") as folder, new as spark:
            lake = Lake(Path(folder) / "lake", spark)
            fill(lake, count)
            is_largest = count == max(counts) and len(counts) > 1
            figure, found = summed(lake, count, kill_after=earlier if is_largest else None)
            begin, cpu = time.perf_counter(), time.process_time()
            expected = summed_by_duckdb(lake, Path(folder))
            seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        if not found.equals(expected):
            raise RuntimeError(f"{count:,} check-ins: Spark and DuckDB disagree")
        earlier = figure["seconds"]
        yield Figure(
            name=f"masses of {count:,} check-ins in a lake, by Spark"
            + (", an executor killed" if figure["killed"] else ""),
            alternative="DuckDB with 2 GB, the same sums",
            ours=(earlier,),
            theirs=(seconds,),
            details={"checkins": count, "alternative_cpu": cpu, "cells": found.num_rows, **figure},
        )


def fill(lake: Lake, count: int) -> None:
    """The lake's two tables."""
    writer, rows = None, 0
    for person, points, times in Crowd(persons=count // CHECKINS_A_PERSON, checkins=count).blocks():
        table = pa.table(
            {
                "user": pa.array(person).cast(pa.string()),
                "time": pa.array(times * 1000, pa.timestamp("ms", "UTC")),
                "lat": points[1],
                "lon": points[0],
            }
        )
        if writer is None or rows % ROWS_OF_A_FILE == 0:
            if writer is not None:
                writer.close()
            path = lake.checkins / f"part-{rows // ROWS_OF_A_FILE}.parquet"
            writer = pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
        rows += table.num_rows
    if writer is not None:
        writer.close()
    lake.put_opt_outs([str(person) for person in range(0, 7 * OPTED_OUT, 7)])


def summed(lake: Lake, count: int, kill_after: float | None) -> tuple[dict[str, float], pa.Table]:
    """Seconds and peaks, and the masses as rows (cell_row, cell_column, mass) in order."""
    source = sources_file.read(lake.sources_file)["trips"]
    text = question.masses(COLUMNS, LakeScope(region=REGION), RowKey(level=LEVEL), unit=UNIT)
    with Watch(lake.server) as watch:
        killer = None if kill_after is None else threading.Timer(kill_after, watch.kill)
        if killer is not None:
            killer.start()
        begin = time.perf_counter()
        tables = [pinned(lake.checkins), pinned(lake.opt_outs)]
        with engine.lake(source) as session:
            session.read(*tables)
            found = session.ask(text)
        seconds = time.perf_counter() - begin
        if killer is not None:
            killer.cancel()
    facts = {"seconds": seconds, "killed": watch.killed_after, "files": len(tables[0].files), **watch.peaks}
    return facts, in_order(found)


def pinned(folder: Path) -> manifest.Manifest:
    return manifest.pin("", manifest.files_below(str(folder)), {}).manifest


def summed_by_duckdb(lake: Lake, folder: Path) -> pa.Table:
    step = 1.0 / (1 << FINEST_LEVEL)
    last = (1 << FINEST_LEVEL) - 1

    def cell(value: str) -> str:
        near = f"greatest(least(CAST(floor({value} / {step!r}) AS BIGINT), {last}), 0)"
        return f"""(CASE WHEN {near} < {last} AND {value} >= ({near} + 1) * {step!r} THEN {near} + 1
            WHEN {near} > 0 AND {value} < {near} * {step!r} THEN {near} - 1 ELSE {near} END)
            >> {FINEST_LEVEL - LEVEL}"""

    with contextlib.closing(duckdb.connect()) as database:
        database.execute("SET memory_limit = '2GB'; SET threads = 2; SET preserve_insertion_order = false")
        database.execute(f"SET temp_directory = '{folder / 'duckdb'}'")
        table = database.execute(
            f"""
            SELECT cell_row, cell_column, CAST(sum(mass) AS BIGINT) AS mass FROM (
                SELECT cell_row, cell_column, {UNIT} * checkins // total AS mass FROM (
                    SELECT person, cell_row, cell_column, checkins,
                        CAST(sum(checkins) OVER (PARTITION BY person) AS BIGINT) AS total
                    FROM (
                        SELECT trim(read.user) AS person, {cell("lat")} AS cell_row,
                            {cell("lon")} AS cell_column,
                            count(*) AS checkins
                        FROM read_parquet('{lake.checkins}/*.parquet') AS read
                        ANTI JOIN read_parquet('{lake.opt_outs}/*.parquet') AS gone ON read.user = gone.user
                        WHERE lon BETWEEN 0 AND 1 AND lat BETWEEN 0 AND 1
                        GROUP BY ALL
                    )
                )
            ) WHERE mass > 0 GROUP BY ALL
            """
        ).to_arrow_table()
    return in_order(table)


def in_order(found: pa.Table) -> pa.Table:
    columns = {name: found[name].to_numpy().astype(np.int64) for name in ("cell_row", "cell_column", "mass")}
    order = np.lexsort((columns["cell_column"], columns["cell_row"]))
    return pa.table({name: column[order] for name, column in columns.items()})


class Watch:
    """What executors, server and this process hold at most, and the processor seconds of the first two."""

    def __init__(self, spark: Spark) -> None:
        self._spark, self._ends = spark, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._seconds: dict[int, float] = {}
        self._first: dict[int, float] = {}
        self._begin = time.perf_counter()
        self._bytes = {"executor_bytes": 0.0, "driver_bytes": 0.0, "client_bytes": 0.0}
        self.killed_after = 0.0  # seconds; 0: nothing was killed

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def kill(self) -> None:
        """One executor."""
        if self._spark.kill_executor():
            self.killed_after = time.perf_counter() - self._begin

    @property
    def peaks(self) -> dict[str, float]:
        spent = sum(self._seconds[pid] - self._first[pid] for pid in self._seconds)
        return {**self._bytes, "cpu": spent}

    def _look(self) -> None:
        while not self._ends.wait(LOOK_SECONDS):
            for executor in self._spark.executors():
                self._note("executor_bytes", executor)
            self._note("driver_bytes", psutil.Process(self._spark.process.pid))
            self._note("client_bytes", psutil.Process(), is_spark=False)

    def _note(self, kind: str, process: Any, *, is_spark: bool = True) -> None:
        with contextlib.suppress(psutil.Error):
            self._bytes[kind] = max(self._bytes[kind], process.memory_info().rss)
            times = process.cpu_times()
            if is_spark:
                self._seconds[process.pid] = times.user + times.system
                self._first.setdefault(process.pid, times.user + times.system)


def missed(figure: Figure) -> list[str]:
    """Targets that were not met, in words."""
    count, held = int(figure.details["checkins"]), figure.details["executor_bytes"]
    most = MOST_SECONDS.get(count)
    words = []
    if most is not None and figure.details["seconds"] > most:
        words.append(f"{count:,} check-ins took {figure.details['seconds']:.0f} s, not {most:.0f}")
    if held > MOST_BYTES:
        words.append(f"an executor held {held / 2**30:.2f} GiB at {count:,} check-ins, not 2")
    return words


def figures_of_size(size: Size) -> Iterator[Figure]:
    """Errors: RuntimeError at the end, which says what missed its target."""
    words: list[str] = []
    for figure in figures(COUNTS[size]):
        yield figure
        words += missed(figure)
    if words:
        raise RuntimeError("; ".join(words))


def kill_runs(count: int = KILLS) -> dict[str, int]:
    """What came of releases with one kill each: every victim at every step, in turns."""
    with killed.started(datasets=count) as lake:
        for number in range(count):
            lake.run(number, *killed.EVERY[number % len(killed.EVERY)])
        return dict(lake.outcomes())


def main(*arguments: str) -> None:
    if arguments[:1] == ("kills",):
        print(json.dumps(kill_runs(*map(int, arguments[1:]))))
    else:
        for figure in figures(tuple(map(int, arguments))):
            print(figure.json(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
