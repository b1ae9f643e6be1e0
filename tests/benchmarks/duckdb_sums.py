"""Does with DuckDB what `heatmap` does before it draws: the same sums of the same file, in one thread.

python -m tests.benchmarks.duckdb_sums FILE RESOLUTION: floor(2^24·k/t) for a person's k check-ins of t in a
cell, added up by cell, into a file of numpy beside it.
"""

import sys
from pathlib import Path

import duckdb
import numpy as np

WEST, SOUTH, EAST, NORTH = -98.0, 30.0, -97.0, 31.0  # `checkin_files.REGION`, without its imports
UNIT = 1 << 24

SUMS = """
    SELECT cell, CAST(sum(mass) AS BIGINT) AS mass FROM (
        SELECT cell, {unit} * checkins // total AS mass FROM (
            SELECT cell, checkins, CAST(sum(checkins) OVER (PARTITION BY user) AS BIGINT) AS total FROM (
                SELECT user, count(*) AS checkins,
                    {side} * CAST(floor((lat - {south}) / ({north} - {south}) * {side}) AS BIGINT)
                    + CAST(floor((lon - {west}) / ({east} - {west}) * {side}) AS BIGINT) AS cell
                FROM {rows}
                WHERE lat >= {south} AND lat < {north} AND lon >= {west} AND lon < {east}
                GROUP BY user, cell
            )
        )
    ) GROUP BY cell
"""


def main(path: str, resolution: str) -> None:
    rows = f"read_parquet('{path}')" if path.endswith(".parquet") else f"read_csv('{path}')"
    text = SUMS.format(
        unit=UNIT, side=int(resolution), rows=rows, west=WEST, south=SOUTH, east=EAST, north=NORTH
    )
    database = duckdb.connect()
    database.execute("PRAGMA threads=1")
    sums = database.execute(text).fetchnumpy()
    dense = np.zeros(int(resolution) ** 2, np.int64)
    dense[sums["cell"]] = sums["mass"]
    np.save(Path(path).with_suffix(".npy"), dense)


if __name__ == "__main__":
    main(*sys.argv[1:])
