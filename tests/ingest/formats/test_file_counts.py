"""Counting the check-ins of files finds the masses of their rows, whatever the format."""

from fractions import Fraction

import pytest

from heatmaps.data_slice import DataSlice
from heatmaps.ingest.formats.file_counts import read_counts
from heatmaps.ingest.formats.file_points import read_points
from heatmaps.ingest.formats.reader import ReaderError
from mechanisms.records.aggregation import masses
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import Region
from tests.ingest.formats import written

REGION, KEY, UNIT = Region(2, 41, 3, 42), RowKey(level=4), 2**24
NAMES = ["anna", " anna ", "bob", "Jos\u00e9", "Jose\u0301", "7", "x" * 65, "\u65e5\u672c"]
ROWS = [
    (
        NAMES[at % 7 if at % 3 else at % 8],
        f"2012-04-{1 + at % 28:02}T17:42:00Z",
        41 + at % 13 / 12,
        2 + at % 17 / 16,
    )
    for at in range(300)
]
NONE = Fraction(0)


def as_lists(mass_map):
    return mass_map.cells.tolist(), mass_map.masses.tolist()


@pytest.mark.parametrize("data_slice", [DataSlice(), DataSlice(since=1334000000), DataSlice(until=1)])
@pytest.mark.parametrize("names", [["csv", "parquet"], ["ndjson.gz"], ["snap", "csv.gz"]])
def test_masses_are_those_of_the_rows(tmp_path, names, data_slice):
    paths = [tmp_path / name for name in names]
    for at, path in enumerate(paths):
        path.write_bytes(written.FORMATS[path.name](ROWS[at * 90 :]))
    counts = read_counts(paths, REGION, KEY, max_rejected_share=NONE, data_slice=data_slice)
    points = read_points(paths, region=REGION, max_rejected_share=NONE, data_slice=data_slice)
    cells = REGION.morton(points.lat, points.lon)
    [found] = counts.masses(unit=UNIT)
    assert as_lists(found) == as_lists(masses(persons=points.persons, cells=cells, level=4, unit=UNIT))
    assert bool(found.cells.size) == (data_slice.until is None)


def test_a_large_csv_file_and_a_small_one_have_the_same_masses(tmp_path):
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    rows = [(*row[:2], f"{row[2]:.12f}", f"{row[3]:.12f}") for row in ROWS]
    small.write_bytes(written.csv(rows))
    large.write_bytes(written.csv(rows * 100))
    found = [
        read_counts([path], REGION, KEY, max_rejected_share=NONE).masses(unit=UNIT) for path in (small, large)
    ]
    assert as_lists(found[0][0]) == as_lists(found[1][0])


def test_it_refuses_too_many_bad_rows_and_names_the_first(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("user,lat,lon\nanna,91,2\nbob,41.5,2.5\n")
    with pytest.raises(ReaderError, match=r"1 of 2 rows .*bad\.csv, line 2: lat is outside"):
        read_counts([path], REGION, KEY, max_rejected_share=NONE)
    left_out = read_counts([path], REGION, KEY, max_rejected_share=Fraction(1)).left_out
    assert (left_out.rejected, left_out.first) == (1, ["bad.csv, line 2: lat is outside -90..90"])


def test_it_shows_no_data(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,lat,lon\nanna,41.5,2.5\nbob,91,2\n")
    shown = repr(read_counts([path], REGION, KEY, max_rejected_share=Fraction(1)))
    assert "91" not in shown
    assert "line" not in shown
