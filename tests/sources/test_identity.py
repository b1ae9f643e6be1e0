"""What a lake sums is, bit for bit, what the product sums of the same rows uploaded."""

import io
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from heatmaps import datasets, masses
from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.datasets import NewDataset
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.options import Options
from heatmaps.ingest.versions import surveys
from heatmaps.models import SourceSurvey
from mechanisms.guarantee import Relation
from mechanisms.records.row_key import TimeBins
from mechanisms.space.grid import FINEST_LEVEL, Region

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

REGION = Region(-98.3, 29.8, -97.3, 31.0)
ROWS = 120_000
UNIT = 2**40
HOURS = TimeBins(start=1_900_000_007, width=3600, count=24)  # from a moment after all check-ins


def edges(low, high, count, rng):
    """Coordinates of cell edges of several levels, and the numbers next to them on both sides."""
    levels = rng.choice([3, 8, 16, 23, 31], count)
    at = low + (rng.random(count) * 2.0**levels).astype(np.int64) * ((high - low) / 2.0**levels)
    return np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])[:count]


def rows(rng, *, zone=None):
    """Check-ins with everything that is odd in them: borders, edges, NaN, no time, names with blanks."""
    lat = np.where(rng.random(ROWS) < 0.4, edges(29.8, 31.0, ROWS, rng), rng.uniform(29.7, 31.1, ROWS))
    lon = np.where(rng.random(ROWS) < 0.4, edges(-98.3, -97.3, ROWS, rng), rng.uniform(-98.4, -97.2, ROWS))
    odd = rng.integers(0, ROWS, (8, 40))
    lat[odd[0]], lon[odd[1]], lat[odd[2]], lon[odd[3]] = np.nan, np.nan, np.inf, -np.inf
    lat[odd[4]], lon[odd[5]], lat[odd[6]], lon[odd[7]] = 29.8, -98.3, 31.0, -97.3
    person = rng.zipf(1.3, ROWS) % 3000
    person[rng.random(ROWS) < 0.3] = 7  # one of them has a third of the check-ins
    users = [f"u{number}" for number in person]
    for at, blank in enumerate(["\u00a0", "\u2003", "\t", " ", "\u3000", "\x1f"] * 20):
        users[at] = blank + users[at] + blank
    users[500:505] = ["\u200bu1", "é", "e\u0301", "x" * 1000, "U1"]
    begin, end = (int(datetime(2024, month, 1, tzinfo=UTC).timestamp()) for month in (1, 12))
    seconds = pa.array(rng.integers(begin * 10**6, end * 10**6, ROWS), mask=rng.random(ROWS) < 0.05)
    lat_column = pa.array(lat, mask=rng.random(ROWS) < 0.001)
    return pa.table(
        {
            "user": pa.array(users),
            "lat": lat_column,
            "lon": pa.array(lon),
            "time": seconds.cast(pa.int64()).cast(pa.timestamp("us", tz=zone)),
        }
    )


def slices():
    """Of the region, of a part of it whose size is no power of two, and of a summer."""
    part = {"rectangle": ("-98.01", "30.05", "-97.55", "30.7")}
    summer = {"since": "2024-06-01T00:00:00Z", "until": "2024-09-01T00:00:00Z"}
    return {}, part, summer, part | summer


def dataset_of(steward, slug, relation, **facts):
    more = {"limits": {"presence": "2"}}
    if relation is Relation.REPLACE:
        more = {"limits": {"record": "2"}, "persons": 4000, "radius_m": 500}
    new = NewDataset(slug=slug, title="A city", region=REGION, relation=relation, **(more | facts))
    return datasets.create(steward, new)


def uploaded(steward, dataset, table, zone, gone):
    if gone:
        opt_outs.opt_out(steward, dataset, gone)
    file = io.BytesIO()
    pq.write_table(table, file)
    file.seek(0)
    options = Options(time_zone=zone, max_rejected=Fraction(1))
    upload = uploads.receive(steward, dataset, file, name="rows.parquet", options=options, enqueue=False)
    uploads.run(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "ready", upload.failure
    return dataset.versions.get()


def looked_at(steward, dataset):
    """The dataset's next version."""
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    survey = SourceSurvey.objects.get(pk=dataset.pk)
    assert survey.state == "done", survey.failure
    surveys.appear(timezone.now())
    return dataset.versions.latest("number")


@pytest.mark.parametrize(
    "case",
    [(Relation.ADD_REMOVE, "America/Chicago", None), (Relation.REPLACE, "UTC", "UTC")],
    ids=["clock", "utc"],
)
def test_a_lake_says_what_an_upload_says(steward, live_lake, case):
    """In all of the region on both grids; in each of its parts on one, and on the other of the other case."""
    relation, zone, zone_of_column = case
    rng = np.random.default_rng(20)
    table, gone = rows(rng, zone=zone_of_column), ["u3", "u7", "nobody", " u11\t"]
    live_lake.time_zone = zone
    live_lake.write()
    for number in range(3):
        live_lake.put(table.slice(number * ROWS // 3, ROWS // 3), f"part-{number}")
    live_lake.put_opt_outs(gone)
    there = dataset_of(steward, "there", relation, source="trips")
    here = dataset_of(steward, "here", relation)
    here.user_form = ""  # Spark has no form C of Unicode: a lake's users are told apart as they are written
    here.save()
    of_lake = looked_at(steward, there)
    of_upload = uploaded(steward, here, table, zone, [user.strip() for user in gone])

    for number, asked in enumerate(slices()):
        for level in (6, 16) if not asked else ((6, 16)[(number + (zone == "UTC")) % 2],):
            data_slice = DataSlice.parse(REGION, resolution=2**level, **asked)
            question = {"level": level, "unit": UNIT, "data_slice": data_slice}
            found = masses.read(there, of_lake, **question)
            expected = masses.read(here, of_upload, **question)
            assert expected.cells.size > 50
            np.testing.assert_array_equal(found.cells, expected.cells)
            np.testing.assert_array_equal(found.masses, expected.masses)
        question = {"level": 6, "unit": UNIT, "data_slice": data_slice, "bins": HOURS}
        there_by_hour, here_by_hour = (
            masses.read_by_bin(dataset, version, **question)
            for dataset, version in ((there, of_lake), (here, of_upload))
        )
        assert len(there_by_hour) == len(here_by_hour) == 24
        for found, expected in zip(there_by_hour, here_by_hour, strict=True):
            np.testing.assert_array_equal(found.cells, expected.cells)
            np.testing.assert_array_equal(found.masses, expected.masses)
        if relation is Relation.REPLACE and "rectangle" not in asked:
            question = {"enrolled": 4000, "data_slice": DataSlice.parse(REGION, resolution=1, **asked)}
            found = masses.read_means(there, of_lake, **question)
            expected = masses.read_means(here, of_upload, **question)
            assert (found.persons, found.x, found.y) == (expected.persons, expected.x, expected.y)
    assert DataSlice.parse(REGION, resolution=1) == WHOLE
    assert FINEST_LEVEL == 31
