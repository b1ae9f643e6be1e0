"""From tables of every format to released maps and centroids, with a real Spark."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from django.utils import timezone
from pyiceberg.catalog import load_catalog
from pyiceberg.transforms import IdentityTransform

from heatmaps import masses, sources
from heatmaps.data_slice import WHOLE
from heatmaps.datasets import change
from heatmaps.ingest.versions import surveys
from heatmaps.ledger.verification import verify
from heatmaps.models import Enrolment
from heatmaps.origins.lake import LAKE
from heatmaps.releases import clock as moments
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from heatmaps.sources import question
from heatmaps.sources.engine import QuestionFailed
from heatmaps.sources.engine import lake as session_of
from mechanisms.catalogue import registry
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.records import aggregation
from mechanisms.space.grid import FINEST_LEVEL
from tests.sources.test_identity import REGION, dataset_of, looked_at, uploaded

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

PERSONS = 200
UNIT = 2**24


def rows(rng, users, count=1000):
    """Check-ins of these users at any time of two years; latitudes are decimals, longitudes single floats."""
    begin, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2025, 2027))
    seconds = pa.array(rng.integers(begin, end, count) * 10**6, pa.int64())
    lat = [Decimal(int(value)).scaleb(-6) for value in rng.integers(29_700_000, 31_100_000, count)]
    return pa.table(
        {
            "user": users.take(pa.array(rng.integers(0, len(users), count))),
            "lat": pa.array(lat, pa.decimal128(9, 6)),
            "lon": pa.array(rng.uniform(-98.4, -97.2, count), pa.float32()),
            "time": seconds.cast(pa.timestamp("us", tz="UTC")),
            "day": pa.array(rng.choice(["2026-01-01", "2026-01-02"], count)),
        }
    )


def as_uploaded(table):
    """The same check-ins of types that uploads take; Arrow does not round decimals to the nearest float."""
    return pa.table(
        {
            "user": table["user"].cast(pa.string()),
            "lat": [float(value) for value in table["lat"].to_pylist()],
            "lon": table["lon"].cast(pa.float64()),
            "time": table["time"],
        }
    )


def published(steward, dataset, **question):
    release = lifecycle.request_release(steward, dataset, ReleaseRequest(epsilon="0.5", **question))
    deadline = timezone.now() + timedelta(seconds=120)
    while release.state in {"reserved", "spent"} and timezone.now() < deadline:
        moments.tick()
        lifecycle.run(release.pk)
        release.refresh_from_db()
    assert release.state == "published"
    verify(dataset)
    return lifecycle.result_of(release)


def test_a_map_of_an_iceberg_table(steward, live_lake, tmp_path):
    """Users are numbers there, and texts in the table of opt-outs, which is in another catalog."""
    rng = np.random.default_rng(21)
    table = rows(rng, pa.array(range(PERSONS), pa.int64()))
    tables = []
    for name, content in (("checkins", table), ("opt_outs", pa.table({"user": ["003", " 7.0 ", "nobody"]}))):
        facts = {"type": "sql", "uri": f"sqlite:///{tmp_path}/{name}.db"}
        facts |= {"warehouse": f"file://{tmp_path}/a {name}"}
        catalog = load_catalog("hazemap", **facts)
        catalog.create_namespace("city")
        tables.append(catalog.create_table(f"city.{name}", schema=content.schema))
        if name == "checkins":
            with tables[0].update_spec() as spec:
                spec.add_field("day", IdentityTransform())
        tables[-1].append(content)
        written = ", ".join(f'{key} = "{value}"' for key, value in facts.items())
        if name == "checkins":
            live_lake.catalog = f"catalog = {{ {written} }}"
        else:
            live_lake.opt_outs_table = f'city.opt_outs", catalog = {{ {written} }}, kind = "iceberg'
    live_lake.kind, live_lake.table = "iceberg", "city.checkins"
    live_lake.write()
    dataset = dataset_of(steward, "there", Relation.ADD_REMOVE, source="trips")
    version = looked_at(steward, dataset)
    assert version.source_state.snapshot == str(tables[0].current_snapshot().snapshot_id)
    tables[0].append(table)  # the version stays what it was
    tables[1].append(pa.table({"user": ["9"]}))
    here = dataset_of(steward, "here", Relation.ADD_REMOVE)
    of_upload = uploaded(steward, here, as_uploaded(table), "UTC", ["3", "7"])
    found = masses.read(dataset, version, level=6, unit=UNIT)
    expected = masses.read(here, of_upload, level=6, unit=UNIT)
    np.testing.assert_array_equal(found.cells, expected.cells)
    np.testing.assert_array_equal(found.masses, expected.masses)
    assert published(steward, dataset, mechanism="sparse-emd", resolution=64) is not None


STRANGE = ["o'hara", 'a"b', "a\\b", "a\nb", "a\0b", "*", "'; DROP VIEW checkins; --", "${x}", "%s", "é", "🙂"]


def test_a_centroid_of_a_delta_table(steward, live_lake):
    """Users have any names, folders are called as a column would be, and nobody has opted out yet."""
    rng = np.random.default_rng(22)
    table = rows(rng, pa.array(STRANGE))
    live_lake.kind = "delta"
    live_lake.table, live_lake.opt_outs_table = (f"{live_lake.root}/a {name}" for name in ("table", "list"))
    write_deltalake(live_lake.table, table, partition_by=["day"])
    DeltaTable.create(live_lake.opt_outs_table, schema=pa.schema([("user", pa.string())]))
    live_lake.write()
    limits = {"record": None, "radius": "2"}
    dataset = dataset_of(steward, "there", Relation.REPLACE, source="trips", limits=limits)
    version = looked_at(steward, dataset)
    assert Enrolment.objects.filter(dataset=dataset).count() == len(STRANGE)
    write_deltalake(live_lake.table, table, mode="append")
    found = masses.read_means(dataset, version, enrolled=4000)
    here = dataset_of(steward, "here", Relation.REPLACE)
    of_upload = uploaded(steward, here, as_uploaded(table), "UTC", [])
    expected = masses.read_means(here, of_upload, enrolled=4000)
    assert (found.persons, found.x, found.y) == (expected.persons, expected.x, expected.y)
    assert published(steward, dataset, mechanism="exponential") is not None
    # Somebody opts out, and the files are still there.
    write_deltalake(live_lake.opt_outs_table, pa.table({"user": STRANGE[:1]}), mode="append")
    second = looked_at(steward, dataset)
    assert (second.number, sources.tables_of(second).opt_outs.snapshot) == (2, "1")
    assert masses.read_means(dataset, second, enrolled=4000).x != found.x


def test_every_method_draws_from_a_lake_as_from_an_upload(steward, live_lake):
    rng = np.random.default_rng(23)
    table = rows(rng, pa.array([f"u{number}" for number in range(PERSONS)]))
    live_lake.put(table)
    pairs = {}
    for relation in Relation:
        facts = {"expected_persons": PERSONS} if relation is Relation.ADD_REMOVE else {}
        there = dataset_of(steward, f"there-{relation}".replace("_", "-"), relation, source="trips", **facts)
        here = dataset_of(steward, f"here-{relation}".replace("_", "-"), relation, **facts)
        of_upload = uploaded(steward, here, as_uploaded(table), "UTC", [])
        pairs[relation] = (there, looked_at(steward, there)), (here, of_upload)
    drawn = []
    for entry in registry.entries():
        if entry.reads not in LAKE.offer.reads:
            continue
        relation = Relation.REPLACE if Relation.REPLACE in entry.relations else Relation.ADD_REMOVE
        if Relation.ADD_REMOVE in entry.relations and len(drawn) % 2:
            relation = Relation.ADD_REMOVE
        results = []
        for dataset, version in pairs[relation]:
            asked = ReleaseRequest(
                mechanism=entry.name, epsilon="0.5", resolution=16 if entry.max_resolution else None
            )
            draw = Plan.of(dataset, asked).draw
            results.append(draw.release(draw.read(dataset, version, WHOLE), SeededSource(5)).to_bytes())
        assert results[0] == results[1], entry.name
        drawn.append(entry.name)
    assert {"sparse-emd", "laplace", "k-median", "exponential", "emd-linear", "geo-local"} <= set(drawn)


def test_a_person_with_a_million_check_ins_weighs_as_much_as_anybody(steward, live_lake):
    rng = np.random.default_rng(24)
    count = 10**6
    persons = np.concatenate([np.zeros(count, np.int64), np.arange(1, 101)])
    lat, lon = rng.uniform(29.8, 31.0, count + 100), rng.uniform(-98.3, -97.3, count + 100)
    times = pa.array(np.zeros(count + 100, np.int64)).cast(pa.timestamp("us", tz="UTC"))
    live_lake.put(pa.table({"user": persons, "lat": lat, "lon": lon, "time": times}))
    dataset = dataset_of(steward, "there", Relation.ADD_REMOVE, source="trips")
    version = looked_at(steward, dataset)
    expected = aggregation.masses(persons=persons, cells=REGION.morton(lat, lon), level=5, unit=UNIT)
    found = masses.read(dataset, version, level=5, unit=UNIT)
    np.testing.assert_array_equal(found.cells, expected.cells)
    np.testing.assert_array_equal(found.masses, expected.masses)
    assert 100 * UNIT < found.masses.sum() <= 101 * UNIT


def test_what_is_too_old_is_not_read(steward, live_lake):
    """Nor what has no time; and keeping longer later brings nothing back."""
    table = rows(np.random.default_rng(25), pa.array(["a", "b", "c", "d"]), 400)
    now = timezone.now()
    days = [now - timedelta(days=number) for number in range(400)]
    times = pa.array([*days[:390], *[None] * 10], pa.timestamp("us", tz="UTC"))
    users = pa.array([f"u{number}" for number in range(400)])
    table = table.set_column(0, "user", users).set_column(3, "time", times)
    table = table.set_column(1, "lat", pa.array([30.0] * 400)).set_column(2, "lon", pa.array([-98.0] * 400))
    live_lake.put(table)
    dataset = dataset_of(steward, "there", Relation.ADD_REMOVE, source="trips", retention_days=30)
    version = looked_at(steward, dataset)
    found = masses.read(dataset, version, level=4, unit=UNIT)
    midnight = datetime.combine(version.kept_from, datetime.min.time(), UTC)
    kept = sum(day >= midnight for day in days)
    assert kept in {30, 31}
    assert found.masses.sum() == kept * UNIT
    change(steward, dataset, reason="research", retention_days=300)
    second = looked_at(steward, dataset)
    assert second.number == 2
    assert masses.read(dataset, second, level=4, unit=UNIT).masses.sum() == kept * UNIT


def test_a_file_that_spark_takes_for_a_note_is_noticed(steward, live_lake):
    """Whoever opted out by it would be read: the version is refused."""
    live_lake.kind = "delta"
    live_lake.table, live_lake.opt_outs_table = (str(live_lake.root / name) for name in ("table", "list"))
    write_deltalake(live_lake.table, rows(np.random.default_rng(26), pa.array(["a", "b"]), 10))
    write_deltalake(live_lake.opt_outs_table, pa.table({"user": ["a"]}))
    live_lake.write()
    [log] = (live_lake.root / "list" / "_delta_log").glob("*0.json")
    [path] = (live_lake.root / "list").glob("*.parquet")
    write_deltalake(live_lake.opt_outs_table, pa.table({"user": ["b"]}), mode="append")
    hidden = path.rename(path.with_name(f"_{path.name}"))
    log.write_text(log.read_text().replace(path.name, hidden.name))
    dataset = dataset_of(steward, "there", Relation.ADD_REMOVE, source="trips")
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    dataset.source_survey.refresh_from_db()
    assert "Spark reads 10 check-ins and 1 opt-outs" in dataset.source_survey.failure


def test_sums_that_leave_63_bits_raise_and_never_wrap(steward, live_lake):
    """A person's share is exact up to there; no record of people who live is as large."""
    live_lake.put(rows(np.random.default_rng(27), pa.array(["a"]), 10))
    source = sources.named("trips")
    most = 2**63 - 1
    with session_of(source) as session:

        def value(expression, *literals):
            held = ", ".join(f"({', '.join(map(str, row))})" for row in literals)
            text = f"SELECT {expression} AS value FROM VALUES {held} AS held(checkins, of_person)"
            return session.ask(text).to_pylist()[0]["value"]

        for unit in (1, 2**24, 2**40, 2**62):
            for checkins, of_person in (
                (1, 3),
                (2**31, 2**32 - 1),
                (2**40 + 1, 2**41),
                (most, most),
                (most - 1, most),
            ):
                row = (f"{checkins}L", f"{of_person}L")
                assert value(question._share(unit), row) == unit * checkins // of_person
        half = (f"{2**62}L", "1L")
        assert value("sum(checkins)", half) == 2**62
        for sums in (
            "sum(checkins)",
            "sum(checkins) OVER (PARTITION BY of_person)",
            "checkins + checkins + 1L",
        ):
            with pytest.raises(QuestionFailed) as failed:
                value(sums, half, half)
            assert str(failed.value).isidentifier()
        # Of means: 2^31 check-ins in the last column, and the first sum that is none.
        last, persons = (1 << FINEST_LEVEL) - 1, 2**31
        mean = question._mean("CAST(checkins AS DECIMAL(19, 0))").replace("2 * checkins", "2 * of_person")
        mean = mean.replace("+ checkins)", "+ CAST(of_person AS DECIMAL(19, 0)))")
        sums = last * persons
        twice = 4 * sums + 2 * persons
        assert value(mean, (f"{sums}L", f"{persons}L")) == (twice + persons) // (2 * persons)
