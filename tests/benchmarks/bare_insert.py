"""Parses a CSV file of check-ins and inserts five integers a row into a bare table: as little as can be done.

python -m tests.benchmarks.bare_insert FILE DATABASE: a path for SQLite, or a postgresql:// address.
Prints CPU seconds, with those of PostgreSQL's process for this connection, and bytes a row on disk, as JSON.
"""

import json
import sqlite3
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import psycopg
import pyarrow as pa
from pyarrow import compute, csv

from tests.benchmarks.checkin_files import REGION
from tests.synthetic import hashes

BARE = "parsing and a bare insert of five integers"
TABLE = "CREATE TABLE bare (person bigint, rest bigint, cell bigint, time bigint, outside bigint)"
COLUMNS = 5
SIDE = 1 << 31


def main(path: str, database: str) -> dict[str, float]:
    is_postgresql = database.startswith("postgresql://")
    return on_postgresql(path, database) if is_postgresql else on_sqlite(path, Path(database))


def integers(path: str) -> np.ndarray:
    """`(k, 5)` of a file: two halves of a number like a hash, where, when and whether outside."""
    table = csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
    person = 2 * table["user"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    x = (table["lon"].to_numpy() - REGION.west) / (REGION.east - REGION.west)
    y = (table["lat"].to_numpy() - REGION.south) / (REGION.north - REGION.south)
    cell = (np.clip(y, 0, 1 - 1e-9) * SIDE).astype(np.int64) * SIDE
    cell += (np.clip(x, 0, 1 - 1e-9) * SIDE).astype(np.int64)
    moment = compute.cast(table["time"], pa.int64()).to_numpy()
    outside = (x < 0) | (x >= 1) | (y < 0) | (y >= 1)
    return np.stack([hashes(person), hashes(person + 1), cell, moment, outside.astype(np.int64)], axis=1)


def on_sqlite(path: str, database: Path) -> dict[str, float]:
    begin = time.process_time()
    rows = integers(path)
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute(TABLE)
    connection.executemany("INSERT INTO bare VALUES (?, ?, ?, ?, ?)", rows.tolist())
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(truncate)")
    seconds = time.process_time() - begin
    connection.close()
    return {"cpu": seconds, "bytes": database.stat().st_size / len(rows)}


def on_postgresql(path: str, address: str) -> dict[str, float]:
    begin = time.process_time()
    rows = integers(path)
    with psycopg.connect(address) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        before = backend.cpu_times()
        connection.execute(TABLE)
        with connection.cursor().copy("COPY bare FROM STDIN (FORMAT binary)") as copy:
            copy.write(binary(rows))
        connection.commit()
        after = backend.cpu_times()
        size = connection.execute("SELECT pg_total_relation_size('bare')").fetchone()
    seconds = time.process_time() - begin
    seconds += after.user + after.system - before.user - before.system
    return {"cpu": seconds, "bytes": size[0] / len(rows) if size else 0.0}


def binary(rows: np.ndarray) -> bytes:
    """PostgreSQL's binary COPY: the number of fields, and each field's length before it, big-endian."""
    fields = [
        part for number in range(COLUMNS) for part in ((f"length{number}", ">i4"), (str(number), ">i8"))
    ]
    packed = np.zeros(len(rows), [("fields", ">i2"), *fields])
    packed["fields"] = COLUMNS
    for number in range(COLUMNS):
        packed[f"length{number}"] = 8
        packed[str(number)] = rows[:, number]
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + packed.tobytes() + b"\xff\xff"


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
