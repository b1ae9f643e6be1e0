"""Promises in metres by commands: what distances are between, and regions that are too wide for them."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from mechanisms.catalogue import local, registry
from tests.metres import AS_READ, TOO_WIDE

REPLACE = ["--relation", "replace", "--persons", "2", "--resolution", "16"]
BOXES = ["--bbox=-141,41.7,-52.6,83.1", "--bbox=-100,-1,80,1"]


@pytest.fixture
def checkins(tmp_path):
    path = tmp_path / "checkins.csv"
    path.write_text("user,time,lat,lon\nanna,,45,-80\nbo,,0.5,-170\n")
    return path


def run(command, *arguments):
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


def asked(name, **options):
    return [f"--mechanism={name}", "--epsilon=1", "--radius-m=50000", *options]


@pytest.mark.parametrize("box", BOXES)
def test_regions_too_wide_for_metres_are_refused_before_anything_is_read(tmp_path, box):
    missing, output = tmp_path / "missing.csv", tmp_path / "out.csv"
    for entry in registry.entries(kind="centroid"):
        with pytest.raises(CommandError, match=TOO_WIDE):
            run("centroid", missing, box, "--persons=2", *asked(entry.name))
    for entry in local.entries():
        with pytest.raises(CommandError, match=TOO_WIDE):
            run("obfuscate", missing, box, "--max-reports=2", f"--output={output}", *asked(entry.name))
    with pytest.raises(CommandError, match=TOO_WIDE):
        run("heatmap", missing, box, *REPLACE, *asked("emd-itemwise"))
    assert not list(tmp_path.iterdir())


def test_flat_mechanisms_take_such_regions(checkins):
    assert "privacy" not in run("heatmap", checkins, BOXES[0], "--mechanism=laplace", "--epsilon=1")
    protocol = ["--epsilons=1", "--persons=1", "--trials=1", "--resolution=4"]
    assert "laplace" in run("evaluate", checkins, BOXES[0], "--mechanisms=laplace", *protocol)
    with pytest.raises(CommandError, match="mechanism is emd-itemwise"):
        run("evaluate", checkins, BOXES[0], "--mechanisms=emd-itemwise", *protocol)


def test_calibrate_takes_no_square_that_is_too_wide():
    asked_for = ["emd-linear", "--n=100", "--epsilon=1", "--radius=100000", "--json"]
    assert json.loads(run("calibrate", *asked_for, "--domain=10000000"))["parameters"]["persons"] == 100
    with pytest.raises(CommandError, match="domain is 20000000"):
        run("calibrate", *asked_for, "--domain=20000000")


def test_they_say_what_distances_are_between(checkins, tmp_path):
    box = "--bbox=-81,44,-79,46"
    assert AS_READ in run("centroid", checkins, box, *asked("emd-linear"))
    assert AS_READ in run("heatmap", checkins, box, *REPLACE, *asked("emd-itemwise"))
    output = f"--output={tmp_path / 'out.csv'}"
    assert AS_READ in run("obfuscate", checkins, box, "--max-reports=2", output, *asked("planar-geometric"))
    assert AS_READ in run("plan", "--protect=1/30,1000,0.2")
