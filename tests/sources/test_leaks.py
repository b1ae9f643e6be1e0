"""Planted people, counts and places are nowhere but in the lake's own files, whatever happens to a release.

With real Spark, Redis, PostgreSQL and worker: a survey, a release, one with an executor killed while it
sums, and one that fails as a page of a file is damaged.
"""

import os
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pyarrow as pa
import pytest
from redis import RedisError

from heatmaps.sources import engine, question, sources_file
from heatmaps.sources.manifest import USER
from heatmaps.sources.question import ColumnKinds, LakeScope
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import Region
from tests.services.programs import Postgres, Redis, found_or_skip
from tests.sources import killed
from tests.sources.lake import Lake
from tests.sources.spark import SAFE, Spark
from tests.sources.traces import Markers, Traces, held

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.long]

ROWS, OF_ONE, PEOPLE, FILES = 140_009, 71_713, 4_001, 3  # above all ports
LAT, LON = 30.412345671, -97.812345673
MARKERS = Markers(users=["zzleakuser"], counts=[ROWS, OF_ONE], coordinates=[LAT, LON])
# Everything that Spark can put off to its disk, it does.
SPILLING = {
    "spark.shuffle.spill.numElementsForceSpillThreshold": "5000",
    "spark.sql.windowExec.buffer.in.memory.threshold": "500",
    "spark.sql.windowExec.buffer.spill.threshold": "500",
    "spark.sql.sortMergeJoinExec.buffer.in.memory.threshold": "500",
    "spark.sql.sortMergeJoinExec.buffer.spill.threshold": "500",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


def tables():
    """One person has `OF_ONE` of the rows, at one place."""
    rng = np.random.default_rng(3)
    person = rng.integers(1, PEOPLE, ROWS)
    lat, lon = rng.normal(30.4, 0.2, ROWS), rng.normal(-97.8, 0.2, ROWS)
    one = rng.permutation(ROWS)[:OF_ONE]
    person[one], lat[one], lon[one] = 0, LAT, LON
    users = np.array([f"zzleakuser{number:07d}" for number in person])
    for part in np.array_split(np.arange(ROWS), FILES):
        yield pa.table({"user": users[part], "lat": lat[part], "lon": lon[part], "time": times(len(part))})


def times(count):
    return pa.array(np.arange(count) * 10**6 + 17 * 10**14).cast(pa.timestamp("us", tz="UTC"))


@contextmanager
def messages_of(redis):
    """Everything that anybody tells Redis."""
    told, ends = [], threading.Event()

    def listen():
        with suppress(RedisError), redis.client().monitor() as monitor:
            while not ends.is_set():
                told.append(monitor.next_command()["command"])

    threading.Thread(target=listen, daemon=True).start()
    yield told
    ends.set()


@pytest.mark.timeout(1800)
def test_what_is_planted_in_a_lake_stays_there(world, tmp_path):
    for service in (Spark, Redis, Postgres):
        found_or_skip(service)
    started = killed.started(
        world.installation,
        datasets=3,
        tables=list(tables()),
        spark_settings=SAFE | SPILLING,
        log_level="DEBUG",
        settings="tests.sources.loud",
    )
    with started as lake, messages_of(lake.redis) as messages:
        with Traces(tmp_path / "traces", lake.spark.folder) as traces:
            assert lake.ended(lake.ask("ask", "lake-0", "0.6")) == "published"
            lake.restart_worker(HAZEMAP_LOG_FORMAT="json")
            release = lake.ask("ask", "lake-1", "0.6")
            lake.wait_for(release, "summing")
            time.sleep(1)
            assert lake.spark.kill_executor()
            assert lake.ended(release) == "published"
            damage(lake.paths[1])
            assert lake.ended(lake.ask("ask", "lake-2", "0.6")) == "failed"
        assert len(traces.names) > 20
        assert any("shuffle" in str(path) or "temp_" in str(path) for path in traces.names.values())
        assert traces.holding(MARKERS) == []
        output = lake.installation.output()
        assert "release.no_result" in output or "source.not_read" in output
        assert held(output.encode(), MARKERS) == []
        assert '"event": "source.not_read"' in output
        state = [path for path in lake.installation.folder.rglob("*") if path.is_file()]
        assert [path for path in state if held(path.read_bytes(), MARKERS)] == []
        sent = " ".join(messages)
        assert "heatmaps.source_release" in sent
        assert held(sent.encode(), MARKERS) == []
        # What stewards see, the number of rows, is stored; nobody's name or place is.
        assert set(held(dump(lake.postgres, lake.installation.database), MARKERS)) <= {str(ROWS)}
        assert str(lake.ask("rows", "lake-0")) == str(ROWS)


def damage(path):
    """No page begins where the first one did; size, moment and footer stay."""
    content, moment = bytearray(path.read_bytes()), path.stat().st_mtime_ns
    content[4:204] = bytes(200)
    path.write_bytes(content)
    os.utime(path, ns=(moment, moment))


def dump(postgres, database):
    program = Postgres._program("pg_dump")
    return subprocess.run([program, postgres.url(database)], check=True, capture_output=True).stdout


@pytest.mark.timeout(900)
def test_without_encryption_it_would_be_found_in_sparks_own_files(tmp_path, monkeypatch):
    """So the test above can fail, and the setting is one that is demanded."""
    found_or_skip(Spark)
    unsafe = SAFE | {"spark.io.encryption.enabled": "false"}
    monkeypatch.setattr(engine, "REQUIRED", {**engine.REQUIRED, "spark.io.encryption.enabled": "false"})
    with Spark.started(unsafe | SPILLING) as spark, Traces(tmp_path / "traces", spark.folder) as traces:
        lake = Lake(tmp_path / "lake", spark)
        for number, table in enumerate(tables()):
            lake.put(table, f"part-{number}")
        source = sources_file.read(lake.sources_file)["trips"]
        part = LakeScope(region=Region(-98.3, 29.8, -97.3, 31.0))
        columns = ColumnKinds(user="text", time="instant", opted_out="text")
        with engine.lake(source) as session:
            session.read(manifest(lake.checkins), manifest(lake.opt_outs))
            assert session.ask(question.masses(columns, part, RowKey(level=8), unit=2**40)).num_rows > 100
    assert any(marker == "zzleakuser" for _, marker in traces.holding(MARKERS))


def manifest(folder):
    from heatmaps.sources import manifest as manifests

    files = manifests.files_below(str(folder))
    return manifests.pin("", files, {"user": USER}).manifest
