"""Masses read by aggregation equal the definition, computed naively with fractions."""

import math
import random
from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from heatmaps import keys, masses
from heatmaps.ingest import uploads
from heatmaps.models import Upload, UploadState
from tests.ingest.conftest import REGION

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
    monkeypatch.setattr(masses, "CHUNK_ROWS", 7)
    rows = random_rows(10)
    version = upload(dataset, rows).version
    assert as_dict(masses.read(dataset, version, level=6, unit=UNIT)) == naive(rows, level=6, unit=UNIT)


def test_it_needs_no_key_to_read(dataset, upload):
    version = upload(dataset, random_rows(11)).version
    keys.discard(dataset)
    assert masses.read(dataset, version, level=4, unit=UNIT).cells.size
