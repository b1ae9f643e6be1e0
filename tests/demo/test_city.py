"""The synthetic city: the same again from the same seed, and like a city."""

import gzip

import numpy as np
import pytest

from heatmaps.demo.city import FIRST_DAY, WEEKS, City, check_ins, write_csv
from heatmaps.demo.places import AWAY, COAST, HOMES, LEISURE, NIGHT, REGION, WORK
from heatmaps.ingest.formats.reader import read_checkins

CITY = City(persons=2_000, checkins=40_000, seed=1)


@pytest.fixture(scope="module")
def rows():
    return check_ins(CITY)


def test_it_has_exactly_the_persons_and_check_ins_it_says(rows):
    visits = np.bincount(rows.persons)
    assert visits.sum() == 40_000
    assert visits.size == 2_000
    assert visits.min() >= 1


def test_it_has_few_busy_and_many_quiet_persons(rows):
    visits = np.bincount(rows.persons)
    assert np.median(visits) < 15
    assert visits.max() > 200


def test_it_gives_the_same_bytes_for_the_same_city(tmp_path):
    small = City(persons=20, checkins=100, seed=7)
    for name in ("one", "two"):
        write_csv(small, tmp_path / name)
    other = tmp_path / "other"
    write_csv(City(persons=20, checkins=100, seed=8), other)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() != other.read_bytes()


def test_it_writes_what_the_reader_reads(tmp_path, rows):
    path = tmp_path / "city.csv.gz"
    write_csv(CITY, path)
    with path.open("rb") as stream:
        batches = list(read_checkins(stream))
    assert sum(len(batch.users) for batch in batches) == 40_000
    assert not any(batch.rejected for batch in batches)
    assert batches[0].times.tolist() == rows.times.tolist()
    assert np.allclose(batches[0].lat, rows.lat, atol=1e-6)
    assert batches[0].users[0] == f"resident-{rows.persons[0]:04d}"
    assert gzip.decompress(path.read_bytes()).startswith(b"user,time,lat,lon\n")


def test_it_lies_in_its_region_but_for_some_trips(rows):
    inside = REGION.contains(rows.lat, rows.lon).mean()
    assert 0.96 < inside < 0.985


def test_it_leaves_the_sea_empty(rows):
    lon, lat = np.array(COAST).T
    here = REGION.contains(rows.lat, rows.lon)
    assert (rows.lat[here] >= np.interp(rows.lon[here], lon, lat)).all()


def test_it_is_clustered(rows):
    """A third of the check-ins lie on a hundredth of the area."""
    inside = REGION.contains(rows.lat, rows.lon)
    cells = REGION.morton(rows.lat[inside], rows.lon[inside], level=6)
    visits = np.sort(np.bincount(cells, minlength=4**6))[::-1]
    assert visits[: 4**6 // 100].sum() > inside.sum() / 3


def test_it_puts_persons_where_they_live(rows):
    """The cell of a busy person with most check-ins holds far more than one in a hundred of them."""
    person = np.argmax(np.bincount(rows.persons))
    mine = rows.persons == person
    cells = REGION.morton(rows.lat[mine], rows.lon[mine], level=8)
    assert np.bincount(np.unique(cells, return_inverse=True)[1]).max() > 0.1 * mine.sum()


def test_it_spans_its_weeks(rows):
    days = (rows.times - int(FIRST_DAY.timestamp())) / 86_400
    assert 0 <= days.min() < 2
    assert WEEKS * 7 - 2 < days.max() < WEEKS * 7 + 1
    assert (np.diff(rows.times) >= 0).all()


def test_it_puts_every_place_but_the_trips_into_the_region():
    for place in (*HOMES, *WORK, *LEISURE, *NIGHT):
        assert REGION.contains(place.lat, place.lon)
    for place in AWAY:
        assert not REGION.contains(place.lat, place.lon)
