"""What was released, feature by feature, as the GeoJSON file has it."""

import json

import numpy as np
import pytest

from heatmaps.exports import features
from heatmaps.exports.features import Features
from tests.exports.examples import make_released, written

MANY = {(6, x, y): (1.0 + x, 1.0) for x in range(64) for y in range(64)}


@pytest.fixture
def opened(tmp_path):
    def make(released):
        path = tmp_path / "features"
        with path.open("wb") as stream:
            features.write_lines(released, stream)
        return Features.of(path.open("rb"))

    return make


def told(released):
    return json.loads(written(".geojson", released))["features"]


@pytest.mark.parametrize("released", [make_released(), make_released(MANY, level=6), make_released({})])
def test_each_feature_is_that_of_the_file_with_its_number(opened, released, monkeypatch):
    monkeypatch.setattr("heatmaps.exports.geojson.AT_ONCE", 1_000)  # in several parts
    found = opened(released)
    read = [json.loads(line) for line in found.read(found.within(None))]
    assert read == [one | {"id": number} for number, one in enumerate(told(released), start=1)]
    assert found.count == len(read)


def test_a_box_finds_what_touches_it(opened):
    released = make_released()  # from -40 to -38 degrees east, 20 to 23 north
    found, boxes = opened(released), []
    for feature in told(released):
        ring = np.array(feature["geometry"]["coordinates"][0])
        boxes.append((*ring.min(axis=0), *ring.max(axis=0)))
    for west, south, east, north in [
        (-40, 20, -39.5, 20.1),
        (-38.1, 22, -38, 23),
        (-38, 23, 0, 30),
        (0, 0, 1, 1),
    ]:
        wanted = [
            at
            for at, (w, s, e, n) in enumerate(boxes)
            if w <= east and e >= west and s <= north and n >= south
        ]
        assert found.within((west, south, east, north)).tolist() == wanted
    around = found.within((170.0, -90.0, -39.8, 90.0)).tolist()  # over the date line
    assert around == [at for at, (w, *_) in enumerate(boxes) if w <= -39.8]
    assert 0 < len(around) < len(boxes)


def test_reading_a_page_reads_no_other_line(opened):
    """The cost of a page is that of what it holds, whatever the release has."""
    found = opened(make_released(MANY, level=6))
    stream, asked = found._stream, []

    class Counted:
        seek = stream.seek

        def read(self, size=-1):
            asked.append(size)
            return stream.read(size)

    object.__setattr__(found, "_stream", Counted())
    assert len(found.read(np.arange(100, 110))) == 10
    assert len(asked) == 20  # where each begins and ends, and the line
    assert sum(asked) < 10 * 400
