"""Masses read by aggregation equal the definition, computed naively with fractions."""

import math
import random
from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from heatmaps import data_slice, masses
from heatmaps.data_slice import DataSlice
from heatmaps.ingest import opt_outs, uploads
from heatmaps.models import Upload, UploadState
from heatmaps.pseudonyms import keys
from mechanisms.records.means import PARTS
from mechanisms.space.grid import morton_decode, morton_encode
from mechanisms.space.subregion import LINES, Rectangle
from tests.ingest.conftest import REGION
from tests.triggers import disabled

UNIT = 2**20


def naive(rows, *, level, unit):
    """{cell: mass} of rows (user, time, lat, lon): floor(unit · share) per person and cell, then summed."""
    records = defaultdict(Counter)
    for user, _, lat, lon in rows:
        if REGION.west <= lon <= REGION.east and REGION.south <= lat <= REGION.north:
            records[user][int(REGION.morton([lat], [lon], level)[0])] += 1
    total = Counter()
    for record in records.values():
        visits = sum(record.values())
        for cell, count in record.items():
            total[cell] += math.floor(unit * Fraction(count, visits))
    return {cell: mass for cell, mass in total.items() if mass}


def as_dict(mass_map):
    return dict(zip(mass_map.cells.tolist(), mass_map.masses.tolist(), strict=True))


def random_rows(seed, count=600, persons=17):
    """Check-ins of a few persons at a few places, one in ten outside the region."""
    rng = random.Random(seed)
    places = [(rng.uniform(40.9, 42.05), rng.uniform(1.95, 3.05)) for _ in range(40)]
    return [(f"user-{rng.randrange(persons)}", "", *rng.choice(places)) for _ in range(count)]


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("level", [0, 1, 5, 8, 31])
def test_it_equals_the_definition(make_dataset, upload, relation, level):
    dataset, rows = make_dataset(relation=relation), random_rows(level)
    version = upload(dataset, rows).version
    read = masses.read(dataset, version, level=level, unit=UNIT)
    assert (read.level, read.unit) == (level, UNIT)
    assert as_dict(read) == naive(rows, level=level, unit=UNIT)


def test_it_joins_a_persons_rows_of_several_files(dataset, upload):
    rows = random_rows(3)
    upload(dataset, rows[:200])
    version = upload(dataset, rows[200:]).version
    assert as_dict(masses.read(dataset, version, level=4, unit=UNIT)) == naive(rows, level=4, unit=UNIT)


def test_it_reads_an_old_version_as_it_was(dataset, upload):
    rows = random_rows(4)
    first = upload(dataset, rows[:200]).version
    upload(dataset, rows[200:])
    assert as_dict(masses.read(dataset, first, level=4, unit=UNIT)) == naive(rows[:200], level=4, unit=UNIT)


def test_it_does_not_read_what_no_version_includes(dataset, upload, steward):
    version = upload(dataset, random_rows(5)[:100]).version
    before = as_dict(masses.read(dataset, version, level=4, unit=UNIT))
    upload(dataset, random_rows(6), advance=False)
    assert as_dict(masses.read(dataset, version, level=4, unit=UNIT)) == before
    later = uploads.advance(steward, dataset)
    assert as_dict(masses.read(dataset, later, level=4, unit=UNIT)) != before


@pytest.mark.parametrize("state", [UploadState.RECEIVED, UploadState.STAGED, UploadState.FAILED])
def test_it_reads_ready_uploads_only(dataset, upload, state):
    version = upload(dataset, random_rows(7)).version
    with disabled():
        Upload.objects.update(state=state)
    assert as_dict(masses.read(dataset, version, level=4, unit=UNIT)) == {}


def test_it_does_not_read_other_datasets(make_dataset, upload):
    one, other = make_dataset("one"), make_dataset("other")
    version = upload(one, random_rows(8)).version
    upload(other, random_rows(9))
    assert as_dict(masses.read(one, version, level=4, unit=UNIT)) == naive(random_rows(8), level=4, unit=UNIT)


def test_it_gives_every_person_the_same_weight(dataset, upload):
    rows = [("busy", "", 41.9, 2.9)] * 99 + [("quiet", "", 41.1, 2.1)]
    read = masses.read(dataset, upload(dataset, rows).version, level=1, unit=UNIT)
    assert as_dict(read) == {0: UNIT, 3: UNIT}


def test_it_counts_a_persons_rows_inside_as_the_whole_record(make_dataset, upload):
    """Flat mechanisms: what is outside is left out of the share, not only of the map."""
    dataset = make_dataset(relation="replace")
    rows = [("anna", "", 41.1, 2.1), ("anna", "", 50.0, 2.1), ("bob", "", 50.0, 2.1)]
    read = masses.read(dataset, upload(dataset, rows).version, level=1, unit=UNIT)
    assert as_dict(read) == {0: UNIT}


