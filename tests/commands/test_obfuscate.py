"""`manage.py obfuscate`: rows in, blurred rows out, and a readable line for everything that is wrong."""

import csv
import gzip
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from heatmaps.blurring import rows as blurring
from heatmaps.ingest.formats import reader
from mechanisms.catalogue import local
from mechanisms.guarantee import Guarantee, Trust
from mechanisms.space.grid import Region

BOX = "-98.3,29.8,-97.3,31.0"
REGION = Region.parse(BOX)
FILE = """user,time,lat,lon
anna,2012-04-07T17:42:00Z,30.2,-97.7
"bo,b",,30.25,-97.75
anna,2012-04-08T01:02:03+02:00,30.21,-97.71
carl,,10,10
"""
FIXED = {
    "--bbox": BOX,
    "--mechanism": "planar-geometric",
    "--epsilon": "0.5",
    "--radius-m": "600",
    "--max-reports": "2",
}


@pytest.fixture
def checkins(tmp_path):
    path = tmp_path / "checkins.csv"
    path.write_text(FILE)
    return path


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out.csv"


def run(source, output, *more, **changed):
    """(stdout, stderr) of the command."""
    out, err = io.StringIO(), io.StringIO()
    given = FIXED | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    options = [f"{name}={value}" for name, value in given.items()]
    call_command("obfuscate", str(source), *options, "--output", str(output), *more, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refusal(source, output, *more, **changed):
    """The error's one line; nothing was left behind."""
    before = sorted(output.parent.iterdir()) if output.parent.is_dir() else None
    with pytest.raises(CommandError) as caught:
        run(source, output, *more, **changed)
    assert "\n" not in str(caught.value)
    assert (sorted(output.parent.iterdir()) if output.parent.is_dir() else None) == before
    return str(caught.value)


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize("mechanism", [entry.name for entry in local.entries()])
def test_it_blurs_each_place_and_leaves_the_rest(checkins, output, mechanism):
    said, warned = run(checkins, output, mechanism=mechanism)
    header, *rows = rows_of(output)
    assert header == ["user", "time", "lat", "lon"]
    assert [row[:2] for row in rows] == [
        ["anna", "2012-04-07T17:42:00Z"],
        ["bo,b", ""],
        ["anna", "2012-04-07T23:02:03Z"],
        ["carl", ""],
    ]
    assert all(REGION.contains(float(lat), float(lon)) for *_, lat, lon in rows)
    assert "rows outside the bbox, counted at its border: 1" in warned
    assert "Not protected: user (who), time (when), the order of the rows and the number of rows." in said
    assert f"Written: {output}." in said


def test_it_states_the_loss_of_a_report_and_of_a_person(checkins, output):
    said, _ = run(checkins, output, max_reports="8")
    assert "One report: any place within 600 m of the true one could have" in said
    assert "(ε = 0.5, δ = 0)" in said
    assert "A person with 8 reports: any other places, each within 600 m of the true one," in said
    assert "(ε = 4, δ = 0)" in said
    assert "That is a weak promise." in said  # of places anywhere in the region
    assert "No mechanism can do better than this with no more loss a metre" in said


def test_json_has_the_guarantee_exactly(checkins, output):
    printed, _ = run(checkins, output, "--json", max_reports="3")
    found = json.loads(printed)
    person = Guarantee.from_json(found["guarantee"])
    one = Guarantee.from_json(found["per_report"])
    assert (person.trust, found["max_reports"]) == (Trust.LOCAL, 3)
    assert person.loss(600) == 3 * one.loss(600)
    assert Fraction(99, 200) < one.loss(600) <= Fraction(1, 2)
    assert found["unprotected"] == ["user", "time", "order of the rows", "number of rows"]
    assert found["output"] == str(output)
    assert 0 < found["expected_error"]["expected_m"] < found["expected_error"]["within_m"]
    assert 0 < found["least_error"]["mean_m"] < found["expected_error"]["expected_m"]


def test_reports_are_as_far_off_as_the_error_says(tmp_path, output):
    # The mean of 4,000 distances has a standard error below 1.5 % of itself; places away from the border.
    source = tmp_path / "crowd.csv.gz"
    rows = "".join(f"{person},,30.4,-97.8\n" for person in range(4000))
    source.write_bytes(gzip.compress(("user,time,lat,lon\n" + rows).encode()))
    printed, _ = run(source, output, "--json", epsilon="1", max_reports="1", cell_m="600")
    found = json.loads(printed)
    lat, lon = np.array([row[2:] for row in rows_of(output)[1:]], dtype=float).T
    x, y = REGION.to_metres(np.concatenate((lat, [30.4])), np.concatenate((lon, [-97.8])))
    distances = np.hypot(x[:-1] - x[-1], y[:-1] - y[-1])
    assert distances.mean() == pytest.approx(found["expected_error"]["expected_m"], rel=0.1)


def test_it_streams_batch_by_batch(tmp_path, output, monkeypatch):
    real = reader.read_checkins
    sizes = []

    def small(stream, **options):
        for batch in real(stream, batch_rows=10, **options):
            sizes.append(len(batch.users))
            yield batch

    monkeypatch.setattr(reader, "read_checkins", small)
    source = tmp_path / "many.csv"
    source.write_text("user,lat,lon\n" + "".join(f"p{row % 7},30.5,-97.9\n" for row in range(95)))
    run(source, output, max_reports="14")
    assert [row[0] for row in rows_of(output)[1:]] == [f"p{row % 7}" for row in range(95)]
    assert max(sizes) == 10
    assert len(sizes) == 20  # read twice


def test_another_run_draws_anew(tmp_path, output):
    source = tmp_path / "one.csv"
    source.write_text("user,lat,lon\n" + "a,30.5,-97.9\n" * 20)
    run(source, output, max_reports="20")
    first = output.read_text()
    run(source, output, max_reports="20")
    assert output.read_text() != first


def test_a_person_with_more_rows_is_refused_before_anything_is_written(checkins, output):
    line = refusal(checkins, output, max_reports="1")
    assert line.startswith("--max-reports is 1, allowed: at least 2,")


def test_a_name_in_two_forms_of_unicode_is_one_person_whose_rows_are_counted(tmp_path, output):
    source = tmp_path / "two-forms.csv"
    names = "Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"
    source.write_text("user,time,lat,lon\n" + "".join(f"{name},,30.2,-97.7\n" for name in names))
    line = refusal(source, output, max_reports="1")
    assert line.startswith("--max-reports is 1, allowed: at least 2,")
    run(source, output, max_reports="1", further_rows="leave-out")
    with output.open(newline="") as file:
        assert [row["user"] for row in csv.DictReader(file)] == [names[0]]


def test_further_rows_are_left_out_when_that_is_asked_for(checkins, output):
    said, warned = run(checkins, output, max_reports="1", further_rows="leave-out")
    assert [row[0] for row in rows_of(output)[1:]] == ["anna", "bo,b", "carl"]
    assert "rows left out, beyond --max-reports: 1" in warned
    assert "A person with 1 report:" in said


def test_a_file_that_grows_between_its_two_readings_is_not_written(checkins, output, monkeypatch):
    check = blurring.Blur.check

    def growing(self, path):
        tally = check(self, path)
        path.write_text(FILE + "anna,,30.2,-97.7\n")
        return tally

    monkeypatch.setattr(blurring.Blur, "check", growing)
    assert "changed while it was read" in refusal(checkins, output)


def test_rows_that_are_no_checkins_are_told(tmp_path, output):
    source = tmp_path / "bad.csv"
    source.write_text(FILE + "dora,,95,0\n")
    assert "1 of 5 rows are invalid" in refusal(source, output)
    _, warned = run(source, output, max_rejected="20")
    assert "rows left out, no check-ins: 1; the first: line 6: lat is outside -90..90" in warned
    assert len(rows_of(output)) == 5


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"bbox": "1,2,3"}, "bbox is 1,2,3, allowed: four decimal numbers"),
        ({"mechanism": "laplace"}, "mechanism is laplace, allowed: planar-geometric, planar-laplace,"),
        ({"epsilon": "0"}, "epsilon is 0, allowed: a decimal number above 0 and of at most 20"),
        ({"epsilon": "21"}, "epsilon is 21, allowed:"),
        ({"epsilon": "1e-9"}, "epsilon is"),
        ({"radius_m": "0"}, "--radius-m is 0, allowed:"),
        ({"radius_m": "1.5"}, "--radius-m is 1.5, allowed: a whole number"),
        ({"max_reports": "0"}, "--max-reports is 0, allowed:"),
        ({"max_reports": "many"}, "--max-reports is many, allowed:"),
        ({"cell_m": "-1"}, "--cell-m is -1, allowed:"),
        ({"cell_m": "1"}, "--cell-m is 1, allowed: at least"),
        ({"cell_m": "50"}, "--cell-m is 50, allowed: at least"),
        ({"mechanism": "optimal", "cell_m": "5000"}, "--cell-m is 5000, allowed: at least"),
        ({"further_rows": "drop"}, "--further-rows is drop, allowed: refuse or leave-out"),
        ({"prior": "map.npy"}, "prior is map.npy, allowed: nothing unless the mechanism is optimal"),
        ({"mechanism": "optimal", "prior": "none.npy"}, "prior is none.npy, allowed: an NPY file"),
        ({"columns": "user=nobody"}, "there is no column nobody for user"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(checkins, output, changed, line):
    assert line in refusal(checkins, output, **changed)


def test_wrong_files_are_refused(checkins, tmp_path):
    before = checkins.read_text()
    assert "output is" in refusal(checkins, checkins)
    assert "ends in .csv" in refusal(checkins, tmp_path / "out.txt")
    assert "a folder that exists" in refusal(checkins, tmp_path / "nowhere" / "out.csv")
    assert "No such file" in refusal(tmp_path / "none.csv", tmp_path / "out.csv")
    assert checkins.read_text() == before


def test_a_public_map_is_a_prior(checkins, output, tmp_path):
    # Everybody is expected in the north-western corner of the bbox: of 8 x 8 squares, row 0 is north.
    prior = np.zeros((8, 8))
    prior[0, 0] = 1
    np.save(tmp_path / "map.npy", prior)
    options = {"mechanism": "optimal", "epsilon": "1e-4", "prior": tmp_path / "map.npy"}
    printed, _ = run(checkins, output, "--json", **options)
    west, _, _, north = REGION
    for _, _, lat, lon in rows_of(output)[1:]:
        assert north - float(lat) < 1.2 / 4
        assert float(lon) - west < 1 / 3
    assert json.loads(printed)["expected_error"]["expected_m"] < 100


@pytest.mark.parametrize("values", [np.zeros((4, 4)), np.ones(4), -np.ones((4, 4)), np.full((4, 4), np.nan)])
def test_a_prior_that_is_no_map_is_refused(checkins, output, tmp_path, values):
    np.save(tmp_path / "map.npy", values)
    line = refusal(checkins, output, mechanism="optimal", prior=tmp_path / "map.npy")
    assert "allowed: an NPY file of a map of the bbox" in line


def test_a_prior_is_no_pickle(checkins, output, tmp_path):
    np.save(tmp_path / "map.npy", np.array([[{}]]), allow_pickle=True)
    assert "prior is" in refusal(checkins, output, mechanism="optimal", prior=tmp_path / "map.npy")
    (tmp_path / "map.npy").write_bytes(b"")
    assert "prior is" in refusal(checkins, output, mechanism="optimal", prior=tmp_path / "map.npy")
