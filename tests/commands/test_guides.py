"""`--guide`: a public GeoTIFF steers `adaptive`, and what nobody can check is said."""

import hashlib
import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from rasterio.io import MemoryFile

from heatmaps.exports.sheet_words import headline
from heatmaps.guides import raster as rasters
from heatmaps.guides.raster import RasterGuide, guide_from_raster
from heatmaps.guides.raster_child import guide_of
from heatmaps.guides.release_sheets import NOT_FROM_THESE_PEOPLE, SHEET_IS_RIGHT
from heatmaps.management.commands import heatmap
from heatmaps.wording.unchecked_files import UNCHECKED
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.evaluation.protocol import Trial
from mechanisms.guarantee import INFINITY, Guarantee
from mechanisms.space.grid import Region
from tests.guides.rasters import CITY, raster

BOX = ",".join(map(str, CITY))


@pytest.fixture
def city(tmp_path):
    """40 persons, four check-ins each."""
    rng = np.random.default_rng(8)
    lat, lon = rng.uniform(30.0, 30.9, 160), rng.uniform(-98.2, -97.4, 160)
    rows = [f"{number % 40},{lat[number]:.5f},{lon[number]:.5f}" for number in range(160)]
    (tmp_path / "city.csv").write_text("\n".join(["user,lat,lon", *rows]))
    return tmp_path / "city.csv"


@pytest.fixture
def public(tmp_path):
    path = tmp_path / "public.tif"
    path.write_bytes(raster(np.random.default_rng(1).random((64, 64))))
    return path


