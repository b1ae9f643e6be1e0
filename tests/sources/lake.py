"""Tables of check-ins and of opt-outs in a folder, and the administrator's file that names them."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from heatmaps import sources
from heatmaps.ingest.versions import advance, surveys


class Lake:
    """Parquet tables below `root`; `server` is a `Spark`, or None for a port that nobody listens to."""

    def __init__(self, root, server=None):
        self.root, self.server = Path(root), server
        self.checkins, self.opt_outs = self.root / "checkins", self.root / "opt_outs"
        for folder in (self.checkins, self.opt_outs):
            folder.mkdir(parents=True)
        self.sources_file = self.root / "sources.toml"
        (self.root / "token").write_text("nobody-asks")
        self.columns = {"user": "user", "lat": "lat", "lon": "lon", "time": "time"}
        self.time_zone = "UTC"
        self.kind, self.table, self.opt_outs_table = "parquet", str(self.checkins), str(self.opt_outs)
        self.catalog = ""
        self.put_opt_outs([])
        self.write()

    def write(self):
        """The file, as everything is now."""
        connect = "sc://localhost:9" if self.server is None else self.server.connect
        token = self.root / "token" if self.server is None else self.server.token_file
        columns = ", ".join(f'{field} = "{column}"' for field, column in self.columns.items())
        self.sources_file.write_text(
            f"""
            [[source]]
            name = "trips"
            kind = "{self.kind}"
            table = "{self.table}"
            time_zone = "{self.time_zone}"
            connect = "{connect}"
            token_file = "{token}"
            columns = {{ {columns} }}
            opt_outs = {{ table = "{self.opt_outs_table}", user = "user" }}
            {self.catalog}
            """
        )

    def put(self, table, name="part-0"):
        """Check-ins, as one file among the others."""
        path = self.checkins / f"{name}.parquet"
        pq.write_table(table, path, row_group_size=50_000)
        return path

    def put_opt_outs(self, users, name="part-0"):
        table = users if isinstance(users, pa.Table) else pa.table({"user": pa.array(users, pa.string())})
        pq.write_table(table, self.opt_outs / f"{name}.parquet")


# What `plant` makes recognisable. Whole numbers: parts of random names and hashes may look like them.
TELLTALES = re.compile(
    r"unmistakable|(?<![\w.])(?:7,?654,?321|54,?321|65,?432|43,?210|32,?109)(?!\w)|hazemap-lake|\.parquet"
)


def plant(dataset, lake):
    """A version whose private facts are recognisable and the next one under way, without a Spark."""
    rows = {"user": ["a"], "lat": [0.5], "lon": [0.5]}
    times = pa.array([0], pa.timestamp("us"))
    path = lake.put(pa.table(rows | {"time": times}), name="unmistakable")
    invalid = {"no_lon": 54_321, "no_lat": 65_432, "no_time": 43_210, "no_user": 32_109}
    state = sources.pinned(sources.of(dataset)).store(dataset, rows=7_654_321, invalid=invalid)
    advance.next_version(dataset, actor=dataset.created_by, tables=state)
    surveys.advance_by(dataset.created_by, dataset)
    return path