def test_it_reads_an_empty_version(dataset, steward):
    read = masses.read(dataset, uploads.advance(steward, dataset), level=8, unit=UNIT)
    assert read.cells.size == 0


def test_it_fetches_in_chunks(dataset, upload, monkeypatch):
    monkeypatch.setattr(masses.sqlite, "CHUNK_ROWS", 7)
    rows = random_rows(10)
    version = upload(dataset, rows).version
    assert as_dict(masses.read(dataset, version, level=6, unit=UNIT)) == naive(rows, level=6, unit=UNIT)


def test_it_needs_no_key_to_read(dataset, upload):
    version = upload(dataset, random_rows(11)).version
    keys.discard(dataset)
    assert masses.read(dataset, version, level=4, unit=UNIT).cells.size


# --- parts of the data ---

DAY = 86_400


def timed_rows(seed, count=500, persons=17):
    """As `random_rows`, over ten days from 1970-01-01 on; one check-in in six has no time."""
    rng = random.Random(seed)
    seconds = [None if rng.randrange(6) == 0 else rng.randrange(10 * DAY) for _ in range(count)]
    times = ["" if at is None else data_slice.moment_text(at) for at in seconds]
    rows = random_rows(seed, count, persons)
    return [(user, time, lat, lon) for (user, _, lat, lon), time in zip(rows, times, strict=True)], seconds


def naive_part(rows, seconds, data_slice, *, level, unit):
    """As `naive`, of the check-ins of a period in a part, on the part's own grid; integers only."""
    records = defaultdict(Counter)
    part = data_slice.rectangle or Rectangle(0, 0, LINES, LINES)
    for (user, _, lat, lon), second in zip(rows, seconds, strict=True):
        if not (REGION.west <= lon <= REGION.east and REGION.south <= lat <= REGION.north):
            continue
        timeless = second is None and data_slice.has_period
        if timeless or (data_slice.since is not None and second < data_slice.since):
            continue
        if data_slice.until is not None and second >= data_slice.until:
            continue
        x, y = (int(v[0]) for v in morton_decode(REGION.morton([lat], [lon]), 31))
        if part.west <= x < part.east and part.south <= y < part.north:
            column = (x - part.west) * 2**level // (part.east - part.west)
            row = (y - part.south) * 2**level // (part.north - part.south)
            records[user][int(morton_encode([column], [row], level)[0])] += 1
    total = Counter()
    for record in records.values():
        visits = sum(record.values())
        for cell, count in record.items():
            total[cell] += unit * count // visits
    return {cell: mass for cell, mass in total.items() if mass}


