"""The same check-ins in every format."""

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq


def csv(rows):
    return ("user,time,lat,lon\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)).encode()


def ndjson(rows):
    lines = (dict(zip(("user", "time", "lat", "lon"), row, strict=True)) for row in rows)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def snap(rows):
    return "".join("\t".join(map(str, row)) + "\t22847\n" for row in rows).encode()


def parquet(rows, **options):
    """Users and times as text; lat and lon as float64."""
    user, time, lat, lon = zip(*rows, strict=True)
    columns = {
        "user": pa.array(map(str, user), pa.string()),
        "time": pa.array([text or None for text in time], pa.string()),
        "lat": pa.array(map(float, lat), pa.float64()),
        "lon": pa.array(map(float, lon), pa.float64()),
    }
    return table(columns, **options)


def table(columns, **options):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


FORMATS = {
    "csv": csv,
    "csv.gz": lambda rows: gzip.compress(csv(rows)),
    "ndjson": ndjson,
    "ndjson.gz": lambda rows: gzip.compress(ndjson(rows)),
    "snap": snap,
    "snap.gz": lambda rows: gzip.compress(snap(rows)),
    "parquet": parquet,
    "parquet.zstd": lambda rows: parquet(rows, compression="zstd", row_group_size=7),
}