def run(command, *arguments):
    """(stdout, stderr) of the command."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), "--bbox", BOX, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def drawn(city, guide, *more, mechanism="adaptive", epsilon=5):
    arguments = ["--mechanism", mechanism, "--epsilon", epsilon, "--expected-persons", 40, "--resolution", 64]
    return run("heatmap", city, *arguments, "--guide", guide, *more)


def compared(city, *more, mechanisms="adaptive,sparse-emd", epsilons="1,5"):
    arguments = ["--persons", 40, "--trials", 2, "--resolution", 32]
    return run("evaluate", city, *arguments, "--mechanisms", mechanisms, "--epsilons", epsilons, *more)


def refusal(do, *arguments, **options):
    with pytest.raises(CommandError) as caught:
        do(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- heatmap -------------------------------------------------------------------------------------------


def test_a_map_says_by_which_file_it_was_guided_and_that_nobody_can_check_it(city, public, tmp_path):
    out, err = drawn(city, public, "--output", tmp_path / "map.npy", "--json")
    said = {
        "file_sha256": hashlib.sha256(public.read_bytes()).hexdigest(),
        "sha256": guide_from_raster(public, CITY).sha256,
        "unchecked": UNCHECKED,
        "conditions": [NOT_FROM_THESE_PEOPLE],
    }
    sheet = json.loads((tmp_path / "map.json").read_text())
    assert json.loads(out)["guide"] == sheet["guide"] == said
    assert UNCHECKED in err.splitlines()
    assert sheet["statements"][-1] == UNCHECKED
    assert "nothing is promised" in UNCHECKED


def test_a_file_of_the_map_carries_the_guide(city, public, tmp_path):
    drawn(city, public, "--output", tmp_path / "map.tif")
    with MemoryFile((tmp_path / "map.tif").read_bytes()) as file, file.open() as opened:
        tags = opened.tags()
    assert json.loads(tags["guide"])["sha256"] == guide_from_raster(public, CITY).sha256
    assert UNCHECKED in json.loads(tags["statements"])


@pytest.fixture
def guides_read_here(monkeypatch):
    """Files are read in this process: a child takes seconds on a busy machine."""

    def read(path, region):
        content = path.read_bytes()
        guide, sheet = guide_of(content, region)
        return RasterGuide(guide=guide, file_sha256=hashlib.sha256(content).hexdigest(), sheet=sheet)

    monkeypatch.setattr(rasters, "read", read)


def total(out):
    """The presence ε that a command states as JSON."""
    return Guarantee.from_json(json.loads(out)["guarantee"]).loss(INFINITY)


def test_a_map_that_starts_from_one_of_the_same_file_states_what_both_cost(city, tmp_path):
    """Read in a child, as the product does; the first by another mechanism."""
    first, second = tmp_path / "first.tif", tmp_path / "second.tif"
    plain = ["--mechanism", "laplace", "--epsilon", 1, "--resolution", 64]
    run("heatmap", city, *plain, "--output", first)
    out, err = drawn(city, first, "--output", second, "--json", epsilon=3)
    assert total(out) == 4
    assert Guarantee.from_json(json.loads(out)["guarantee_alone"]).loss(INFINITY) == 3
    assert "this map and those it started from could show by a factor of at most 54.60" in err
    assert "ε = 3 is what this map adds" in err
    assert UNCHECKED not in err
    assert "if it is wrong, nothing is promised" in err
    sheet = json.loads(second.with_suffix(".json").read_text())
    assert (sheet["epsilon"], sheet["together"]["epsilon"]) == ("3", "4")
    assert headline(sheet) == (
        "ε = 4 (presence), δ = 0, with the maps it started from, "
        "if the release sheet in the file behind it is right"
    )
    assert json.loads(out)["guide"] == sheet["guide"]


def test_the_sum_goes_from_file_to_file(guides_read_here, city, public, tmp_path):
    """So does what nobody can check of the first."""
    first, second = tmp_path / "first.tif", tmp_path / "second.tif"
    drawn(city, public, "--output", first, epsilon=5)
    drawn(city, first, "--output", second, epsilon=4)
    out, err = drawn(city, second, "--json", epsilon=3)
    assert total(out) == 12
    assert json.loads(out)["guide"]["conditions"] == [SHEET_IS_RIGHT, NOT_FROM_THESE_PEOPLE]
    assert "That map goes back to another file: if it was made from these people, nothing is promised" in err


def test_a_map_under_another_relation_is_no_guide(guides_read_here, city, tmp_path):
    """What both cost together has no number."""
    replaced = ["--mechanism", "laplace", "--epsilon", 1, "--relation", "replace", "--resolution", 64]
    run("heatmap", city, *replaced, "--output", tmp_path / "map.tif")
    told = refusal(drawn, city, tmp_path / "map.tif", "--output", tmp_path / "next.npy")
    assert "a Hazemap map under replace', allowed: one under add_remove" in told
    assert not (tmp_path / "next.npy").exists()


def test_a_map_without_a_guide_says_nothing_of_one(city, tmp_path):
    options = ["--mechanism", "adaptive", "--epsilon", 5, "--expected-persons", 40, "--json"]
    out, err = run("heatmap", city, *options, "--output", tmp_path / "map.npy")
    assert "guide" not in json.loads(out) | json.loads((tmp_path / "map.json").read_text())
    assert UNCHECKED not in err


@pytest.mark.parametrize("box", [BOX, "-98.05,29.8,-97.55,30.4"])
def test_draw_and_prediction_are_of_the_guided_mechanism(city, public, monkeypatch, box):
    met, draw, predict = {}, heatmap.draw, Adaptive.expected_error

    def drawing(paths, region, mechanism, *more, **named):
        met["drawn"] = mechanism.guide
        return draw(paths, region, mechanism, *more, **named)

    def predicting(mechanism, *, persons):
        met["predicted"] = mechanism.guide
        return predict(mechanism, persons=persons)

    monkeypatch.setattr(heatmap, "draw", drawing)
    monkeypatch.setattr(Adaptive, "expected_error", predicting)
    out, _ = drawn(city, public, *([] if box == BOX else ["--rectangle", box]))
    assert met["drawn"] == met["predicted"] == guide_from_raster(public, Region.parse(box))
    assert "Predicted error: " in out


def test_it_refuses_a_guide_where_none_is_taken(city, public, tmp_path):
    assert "none: sparse-emd uses no guide" in refusal(drawn, city, public, mechanism="sparse-emd")
    assert "people times epsilon are 100 to 1000" in refusal(drawn, city, public, epsilon=1)
    assert "guide is away.tif, allowed: the path" in refusal(drawn, city, "away.tif")
    public.write_text("<VRTDataset/>")
    assert "a GeoTIFF of at most 64 MiB" in refusal(drawn, city, public, "--output", tmp_path / "map.npy")
    assert not (tmp_path / "map.npy").exists()


def test_a_map_does_not_take_the_place_of_its_guide(city, public):
    before = public.read_bytes()
    assert "nor one of the files that are read" in refusal(drawn, city, public, "--output", public)
    assert public.read_bytes() == before


# --- evaluate ------------------------------------------------------------------------------------------


def test_rows_say_whether_they_were_guided(city, public, monkeypatch):
    met, released = {}, Trial.released

    def releasing(trial, mechanism):
        met[mechanism.name, float(mechanism.epsilon)] = getattr(mechanism, "guide", None)
        return released(trial, mechanism)

    monkeypatch.setattr(Trial, "released", releasing)
    rows = json.loads(compared(city, "--guide", public, "--json")[0])["rows"]
    guided = {(row["mechanism"], row["epsilon"]): row["guided"] for row in rows}
    assert [name for name, has in guided.items() if has] == [("adaptive", 5.0)]
    assert met["adaptive", 5.0] == guide_from_raster(public, CITY)
    assert {name for name, guide in met.items() if guide is None} == {
        n for n, has in guided.items() if not has
    }


def test_a_table_names_the_guided_rows_and_the_file(city, public):
    last = compared(city, "--guide", public)[0].splitlines()[-1]
    assert last.startswith("Guided: adaptive at ε = 5. ")
    assert hashlib.sha256(public.read_bytes()).hexdigest() in last
    assert "Guided" not in compared(city, epsilons="5")[0]


def test_it_refuses_a_guide_that_nothing_would_use(city, public):
    words = "nothing unless adaptive is compared where people times epsilon are 100 to 1000"
    assert words in refusal(compared, city, "--guide", public, mechanisms="sparse-emd")
    assert words in refusal(compared, city, "--guide", public, epsilons="1")


def test_a_guide_is_of_one_place(city, public):
    arguments = ["--cells", "1", "--mechanisms", "adaptive", "--epsilons", "5", "--guide", str(public)]
    with pytest.raises(CommandError, match="nothing with --cells: a guide is a map of one place, --bbox"):
        call_command("evaluate", str(city), *arguments)
