"""Tables of check-ins and of opt-outs in a folder, and the administrator's file that names them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


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
