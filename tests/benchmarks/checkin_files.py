"""Files of made-up check-ins (`tests/synthetic.py`), ten a person where not said, in a region of a degree."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from mechanisms.space.grid import Region
from tests.synthetic import Crowd

REGION: Final = Region(-98.0, 30.0, -97.0, 31.0)
CHECKINS_A_PERSON: Final = 10
DIGITS: Final = 6  # of a degree: a tenth of a metre, as files have it


def write_csv(path: Path, rows: int, *, persons: int | None = None, seed: int = 0) -> Path:
    options = csv.WriteOptions(quoting_style="none")
    with csv.CSVWriter(path, _schema(), write_options=options) as file:
        for table in _tables(rows, persons, seed):
            file.write_table(table)
    return path


def write_parquet(path: Path, rows: int, *, persons: int | None = None, seed: int = 0) -> Path:
    with parquet.ParquetWriter(path, _schema()) as file:
        for table in _tables(rows, persons, seed):
            file.write_table(table)
    return path


def _schema() -> pa.Schema:
    columns = {
        "user": pa.string(),
        "time": pa.timestamp("s", "UTC"),
        "lat": pa.float64(),
        "lon": pa.float64(),
    }
    return pa.schema(columns)


def _tables(rows: int, persons: int | None, seed: int) -> Iterator[pa.Table]:
    crowd = Crowd(persons=persons or rows // CHECKINS_A_PERSON, checkins=rows, seed=seed)
    for person, points, times in crowd.blocks():
        columns = {
            "user": pa.array(person).cast(pa.string()),
            "time": pa.array(times, pa.timestamp("s", "UTC")),
            "lat": np.round(REGION.south + points[1] * (REGION.north - REGION.south), DIGITS),
            "lon": np.round(REGION.west + points[0] * (REGION.east - REGION.west), DIGITS),
        }
        yield pa.table(columns, schema=_schema())
