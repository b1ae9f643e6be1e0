"""Maps on disk: in full or not at all, and nothing else overwritten."""

import json

import numpy as np
import pytest

from heatmaps.exports import Released, format_of, saving
from mechanisms.check import ParameterError
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region

REGION = Region(0, 0, 1, 1)
MAP = Heatmap(
    level=1,
    levels=np.array([1], np.uint8),
    prefixes=np.array([0]),
    values=np.array([2.0]),
    standard_errors=np.array([np.nan]),
)
SHEET = {"kind": "hazemap release sheet", "epsilon": "1"}
RELEASED = Released(result=MAP, region=REGION, sheet=SHEET)


def refused(path, **options):
    with pytest.raises(ParameterError) as caught:
        saving.check_target(path, **({"resolution": 2, "inputs": []} | options))
    return caught.value


def test_it_writes_the_map_and_its_sheet_beside_it(tmp_path):
    path = tmp_path / "map.npy"
    saving.save(path, RELEASED)
    assert np.load(path).tolist() == [[0, 0], [1, 0]]
    assert json.loads((tmp_path / "map.json").read_text()) == SHEET
    assert sorted(file.name for file in tmp_path.iterdir()) == ["map.json", "map.npy"]


def test_it_replaces_an_earlier_map_and_sheet(tmp_path):
    path = tmp_path / "map.npy"
    path.write_text("old")
    (tmp_path / "map.json").write_text(json.dumps(SHEET | {"epsilon": "2"}))
    assert saving.check_target(path, resolution=2, inputs=[]) is format_of(".npy")
    saving.save(path, RELEASED)
    assert json.loads((tmp_path / "map.json").read_text()) == SHEET


def test_it_leaves_everything_as_it_was_when_writing_fails(tmp_path, monkeypatch):
    def fail(released, stream):
        stream.write(b"half")
        raise OSError("disk full")

    path = tmp_path / "map.npy"
    path.write_text("old")
    monkeypatch.setattr(saving, "format_of", lambda suffix: type("Format", (), {"write": staticmethod(fail)}))
    with pytest.raises(OSError, match="disk full"):
        saving.save(path, RELEASED)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("map.npy", "old")]


@pytest.mark.parametrize("content", ["{}", "[1]", "no json", '{"kind": "something else"}'])
def test_it_does_not_overwrite_a_json_file_that_is_no_sheet(tmp_path, content):
    (tmp_path / "stops.json").write_text(content)
    error = refused(tmp_path / "stops.npy")
    assert error.parameter == "output"
    assert "stops.json" in str(error)


def test_it_does_not_overwrite_what_is_read(tmp_path):
    source = tmp_path / "checkins.csv"
    source.write_text("user,lat,lon\n")
    (tmp_path / "linked.csv").symlink_to(source)
    for name in ("checkins.csv", "linked.csv"):
        assert "files that are read" in str(refused(tmp_path / name, inputs=[source]))


def test_it_refuses_what_cannot_be_written_before_anything_is_drawn(tmp_path):
    (tmp_path / "folder.npy").mkdir()
    assert "folder" in str(refused(tmp_path / "folder.npy"))
    assert "folder that exists" in str(refused(tmp_path / "missing" / "map.npy"))
    (tmp_path / "file").touch()
    assert "folder that exists" in str(refused(tmp_path / "file" / "map.npy"))
    assert refused(tmp_path / "map.npy", resolution=8192).parameter == "resolution"
    for name in ("map.xlsx", "map", ".csv", ".png"):  # a name of one point alone has no suffix
        assert ".png, .html, .tif" in str(refused(tmp_path / name))
    assert list(tmp_path.glob("*.part")) == []
