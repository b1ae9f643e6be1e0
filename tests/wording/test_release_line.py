"""The line that tells two releases apart."""

import pytest

from heatmaps.data_slice import DataSlice
from heatmaps.models import Dataset, Release
from heatmaps.regions import region_of
from heatmaps.wording.data_slice import short_period
from heatmaps.wording.release_line import made_title, release_line

AUSTIN = Dataset(west=-98.2, south=29.8, east=-97.2, north=30.8)
ERROR = {"emd": 0.02, "quantity": "", "assumptions": ""}


def a_release(dataset=AUSTIN, mechanism="adaptive", rectangle=None, period=(None, None), **facts):
    asked = DataSlice.parse(region_of(dataset), since=period[0], until=period[1], rectangle=rectangle)
    facts = {"epsilon": 1, "resolution": 256, "expected_error": ERROR} | facts
    return Release(
        dataset=dataset,
        mechanism=mechanism,
        since=asked.since,
        until=asked.until,
        rectangle=asked.edges,
        **facts,
    )


def zones(**facts):
    error = {"share": 0.0123, "quantity": "", "assumptions": ""}
    return a_release(mechanism="emd-zones", resolution=None, expected_error=error, **facts)


def test_without_a_name_the_title_is_made_of_what_was_asked():
    january = ("2025-01-01", "2025-02-01")
    assert made_title(a_release()) == "Map, ε 1"
    assert made_title(zones(epsilon=0.5, period=january)) == "Map of zones, ε 0.5, January 2025"
    part = a_release(rectangle=[-97.8, 30.2, -97.7, 30.3], period=january)
    assert made_title(part) == "Map around Austin, ε 1, January 2025"
    assert release_line(part).place == "around Austin, 9.6 × 11 km"


def test_the_line_says_what_is_released_and_how_good_it_is():
    line = release_line(a_release())
    assert line.facts == ("Adaptive squares", "± 2.3 km")
    assert (line.period, line.place, line.content) == ("all times", "all of the region", "256 × 256 cells")
    line = release_line(zones())
    assert (line.content, line.error) == ("zones", "± 1.3 points")
    assert release_line(a_release(mechanism="exponential", resolution=None, expected_error=None)).error == ""


def test_a_name_is_for_members_until_it_is_public():
    release = a_release(name="Nights", note="After midnight.", period=("2025-01-01", "2026-01-01"))
    line = release_line(release, member=True)
    assert (line.title, line.note) == ("Nights", "After midnight.")
    assert line.facts == ("Adaptive squares", "ε 1", "2025", "± 2.3 km")
    line = release_line(release)
    assert (line.title, line.note) == ("Map, ε 1, 2025", "")
    release.is_name_public = True
    assert release_line(release).title == "Nights"


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        (None, None, ""),
        ("2025-01-01", "2025-02-01", "January 2025"),
        ("2024-11-01", "2025-03-01", "November 2024 to February 2025"),
        ("2025-04-01", "2025-07-01", "April to June 2025"),
        ("2024-01-01", "2026-01-01", "2024 to 2025"),
        ("2025-01-05", "2025-01-06", "2025-01-05"),
        ("2025-01-05", "2025-02-01", "2025-01-05 to 2025-01-31"),
        ("2025-01-05", None, "from 2025-01-05"),
        (None, "2025-01-05", "until 2025-01-04"),
        ("2025-01-05T18:00:00Z", "2025-01-05T20:00:00Z", "2025-01-05 18:00 to 2025-01-05 20:00"),
        (None, "0001-01-01", "until 1-01-01"),
    ],
)
def test_a_period_is_short(since, until, words):
    assert short_period(DataSlice.parse(region_of(AUSTIN), since=since, until=until)) == words
