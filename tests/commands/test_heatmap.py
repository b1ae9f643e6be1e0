"""`manage.py heatmap`: a file in, a map out, and a readable line for everything that is wrong."""

import gzip
import io
import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from heatmaps import exports
from heatmaps.data_slice import moment_text
from heatmaps.ingest.formats.points import read_points
from heatmaps.management import offline
from mechanisms.guarantee import Guarantee
from mechanisms.records.row_key import RowKey, TimeBins
from mechanisms.space.grid import Region, morton_encode
from mechanisms.space.subregion import LINES, Rectangle
from tests.ingest.formats.written import FORMATS

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("HAZEMAP_TEST_DATA")
BOX = "-98.3,29.8,-97.3,31.0"


@pytest.fixture
def city(tmp_path):
    """400 persons in the north-west cell of a 4 × 4 grid, 3 check-ins each, one of them elsewhere."""
    path = tmp_path / "city.csv.gz"
    rows = "".join(f"{person},,30.9,-98.2\n{person},,30.95,-98.1\n{person},,10,10\n" for person in range(400))
    path.write_bytes(gzip.compress(("user,time,lat,lon\n" + rows).encode()))
    return path


def run(*arguments, mechanism="sparse-emd", epsilon="2", box=BOX):
    """(stdout, stderr) of the command."""
    out, err = io.StringIO(), io.StringIO()
    fixed = ["--bbox", box, "--mechanism", mechanism, "--epsilon", epsilon]
    call_command("heatmap", *map(str, arguments), *fixed, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refusal(*arguments, **options):
    with pytest.raises(CommandError) as caught:
        run(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what it gives -------------------------------------------------------------------------------------


def test_it_writes_a_map_with_its_sheet_and_prints_what_was_promised(city, tmp_path):
    output = tmp_path / "map.npy"
    out, err = run(city, "--resolution", "4", "--output", output, "--json")
    result = json.loads(out)
    assert set(result) == {"guarantee", "seconds", "output", "sum"}
    assert set(result["seconds"]) == {"read", "aggregate", "release"}
    assert result["output"] == str(output)
    assert Guarantee.from_json(result["guarantee"]).loss(1) == 2
    dense = np.load(output)
    assert result["sum"] == pytest.approx(dense.sum()) == pytest.approx(1)
    assert dense[0, 0] == dense.max() > 0.9
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert (sheet["mechanism"], sheet["epsilon"], sheet["resolution"]) == ("sparse-emd", "2", 4)
    assert sheet["parameters"]["width"] == 20
    assert "no ledger" in err


def test_it_draws_anew_every_time(city, tmp_path):
    maps = set()
    for _ in range(2):
        run(city, "--resolution", "4", "--output", tmp_path / "map.npy", mechanism="laplace")
        maps.add((tmp_path / "map.npy").read_bytes())
    assert len(maps) == 2


def test_it_writes_a_table(city, tmp_path):
    run(city, "--resolution", "4", "--output", tmp_path / "map.cells.csv")
    lines = (tmp_path / "map.cells.csv").read_text().splitlines()
    assert lines[0] == "row,col,west,south,east,north,value,standard_error"
    assert len(lines) == 17
    assert sum(float(line.split(",")[6]) for line in lines[1:]) == pytest.approx(1)


def test_it_writes_a_table_of_squares(city, tmp_path):
    run(city, "--resolution", "4", "--output", tmp_path / "map.csv")
    lines = (tmp_path / "map.csv").read_text().splitlines()
    assert lines[0] == "row,col,cells,west,south,east,north,value,standard_error"
    assert sum(float(line.split(",")[7]) for line in lines[1:]) == pytest.approx(1)


@pytest.mark.parametrize("suffix", [".png", ".html", ".tif", ".geojson"])
def test_it_writes_files_to_look_at_and_for_maps(city, tmp_path, suffix):
    output = tmp_path / f"map{suffix}"
    out, _ = run(city, "--resolution", "16", "--output", output)
    assert f"{output.name} and map.json" in out
    starts = {".png": b"\x89PNG", ".html": b"<!doctype html>", ".tif": b"II*\x00", ".geojson": b"{"}
    assert output.read_bytes().startswith(starts[suffix])
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert sheet["title"] == "Private heatmap: Sparse reconstruction"
    assert sheet["values"] == exports.FORMATS[suffix].values


def test_it_names_the_resolution_where_a_file_would_be_too_large(city, tmp_path):
    fine = ["--resolution", "8192", "--output"]
    message = refusal(city, *fine, tmp_path / "map.tif")
    assert "resolution is 8192, allowed: at most 4096 for a GeoTIFF" in message
    run(city, *fine, tmp_path / "map.geojson")
    assert json.loads((tmp_path / "map.geojson").read_text())["features"]


def test_it_says_in_plain_words_what_it_did(city, tmp_path):
    out, _ = run(city, "--output", tmp_path / "map.npy", "--expected-persons", "400")
    assert "presence ε = 2" in out
    assert "No database was used and no ledger was charged" in out
    assert "Predicted error: " in out
    assert "map.npy and map.json" in out
    assert "nowhere" in run(city)[0]


def test_it_passes_parameters_to_the_mechanism(city, tmp_path):
    run(city, "--parameter", "width=3", "--parameter", "decay=0.9", "--output", tmp_path / "map.npy")
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert sheet["parameters"] == {"width": 3, "decay": "0.9"}


def test_it_knows_both_relations(city, tmp_path):
    arguments = ["--relation", "replace", "--radius-m", "500", "--output", tmp_path / "map.npy", "--json"]
    out, _ = run(city, *arguments)
    assert json.loads(out)["guarantee"]["relation"] == "replace"
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert (sheet["relation"], sheet["radius_m"], sheet["radius_epsilon"]) == ("replace", "500", "2")


class Recorder:
    """Stands in for a mechanism and keeps the masses."""

    resolution, unit, masses = 4, 2**10, None

    def release(self, masses, rng):
        self.masses = masses


def test_it_lets_each_person_weigh_one_over_all_files_and_only_inside_the_box(tmp_path):
    for name, rows in {
        "a": ["x,30.9,-98.2", "x,30.9,-98.2", "y,0,0"],
        "b": ["x,29.9,-97.4", "z,31.0,-97.3"],
    }.items():
        (tmp_path / name).write_text("user,lat,lon\n" + "\n".join(rows))
    recorder = Recorder()
    drawn = offline.draw(
        [tmp_path / "a", tmp_path / "b"], Region.parse(BOX), recorder, None, max_rejected_share=Fraction(0)
    )
    cells = morton_encode([0, 3, 3], [3, 0, 3], 2).tolist()
    found = dict(zip(recorder.masses.cells.tolist(), recorder.masses.masses.tolist(), strict=True))
    assert found == dict(zip(cells, [2**10 * 2 // 3, 2**10 // 3, 2**10], strict=True))
    assert set(drawn.seconds) == {"read", "aggregate", "release"}


@pytest.mark.parametrize("part", [None, Rectangle(5, 7, LINES // 3, LINES // 2)])
def test_bins_of_time_share_what_a_person_weighs(tmp_path, part):
    rng, region, unit = random.Random(part is None), Region.parse(BOX), 2**20
    key = RowKey(level=3, rectangle=part, bins=TimeBins(start=7, width=3600, count=24))
    rows, records = [], defaultdict(Counter)
    for _ in range(400):
        user, lat, lon = f"u{rng.randrange(9)}", rng.uniform(29, 32), rng.uniform(-99, -97)
        second = rng.choice([None, rng.randrange(10**8)])
        rows.append(f"{user},{'' if second is None else moment_text(second)},{lat!r},{lon!r}")
        if region.contains([lat], [lon])[0] and second is not None:
            _, cells = key.of_cells(region.morton([lat], [lon]))
            if cells.size:
                records[user][(second - 7) // 3600 % 24, int(cells[0])] += 1
    path = tmp_path / "times.csv"
    path.write_text("user,time,lat,lon\n" + "\n".join(rows))

    points = read_points([path], region=region, max_rejected_share=Fraction(0), with_times=True)
    found = offline.masses_of_points(points, region, key, unit=unit)

    expected = Counter()
    for record in records.values():
        shares = {pair: unit * count // record.total() for pair, count in record.items()}
        assert unit - len(shares) < sum(shares.values()) <= unit
        expected.update(shares)
    assert len(found) == 24
    assert {
        (number, cell): mass
        for number, of_bin in enumerate(found)
        for cell, mass in zip(of_bin.cells.tolist(), of_bin.masses.tolist(), strict=True)
    } == expected
    untimed = read_points([path], region=region, max_rejected_share=Fraction(0))
    with pytest.raises(ValueError, match="bins need times"):
        offline.masses_of_points(untimed, region, key, unit=unit)


def test_it_reports_the_few_rows_it_leaves_out(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("user,lat,lon\n" + "a,30,-98\n" * 200 + "b,91,-98\n")
    _, err = run(path, "--json")
    assert "rows left out, no check-ins: 1; the first: some.csv, line 202: lat is outside -90..90" in err


def test_it_reads_every_format(tmp_path):
    for name, write in FORMATS.items():
        path = tmp_path / "checkins"
        path.write_bytes(write([("a", "", "30", "-98"), ("b", "", "91", "-98")]))
        assert "1 of 2 rows are invalid, more than the 1 % that may be left out" in refusal(path), name


def test_it_reads_files_as_it_is_told(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("uid,latitude,lon\n" + "a,30,-98\n" * 9 + "b,91,-98\n")
    assert "found uid, latitude, lon" in refusal(path)
    said = ["--columns", "user=uid,lat=latitude", "--max-rejected", "10"]
    _, err = run(path, *said)
    assert "rows left out, no check-ins: 1" in err
    assert "--max-rejected" in refusal(path, "--max-rejected", "ten")


def test_it_releases_a_map_of_nobody(tmp_path):
    path = tmp_path / "away.csv"
    path.write_text("user,lat,lon\na,10,10\n")
    out, _ = run(path, "--output", tmp_path / "map.npy", "--json")
    assert json.loads(out)["sum"] == pytest.approx(1)


# --- what is wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        ("0", "epsilon is 0,"),
        ("-1", "epsilon is -1,"),
        ("nan", "epsilon is nan,"),
        ("1e400", "epsilon is 1e400,"),
        ("inf", "epsilon is inf,"),
        ("21", "of at most 20"),
        ("1e-30", "at least"),
        ("", "epsilon is "),
        ("１", "epsilon is "),
    ],
)
def test_it_refuses_an_epsilon_that_is_none(city, epsilon, words):
    message = refusal(city, epsilon=epsilon)
    assert words in message
    assert "decimal number" in message or "at least" in message


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ("-97.3,29.8,-98.3,31.0", "antimeridian"),
        ("-98.3,31.0,-97.3,29.8", "above south"),
        ("170,-20,-170,-10", "split into one box on each side"),
        ("nan,29.8,-97.3,31.0", "four decimal numbers"),
        ("-98.3,29.8,-97.3", "four decimal numbers"),
        ("-98.3,29.8,-97.3,91", "north is 91"),
        ("-1e400,29.8,-97.3,31.0", "west is -inf"),
    ],
)
def test_it_refuses_a_box_that_is_none(city, box, words):
    assert words in refusal(city, box=box)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--resolution", "100"], "resolution is 100, allowed: a power of two"),
        (["--resolution", "1e9"], "a power of two"),
        (["--resolution", "2.5"], "whole number"),
        (["--resolution", "abc"], "resolution is abc,"),
        (["--parameter", "width"], "NAME=VALUE"),
        (["--parameter", "width=3", "--parameter", "width=4"], "each name once"),
        (["--parameter", "size=3"], "no such parameter of sparse-emd, which has width, decay"),
        (["--parameter", "width=0"], "width is 0,"),
        (["--delta", "2"], "delta is 2,"),
        (["--delta", "nan"], "delta is nan,"),
        (["--radius-m", "600"], "nothing unless --relation replace"),
        (["--relation", "replace", "--radius-m", "0"], "--radius-m is 0,"),
        (["--expected-persons", "0"], "--expected-persons is 0,"),
        (["--relation", "moved"], "invalid choice: 'moved'"),
        (
            ["--output", "map.tiff"],
            "output is .tiff, allowed: .png, .html, .tif, .geojson, .csv, .cells.csv, .npy",
        ),
        (["--output", "map"], "output is 'without a suffix'"),
    ],
)
def test_it_refuses_parameters_by_name(city, arguments, words):
    assert words in refusal(city, *arguments)


def test_it_names_the_option_that_a_mechanism_needs(city):
    assert "--expected-persons is missing, allowed: " in refusal(city, mechanism="adaptive")


def test_it_names_the_mechanisms_there_are(city):
    message = refusal(city, mechanism="magic")
    assert "sparse-emd" in message
    assert "laplace" in message


def test_it_refuses_a_mechanism_under_a_relation_it_does_not_have(city, monkeypatch):
    from dataclasses import replace

    from mechanisms.catalogue import registry
    from mechanisms.guarantee import Relation

    metric = replace(registry.get("sparse-emd"), relations=frozenset([Relation.REPLACE]))
    monkeypatch.setattr(registry, "_ENTRIES", (metric,))
    assert "relation is add_remove, allowed: replace" in refusal(city)


def noise(size):
    return random.Random(4).randbytes(size)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"user,time,lat,lon\n1,,nan,2\n", "1 of 1 rows are invalid"),
        (b"user,time,lat,lon\n1,,91,2\n", "line 2: lat is outside -90..90"),
        (b"id,when,latitude,longitude\n1,,1,2\n", "found id, when, latitude, longitude"),
        (b"\x89PNG\r\n\x1a\n" + noise(5000), "not text"),
        (b"", "the file is empty"),
        (b"user,lat,lon\n", "no check-ins"),
        (b"user,lat,lon\n" + noise(5_000_000).hex().encode(), "line 2 is longer than 65536 characters"),
        (
            gzip.compress(b"user,lat,lon,note\n" + (b"7,1,2," + b"x" * 900 + b"\n") * 40_000),
            "unpacks to far more",
        ),
        (gzip.compress(b"user,lat,lon\n7,1,2\n")[:-9], "ends too early"),
    ],
    ids=["nan", "91", "header", "binary", "empty", "no rows", "long line", "bomb", "truncated"],
)
def test_it_refuses_bad_files_and_writes_nothing(tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    message = refusal(path, "--output", tmp_path / "map.npy")
    assert words in message
    assert "bad.csv" in message
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


def test_it_ends_with_one_line_and_a_failing_status(tmp_path):
    arguments = [
        "heatmap", "missing.csv", "--bbox", BOX, "--mechanism", "sparse-emd", "--epsilon", "1",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"HAZEMAP_STATE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "CommandError: missing.csv: No such file or directory\n"


@pytest.mark.skipif(DATA is None, reason="needs HAZEMAP_TEST_DATA, the folder with real check-ins")
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from Linux's /proc")
def test_it_maps_a_city_of_real_check_ins_within_600_megabytes(tmp_path):
    output = tmp_path / "austin.npy"
    arguments = [
        "heatmap", f"{DATA}/gowalla_u5628.csv.gz", "--bbox", BOX, "--mechanism", "sparse-emd",
        "--epsilon", "1", "--output", str(output), "--json",
    ]  # fmt: skip
    program = (
        "import pathlib, runpy, sys\n"
        f"sys.argv = ['manage.py', *{arguments!r}]\n"
        "runpy.run_path('manage.py', run_name='__main__')\n"
        "heavy = {'ot', 'folium', 'scipy.stats'} & set(sys.modules)\n"
        # Not getrusage: its peak goes back to before exec, to the process of the tests.
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0], *heavy)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"HAZEMAP_STATE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    printed, last = done.stdout.splitlines()
    peak_kb, *heavy = last.split()
    assert int(peak_kb) < 600 * 1024
    assert heavy == []
    dense = np.load(output)
    region = Region.parse(BOX)
    row = int((region.north - 30.27) / (region.north - region.south) * 256)
    col = int((-97.74 - region.west) / (region.east - region.west) * 256)
    assert dense[row - 16 : row + 16, col - 16 : col + 16].sum() > 0.4  # downtown Austin and around
    assert json.loads(printed)["sum"] == pytest.approx(1)
