"""Files of a released map, and the sheet that goes with them."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from django.utils.module_loading import import_string

from heatmaps.exports import FORMATS, Released, format_of, release_sheet
from heatmaps.exports.sheet import exact_text
from mechanisms.check import ParameterError
from mechanisms.error_bounds import WITHIN_ERRORS
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, morton_encode
from tests.exports import examples
from tests.mechanisms.examples import crowd, make, true_dense

REGION = Region(-98.3, 29.8, -97.3, 31.0)


def heatmap(level=3, regions=((1, 0, 4.0, 1.0), (3, 63, 2.0, np.nan), (2, 15 - 4, 2.0, 0.5))):
    """Regions as (level, prefix, value, standard error)."""
    levels, prefixes, values, errors = zip(*regions, strict=True) if regions else ((), (), (), ())
    return Heatmap(
        level=level,
        levels=np.array(levels, np.uint8),
        prefixes=np.array(prefixes, np.int64),
        values=np.array(values, np.float64),
        standard_errors=np.array(errors, np.float64),
    )


def written(suffix, value):
    stream = io.BytesIO()
    format_of(suffix).write(Released(result=value, region=REGION, sheet={}), stream)
    return stream.getvalue()


def table(value):
    return list(csv.DictReader(io.StringIO(written(".cells.csv", value).decode(), newline="")))


def test_it_writes_an_array_with_the_north_on_top():
    dense = np.load(io.BytesIO(written(".npy", heatmap())), allow_pickle=False)
    assert dense.dtype == np.float64
    assert dense.shape == (8, 8)
    assert dense.sum() == pytest.approx(1)
    assert dense[4:, :4] == pytest.approx(np.full((4, 4), 4 / 8 / 16))  # south-west quarter
    assert dense[0, 7] == 2 / 8  # north-east corner


def test_it_writes_a_table_with_the_same_values():
    rows = table(heatmap())
    assert list(rows[0]) == ["row", "col", "west", "south", "east", "north", "value", "standard_error"]
    assert [(int(row["row"]), int(row["col"])) for row in rows] == [
        (r, c) for r in range(8) for c in range(8)
    ]
    values = np.array([float(row["value"]) for row in rows]).reshape(8, 8)
    assert (values == heatmap().dense()).all()


def test_it_gives_each_cell_its_bounds_in_degrees():
    rows = table(heatmap())
    first, last = rows[0], rows[-1]
    assert (float(first["west"]), float(first["north"])) == (REGION.west, REGION.north)
    assert (float(last["east"]), float(last["south"])) == (REGION.east, REGION.south)
    for row in rows:
        x, y = int(row["col"]), 7 - int(row["row"])
        bounds = [float(bound) for bound in REGION.cell_bounds(3, morton_encode(x, y, 3))]
        assert bounds == [float(row[side]) for side in ("west", "south", "east", "north")]


def test_it_states_errors_of_single_cells_alone():
    """In a square of 16 cells nobody knows where its mass is."""
    made = replace(
        heatmap(regions=((1, 0, 4.0, 1.0), (3, 63, 2.0, np.nan), (3, 47, 2.0, 0.5))),
        total=6.0,
        total_error=0.5,
        cut_error=0.25,
    )
    cells = {(int(row["row"]), int(row["col"])): row["standard_error"] for row in table(made)}
    assert {cells[row, column] for row in range(4, 8) for column in range(4)} == {""}
    assert cells[0, 7] == ""  # nan: not stated
    # 2 of 8 released; the truth is 0.94 to 3.06 of 4.94 to 7.06 persons.
    reach = WITHIN_ERRORS * 0.5
    assert float(cells[0, 3]) == pytest.approx(((2 + reach) / (6 - reach) - 2 / 8) / WITHIN_ERRORS)
    assert float(cells[0, 0]) == pytest.approx(0.25 / (6 - reach))  # cut to 0


@pytest.mark.parametrize("total", [(np.nan, np.nan), (1.0, 0.6)])
def test_it_states_no_errors_of_shares_of_an_unknown_sum(total):
    made = replace(heatmap(regions=((3, 47, 2.0, 0.5),)), total=total[0], total_error=total[1])
    assert {row["standard_error"] for row in table(made)} == {""}


@pytest.mark.parametrize(("name", "epsilon"), [("laplace", 4), ("adaptive", 4)])
def test_it_states_errors_that_hold(name, epsilon):
    """In cells with at least two persons, of 25 in a crowd of 400; five maps."""
    mechanism = make(name, epsilon=epsilon, resolution=16, expected_persons=400)
    held, stated = 0, 0
    for seed in range(5):
        masses = crowd(mechanism, cells=25, persons=400, seed=seed)
        truth = true_dense(masses)
        for row in table(mechanism.release(masses, SeededSource(seed))):
            share = truth[int(row["row"]), int(row["col"])]
            if row["standard_error"] and share > 2 / 400:
                stated += 1
                held += abs(float(row["value"]) - share) <= WITHIN_ERRORS * float(row["standard_error"])
    assert stated > 50
    assert held / stated > 0.93


@pytest.mark.parametrize("regions", [(), ((1, 2, 0.0, 1.0),)])
def test_it_writes_a_map_without_mass_as_uniform(regions):
    rows = table(heatmap(regions=regions))
    assert {row["value"] for row in rows} == {repr(1 / 64)}
    assert {row["standard_error"] for row in rows} == {""}


@pytest.mark.parametrize("suffix", [".npy", ".cells.csv", ".tif"])
def test_it_refuses_grids_too_large_for_dense_files(suffix):
    stream, large = io.BytesIO(), heatmap(level=13, regions=())
    with pytest.raises(ParameterError, match="4096") as caught:
        format_of(suffix).write(Released(result=large, region=REGION, sheet={}), stream)
    assert caught.value.parameter == "resolution"
    assert not stream.getvalue()


@pytest.mark.parametrize("suffix", [".tiff", ".json", ".exe", ".xlsx", ""])
def test_it_names_the_formats_there_are(suffix):
    with pytest.raises(
        ParameterError, match=r"\.png, \.html, \.tif, \.geojson, \.csv, \.cells\.csv, \.npy"
    ) as caught:
        format_of(suffix)
    assert caught.value.parameter == "output"


def test_it_knows_a_suffix_in_capitals():
    assert format_of(".CSV") is FORMATS[".csv"]


# --- the sheet -----------------------------------------------------------------------------------------


def sheet(**changes):
    values = {
        "title": "Check-ins of a city",
        "result": heatmap(),
        "mechanism": "sparse-emd",
        "parameters": {"width": 20, "decay": Fraction(1, 3)},
        "guarantee": Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction("0.1")),
        "region": REGION,
        "released": date(2026, 11, 20),
        "statements": ["A person is there or not."],
        "values": "shares",
    }
    return release_sheet(**(values | changes))


def test_it_states_what_is_promised_and_how_it_was_made():
    result = json.loads(json.dumps(sheet()))
    assert result["kind"] == "hazemap release sheet"
    assert (result["epsilon"], result["delta"]) == ("0.1", "0")
    assert (result["relation"], result["trust"]) == ("add_remove", "central")
    assert (result["mechanism"], result["parameters"]) == ("sparse-emd", {"decay": "1/3", "width": 20})
    assert result["region"] == {"west": -98.3, "south": 29.8, "east": -97.3, "north": 31.0}
    assert (result["resolution"], result["released"]) == (8, "2026-11-20")
    assert result["cell_m"] == pytest.approx([REGION.width_m / 8, REGION.height_m / 8])
    assert Guarantee.from_json(result["guarantee"]).loss(INFINITY) == Fraction(1, 10)
    assert result["map_sha256"] == heatmap().sha256
    assert result["statements"] == ["A person is there or not."]
    for key in ("unit_of_privacy", "composition", "post_processing", "unprotected", "values"):
        assert result[key]


def test_it_states_the_radius_and_that_the_number_enrolled_is_public():
    metric = Guarantee(
        relation=Relation.REPLACE, terms=(Term(cap=Fraction(4), alpha_per_m=Fraction(1, 1000)),)
    )
    result = sheet(guarantee=metric, radius_m=600)
    assert (result["epsilon"], result["radius_m"], result["radius_epsilon"]) == ("4", "600", "0.6")
    assert "the number of people enrolled" in result["unprotected"]
    assert "the number of people enrolled" not in sheet()["unprotected"]


def test_it_states_what_time_and_load_tell():
    """Slots hide how long a draw took, but not from who feels the machine's load."""
    stated = " ".join(sheet()["unprotected"])
    for topic in ("latency", "operator", "versions", "files"):
        assert topic in stated, topic


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(20), "20"),
        (Fraction(1, 10), "0.1"),
        (Fraction(5, 4), "1.25"),
        (Fraction(1, 10**6), "0.000001"),
        (Fraction(1, 3), "1/3"),
        (INFINITY, "inf"),
    ],
)
def test_it_writes_exact_numbers(value, text):
    assert exact_text(value) == text


def test_it_loads_map_and_raster_libraries_only_for_files_that_need_them():
    program = (
        "import os, sys, django\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
        "django.setup()\n"
        "import heatmaps.management.commands.heatmap\n"
        "print(*sorted({'rasterio', 'PIL', 'folium'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("suffix", list(FORMATS))
def test_it_makes_the_same_file_of_the_same_release(suffix):
    """Nothing but the release goes into a file: no clock, no random name, nothing of this computer."""
    assert examples.written(suffix, examples.make_released()) == examples.written(
        suffix, examples.make_released()
    )


@pytest.mark.parametrize("known", FORMATS.values(), ids=list(FORMATS))
def test_every_format_names_its_writer_and_what_its_numbers_mean(known):
    assert callable(import_string(known.writer))
    assert known.values
    assert known.content_type
