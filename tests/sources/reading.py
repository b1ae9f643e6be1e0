"""What stands in for Spark where it would take too long: answers of a test, about files that were pinned."""

from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq


class Reading:
    """`during` is called with every question, and may raise; `masses` are rows (row, column, mass)."""

    def __init__(self):
        self.masses, self.users, self.invalid, self.missing = [(0, 0, 2**30)], ["a", "b"], {}, 0
        self.asked, self.during = [], lambda _question: None
        self._rows = ()

    @contextmanager
    def session(self, _source):
        yield self

    def read(self, checkins, opt_outs):
        self._rows = tuple(
            sum(pq.read_metadata(path).num_rows for path in each.paths) for each in (checkins, opt_outs)
        )

    def ask(self, question):
        self.asked.append(question)
        self.during(question)
        if "AS no_lon" in question:
            checkins, opt_outs = self._rows
            counts = dict.fromkeys(["no_lon", "no_lat", "no_time", "no_user"], 0) | self.invalid
            return pa.table(
                {"checkins": [checkins - self.missing], "opt_outs": [opt_outs]}
                | {name: [count] for name, count in counts.items()}
            )
        if "DISTINCT person" in question:
            return pa.table({"person": pa.array(self.users, pa.string())})
        rows, columns, units = zip(*self.masses, strict=True) if self.masses else ((), (), ())
        return pa.table(
            {
                "cell_row": pa.array(rows, pa.int64()),
                "cell_column": pa.array(columns, pa.int64()),
                "mass": pa.array(units, pa.int64()),
            }
        )