def random_slice(rng):
    """A period, a part or both, now and then with a check-in's own column or second for a bound."""
    since, until = sorted(rng.sample(range(10 * DAY), 2))
    west, east = sorted(rng.sample(range(0, LINES + 1, LINES // 64), 2))
    south, north = sorted(rng.sample(range(LINES + 1), 2))
    return DataSlice(
        since=rng.choice([None, since]),
        until=rng.choice([None, until]),
        rectangle=rng.choice(
            [None, Rectangle(west, south, east, north), Rectangle(west, south, east, north)]
        ),
    )


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_masses_of_random_parts_equal_the_definition(make_dataset, upload, relation, monkeypatch):
    monkeypatch.setattr(masses.sqlite, "CHUNK_ROWS", 37)
    monkeypatch.setattr(masses.sqlite, "JOIN_ROWS", 50)
    dataset, rng = make_dataset(relation=relation), random.Random(relation)
    rows, seconds = timed_rows(12)
    version = upload(dataset, rows).version
    found = 0
    for _ in range(40):
        data_slice, level = random_slice(rng), rng.choice([0, 1, 5, 12])
        read = as_dict(masses.read(dataset, version, level=level, unit=UNIT, data_slice=data_slice))
        assert read == naive_part(rows, seconds, data_slice, level=level, unit=UNIT), data_slice
        found += bool(read)
    assert found > 20


def test_a_part_keeps_the_bounds_half_open(dataset, upload):
    """The second and the line that begin are in, those that end are not."""
    rows = [("a", data_slice.moment_text(at), 41.5, 2.5) for at in (99, 100, 199, 200)]
    version = upload(dataset, rows).version

    def read(**bounds):
        return as_dict(masses.read(dataset, version, level=0, unit=UNIT, data_slice=DataSlice(**bounds)))

    assert read(since=200) == read(until=100) == {0: UNIT}
    assert read(since=201) == read(until=99) == {}
    x, y = LINES // 2, LINES // 2  # of the check-ins' finest cell
    assert read(rectangle=Rectangle(x, y, x + 1, y + 1)) == {0: UNIT}
    assert (
        read(rectangle=Rectangle(0, 0, x, y + 1)) == read(rectangle=Rectangle(x + 1, 0, LINES, LINES)) == {}
    )


def test_check_ins_without_a_time_are_in_no_period(dataset, upload):
    version = upload(dataset, [("a", "", 41.5, 2.5), ("b", "1970-01-02", 41.1, 2.1)]).version
    everything = DataSlice(since=data_slice.moment("since", "0001-01-01"))
    read = as_dict(masses.read(dataset, version, level=1, unit=UNIT, data_slice=everything))
    assert read == {0: UNIT}
    assert as_dict(masses.read(dataset, version, level=1, unit=UNIT)) == {0: UNIT, 3: UNIT}


def test_one_person_moves_the_masses_of_any_part_by_one_unit_at_most(make_dataset, upload):
    """L1, whatever the record: also of a person with nearly all check-ins."""
    rng = random.Random(14)
    rows, _ = timed_rows(13, persons=6)
    heavy = [("user-0", time, lat, lon) if rng.random() < 0.5 else (user, time, lat, lon)
             for user, time, lat, lon in rows]  # fmt: skip
    with_all, without = make_dataset("all"), make_dataset("less")
    one = upload(with_all, heavy).version
    other = upload(without, [row for row in heavy if row[0] != "user-0"]).version
    moved = 0
    for _ in range(25):
        data_slice, level = random_slice(rng), rng.choice([0, 3, 8])
        before = Counter(as_dict(masses.read(with_all, one, level=level, unit=UNIT, data_slice=data_slice)))
        before.subtract(as_dict(masses.read(without, other, level=level, unit=UNIT, data_slice=data_slice)))
        distance = sum(map(abs, before.values()))
        assert distance <= UNIT
        moved += distance > UNIT // 2
    assert moved > 10


def test_opted_out_people_are_in_no_part(dataset, upload, steward):
    rows = [("anna", "1970-01-02", 41.1, 2.1), ("bob", "1970-01-02", 41.2, 2.2)]
    upload(dataset, rows)
    opt_outs.opt_out(steward, dataset, ["anna"])
    version = uploads.advance(steward, dataset)
    data_slice = DataSlice(since=0, rectangle=Rectangle(0, 0, LINES // 2, LINES // 2))
    assert (
        sum(as_dict(masses.read(dataset, version, level=3, unit=UNIT, data_slice=data_slice)).values())
        == UNIT
    )


# --- record means ---


def naive_means(rows, enrolled):
    """(x, y) of the sum of mean positions in shares of the region, points outside clamped."""
    records = defaultdict(list)
    for user, _, lat, lon in rows:
        x = (min(max(lon, REGION.west), REGION.east) - REGION.west) / (REGION.east - REGION.west)
        y = (min(max(lat, REGION.south), REGION.north) - REGION.south) / (REGION.north - REGION.south)
        records[user].append((x, y))
    missing = enrolled - len(records)
    return [
        sum(math.fsum(place[axis] for place in record) / len(record) for record in records.values())
        + missing / 2
        for axis in (0, 1)
    ]


def test_record_means_equal_the_definition(make_dataset, upload):
    dataset, rows = make_dataset(relation="replace"), random_rows(12)
    version = upload(dataset, rows).version
    means = masses.read_means(dataset, version, enrolled=20)
    expected = naive_means(rows, 20)
    assert means.persons == 20
    # Half a finest cell and half a part a person, and the middle of the border's cell for points outside.
    assert [means.x / PARTS, means.y / PARTS] == pytest.approx(expected, abs=20 * 2**-30)


def test_record_means_of_a_period_leave_the_rest_out(make_dataset, upload):
    dataset = make_dataset(relation="replace")
    rows = [("anna", "2026-01-01T00:00:00Z", 41.25, 2.25), ("anna", "2026-02-01T00:00:00Z", 41.75, 2.75)]
    version = upload(dataset, rows).version
    january = DataSlice.parse(REGION, until="2026-02-01")
    means = masses.read_means(dataset, version, enrolled=1, data_slice=january)
    assert [means.x / PARTS, means.y / PARTS] == pytest.approx([0.25, 0.25], abs=1e-9)


def test_record_means_of_nobody_are_the_centre(make_dataset, steward):
    dataset = make_dataset(relation="replace")
    means = masses.read_means(dataset, uploads.advance(steward, dataset), enrolled=7)
    assert (means.x, means.y) == (7 * PARTS // 2, 7 * PARTS // 2)


def test_record_means_leave_out_who_opted_out(make_dataset, upload, steward):
    dataset = make_dataset(relation="replace")
    upload(dataset, [("anna", "", 41.25, 2.25), ("bob", "", 41.75, 2.75)])
    opt_outs.opt_out(steward, dataset, ["anna"])
    later = uploads.advance(steward, dataset)
    means = masses.read_means(dataset, later, enrolled=2)
    assert [means.x / PARTS, means.y / PARTS] == pytest.approx([0.75 + 0.5, 0.75 + 0.5], abs=1e-9)
