"""Whatever rows one person has: sums move by that person's unit at most, and the question is answered."""

import time
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from heatmaps import sources
from heatmaps.sources import engine, manifest, question
from heatmaps.sources.question import ColumnKinds, LakeScope
from mechanisms.records.means import PARTS
from mechanisms.records.row_key import RowKey, TimeBins
from mechanisms.space.grid import Region

pytestmark = [pytest.mark.long, pytest.mark.django_db]

REGION = Region(-98.3, 29.8, -97.3, 31.0)
LEVEL, UNIT = 6, 2**24
LONGEST_SECONDS = 60
END = 2**63 - 1  # of time, in microseconds: the year 294247
MIDDLE = {"lat": 30.4, "lon": -97.8}
OPTED_OUT = "u3"


def table(users, lat, lon, times, zone):
    """Users are bytes, as Parquet does not look whether a text is one."""
    texts = pa.array([user if isinstance(user, bytes) else user.encode() for user in users], pa.binary())
    columns = {"user": texts.view(pa.string()), "lat": pa.array(lat, pa.float64())}
    columns |= {"lon": pa.array(lon, pa.float64()), "time": pa.array(times, pa.timestamp("us", tz=zone))}
    return pa.table(columns)


def crowd(zone):
    rng = np.random.default_rng(30)
    users = [f"u{number}" for number in rng.integers(0, 60, 2000)]
    seconds = rng.integers(1_700_000_000, 1_760_000_000, 2000) * 10**6
    return table(users, rng.uniform(29.7, 31.1, 2000), rng.uniform(-98.4, -97.2, 2000), seconds, zone)


def records(zone):
    """Of one person each, by what is odd about it."""
    noon = int(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()) * 10**6
    rng = np.random.default_rng(31)
    many = 2 * 10**5

    def of(users, lat=(30.4,), lon=(-97.8,), times=(noon,)):
        count = max(map(len, (users, lat, lon, times)))
        whole = [list(each) * (count if len(each) == 1 else 1) for each in (users, lat, lon, times)]
        return table(*whole, zone)

    odd = [np.nan, np.inf, -np.inf, None, 1e308, -1e308, 5e-324, 30.4]
    return {
        "numbers that are none": of(["x"], lat=odd, lon=[-97.8]),
        "places all over the world": of(
            ["x"], lat=[-90, 90, 0, 29.8, 31.0, 30.4] * 2, lon=[180, -180, -98.3] * 4
        ),
        "no time and all times": of(
            ["x"], times=[END, -END, END - 1, None, 0, noon, 253_402_300_800 * 10**6]
        ),
        "the time that means none": of(["x"], times=[-END - 1, noon]),
        "no text": of([b"\xff\xfe", b"x\xc3", b"\xed\xa0\x80", b"\x00", b" \xff "]),
        "a long name": of(["x" + " " * 10**6 + "x", "x", "\u3000" * 10**6]),
        "a name with blanks": of(
            ["x", " x", "\tx", "x\u3000", "\u2028x\r\n", "\x1fx\x85"], lon=[-98, -97.9, -97.5] * 2
        ),
        "a check-in a cell": of(["x"], lat=rng.uniform(29.8, 31, many), lon=rng.uniform(-98.3, -97.3, many)),
        "no name": of(["", " ", "\u2003\t"]),
    }


# Only of times it matters what a column of times holds.
OF_TIMES = ("no time and all times", "the time that means none")


@pytest.fixture(params=["UTC", None], ids=["moments", "clocks"])
def zone(request):
    return request.param


@pytest.fixture
def asked(zone, live_lake):
    """Asks a question about the crowd, with the record of one more person and other opt-outs."""
    live_lake.time_zone = "America/Chicago"  # west of Greenwich: there the end of time is later
    live_lake.write()
    columns = {"user": manifest.USER, "lat": manifest.NUMBER, "lon": manifest.NUMBER, "time": manifest.TIME}
    kinds = ColumnKinds(user="text", time="local" if zone is None else "instant", opted_out="text")
    everybody = str(live_lake.put(crowd(zone), "crowd"))
    made = {
        name: str(live_lake.put(rows, f"record-{at}"))
        for at, (name, rows) in enumerate(records(zone).items())
    }
    live_lake.put_opt_outs([OPTED_OUT], "one")
    out = {False: ["part-0"], True: ["part-0", "one"]}
    with engine.lake(sources.named("trips")) as session:

        def ask(text, record=None, *, opted_out=False):
            paths = [everybody] if record is None else [everybody, made[record]]
            users = [f"{live_lake.opt_outs}/{name}.parquet" for name in out[opted_out]]
            opt_outs = manifest.pin("", users, {"user": manifest.USER}).manifest
            session.read(manifest.pin("", paths, columns).manifest, opt_outs)
            return session.ask(text(kinds))

        yield ask


def masses(kinds):
    return question.masses(kinds, LakeScope(region=REGION), RowKey(level=LEVEL), unit=UNIT)


def masses_by_hour(kinds):
    """One sensitivity over all bins: the hours of the day share each person's unit."""
    hours = TimeBins(start=7, width=3600, count=24)
    return question.masses(kinds, LakeScope(region=REGION), RowKey(level=LEVEL, bins=hours), unit=UNIT)


def means(kinds):
    return question.means(kinds, LakeScope(region=REGION))


def by_cell(found):
    return {(row.get("bin"), row["cell_row"], row["cell_column"]): row["mass"] for row in found.to_pylist()}


def moved(before, after):
    return sum(abs(after.get(cell, 0) - before.get(cell, 0)) for cell in before.keys() | after.keys())


def test_no_record_moves_sums_by_more_than_a_unit_or_stops_them(asked, zone):
    before, (middle,) = by_cell(asked(masses)), asked(means).to_pylist()
    by_hour = by_cell(asked(masses_by_hour))
    assert sum(before.values()) > 50 * UNIT
    assert sum(by_hour.values()) > 50 * UNIT
    assert {number for number, *_ in by_hour} == set(range(24))
    told = {}
    for record in OF_TIMES if zone is None else records(zone):
        began = time.monotonic()
        after, (mean,) = by_cell(asked(masses, record)), asked(means, record).to_pylist()
        [counts] = asked(question.invalid, record).to_pylist()
        assert time.monotonic() - began < LONGEST_SECONDS, record
        told[record] = moved(before, after)
        assert told[record] <= UNIT, record
        assert moved(by_hour, by_cell(asked(masses_by_hour, record))) <= UNIT, record
        assert mean["persons"] - middle["persons"] in (0, 1), record
        for axis in ("x", "y"):
            assert 0 <= mean[axis] - middle[axis] <= PARTS * (mean["persons"] - middle["persons"]), record
        assert counts["checkins"] > 2000
    assert [record for record, units in told.items() if units < UNIT / 2] == (["no name"] if zone else [])
    assert moved(before, by_cell(asked(masses, opted_out=True))) in range(1, UNIT + 1)
