"""`manage.py heatmap --since --until --rectangle`: a part of what the files hold, meant as on a server."""

import json

import numpy as np
import pytest

from tests.commands.test_heatmap import refusal, run

BOX = "-2,40,2,44"


@pytest.fixture
def town(tmp_path):
    """100 persons: January south-west, February north-east, without a time south-east."""
    path = tmp_path / "town.csv"
    rows = "".join(
        f"{person},2026-01-15T12:00:00Z,40.5,-1.5\n{person},2026-02-15,43.5,1.5\n{person},,40.5,1.5\n"
        for person in range(100)
    )
    path.write_text("user,time,lat,lon\n" + rows)
    return path


@pytest.fixture
def drawn(town, tmp_path):
    """The map of 2 × 2 cells, north first, to about 1/100, and its sheet."""

    def draw(*arguments):
        output = tmp_path / "map.npy"
        given = ["--resolution", "2", "--output", output, *arguments]
        out, _ = run(town, *given, "--json", mechanism="laplace", epsilon="20", box=BOX)
        assert set(json.loads(out)) == {"guarantee", "seconds", "output", "sum"}
        return np.load(output), json.loads((tmp_path / "map.json").read_text())

    return draw


def test_it_keeps_to_the_period(drawn):
    everything, sheet = drawn()
    np.testing.assert_allclose(everything, [[0, 1 / 3], [1 / 3, 1 / 3]], atol=0.05)
    assert sheet["period"] is None
    january, sheet = drawn("--since", "2026-01-01", "--until", "2026-02-01T01:00:00+01:00")
    np.testing.assert_allclose(january, [[0, 0], [1, 0]], atol=0.05)
    assert sheet["period"] == {"since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    timed, _ = drawn("--since", "2000-01-01")
    np.testing.assert_allclose(timed, [[0, 1 / 2], [1 / 2, 0]], atol=0.05)


def test_it_keeps_to_the_rectangle_and_maps_it(drawn):
    south_west, sheet = drawn("--rectangle", "-2, 40, -1, 41")
    np.testing.assert_allclose(south_west, [[0, 1], [0, 0]], atol=0.05)  # in the middle: the next cell's edge
    assert sheet["region"] == {"west": -2.0, "south": 40.0, "east": -1.0, "north": 41.0}
    assert sheet["part_of_region"] == {"west": -2.0, "south": 40.0, "east": 2.0, "north": 44.0}
    south, _ = drawn("--rectangle=-2,40,2,42", "--until", "2026-02-01")
    np.testing.assert_allclose(south, [[0, 0], [1, 0]], atol=0.05)


def test_it_draws_a_part_without_check_ins_too(drawn):
    empty, _ = drawn("--since", "2030-01-01")
    assert empty.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--since", "January"], "since is January, allowed: a date such as"),
        (["--until", "2026-13-01"], "until is 2026-13-01, allowed: a date such as"),
        (
            ["--since", "2026-02-01", "--until", "2026-01-01"],
            "until is 2026-01-01, allowed: a moment after since",
        ),
        (["--rectangle", "1,2,3"], "rectangle is"),
        (
            ["--rectangle", "-3,40,1,41"],
            "rectangle.west is -3, allowed: a number of degrees inside the region: -2.0 to 2.0",
        ),
        (["--rectangle", "-1,40,-1,41"], "rectangle.east is -1.0, allowed: above west"),
    ],
)
def test_it_names_what_is_wrong(town, arguments, message):
    assert message in refusal(town, *arguments, box=BOX)
