"""Parts of the data: one spelling for the same part, refusals by name, and what questions make of them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from heatmaps import data_slice, queries
from heatmaps.data_slice import DataSlice
from heatmaps.ledger.errors import IdempotencyConflict
from heatmaps.ledger.verification import verify
from heatmaps.models import CheckIn, Release
from heatmaps.releases import lifecycle
from heatmaps.releases.question import data_slice_of, latest_version
from heatmaps.releases.request import Plan
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from mechanisms.space.subregion import LINES, Rectangle
from tests.services.draws import carry_out
from tests.triggers import disabled

ONE = 10**12
REGION = Region(2.1, 41.0, 3.1, 42.0)
NEW_YEAR = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())


def committed(dataset, kind="presence"):
    return dataset.accounts.get(kind=kind).committed


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01",
        "2026-01-01T00:00",
        "2026-01-01 00:00:00",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T01:00:00+01:00",
        "2025-12-31T19:30-04:30",
    ],
)
def test_a_moment_has_one_value_however_it_is_spelled(text):
    assert data_slice.moment("since", text) == NEW_YEAR


@pytest.mark.parametrize("text", ["0001-01-01", "0999-05-05T01:02:03Z", "1969-12-31T23:59:59Z", "9999-12-31"])
def test_a_moment_is_shown_as_it_is_read(text):
    seconds = data_slice.moment("until", text)
    shown = data_slice.moment_text(seconds)
    assert shown.startswith(text[:10])
    assert len(shown) == len("2026-01-01T00:00:00Z")
    assert data_slice.moment("until", shown) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "today", "2026-02-30", "2026-1-1", "01.01.2026", "2026-01-01T25:00", "2026-01-01T00:00:00.5Z",
     5, True, "2026-01-01\n", "٢٠٢٦-01-01", "0001-01-01T00:00:00+10:00", "9999-12-31T23:00:00-10:00",
     "2026-01-01T00:00+99:99", "2026-01-01" + "0" * 90],
)  # fmt: skip
def test_it_refuses_what_is_no_moment_by_name(text):
    with pytest.raises(ParameterError) as caught:
        data_slice.moment("until", text)
    assert caught.value.parameter == "until"
    assert "UTC" in caught.value.allowed


@pytest.mark.parametrize(
    ("since", "until"),
    [("2026-01-02", "2026-01-02"), ("2026-01-02", "2026-01-01"), ("2026-01-01", "2026-01-01T01:00+01:00")],
)  # fmt: skip
def test_a_period_ends_after_it_begins(since, until):
    with pytest.raises(ParameterError, match="after since") as caught:
        DataSlice.parse(REGION, since=since, until=until)
    assert caught.value.parameter == "data_slice.until"


@pytest.mark.parametrize(
    "rectangle",
    [["2.1", "41", "3.1", "42"], [2.1, 41.0, 3.1, 42.0], ["2.10", "4.1e1", "3.1000", "42."],
     (2.1, 41, 3.1, 42), [2.1, 41.0, 3.1 - 1e-12, 42.0]],
)  # fmt: skip
def test_the_whole_region_is_no_part_however_it_is_spelled(rectangle):
    assert DataSlice.parse(REGION, rectangle=rectangle) == data_slice.WHOLE


def test_a_part_is_the_nearest_grid_lines():
    asked = DataSlice.parse(Region(0, 0, 1, 1), rectangle=["0.25", "0.5", 1, 1.0])
    assert asked.edges == [LINES // 4, LINES // 2, LINES, LINES]
    assert DataSlice.parse(Region(0, 0, 1, 1), rectangle=[0.25 + 1e-11, 0.5, 1, 1]) == asked
    assert asked.region(Region(0, 0, 1, 1)) == Region(0.25, 0.5, 1.0, 1.0)
    assert DataSlice.stored(None, None, asked.edges) == asked


@pytest.mark.parametrize(
    ("rectangle", "name"),
    [
        ("2.1,41,3.1,42", "data_slice.rectangle"),
        ([2.2, 41.2, 3], "data_slice.rectangle"),
        (5, "data_slice.rectangle"),
        ([2.0, 41.2, 3, 41.5], "data_slice.rectangle.west"),
        ([2.2, 40.9, 3, 41.5], "data_slice.rectangle.south"),
        ([2.2, 41.2, 3.2, 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.2, 3, 42.0001], "data_slice.rectangle.north"),
        ([2.2, 41.2, 2.2, 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.5, 3, 41.2], "data_slice.rectangle.north"),
        ([2.2, 41.2, 2.20009, 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.2, 3, float("nan")], "data_slice.rectangle.north"),
        ([2.2, 41.2, float("inf"), 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.2, "x", 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.2, "", 41.5], "data_slice.rectangle.east"),
        ([2.2, 41.2, 10**400, 41.5], "data_slice.rectangle.east"),
        ([2.2, None, 3, 41.5], "data_slice.rectangle.south"),
        ([True, 41.2, 3, 41.5], "data_slice.rectangle.west"),
    ],
)
def test_it_refuses_what_is_no_part_by_name(rectangle, name):
    with pytest.raises(ParameterError) as caught:
        DataSlice.parse(REGION, rectangle=rectangle)
    assert caught.value.parameter == name
    assert caught.value.allowed


def test_a_part_holds_as_many_lines_as_its_map_has_cells():
    world = Region(-180, -90, 180, 90)
    small = [10.0, 10.0, 10.0002, 10.0002]  # 1,193 lines wide
    assert DataSlice.parse(world, rectangle=small, resolution=1024).rectangle.shorter_side >= 1024
    with pytest.raises(ParameterError, match="at most 1024") as caught:
        DataSlice.parse(world, rectangle=small, resolution=2048)
    assert caught.value.parameter == "resolution"


def test_questions_are_what_they_always_were(dataset, ask):
    """Hashes of questions of old, without a slice and with one: stored releases stay free."""
    version = latest_version(dataset)
    version.dataset_id, version.number = 7, 3
    assert Plan.of(dataset, ask(mechanism="laplace")).question(version) == (
        "a806c37a40a196e88e9d299219f6773d3aa731df5a8afda7ed74f6156cfb7439"
    )
    sliced = ask(mechanism="laplace", since="2026-01-01", rectangle=[0.5, 0.5, 1, 1])
    assert Plan.of(dataset, sliced).question(version) == (
        "b112938f08f929e79e98cf1c82bdb3034fc0e0989edd0a3fff7b77fc6b52822e"
    )


def test_equal_parts_are_equal_questions(dataset, ask):
    version = latest_version(dataset)

    def question(**changes):
        return Plan.of(dataset, ask(**changes)).question(version)

    plain = {question(), question(rectangle=[0, 0, 1, 1]), question(rectangle=["0", "0", "1", "1.0"])}
    period = {
        question(since="2026-01-01", until="2026-02-01"),
        question(since="2026-01-01T00:00:00Z", until="2026-02-01T01:00:00+01:00"),
    }
    part = {question(rectangle=[0.25, 0.25, 0.5, 0.5]), question(rectangle=[".25", "25e-2", "0.50", 0.5])}
    assert [len(plain), len(period), len(part)] == [1, 1, 1]
    others = {
        question(since="2026-01-01"),
        question(until="2026-02-01"),
        question(since="2026-01-01", until="2026-02-01T00:00:01Z"),
        question(rectangle=[0.25, 0.25, 0.5, 0.75]),
        question(rectangle=[0.25, 0.25, 0.5, 0.5], since="2026-01-01"),
    }
    assert len(plain | period | part | others) == 8


def test_a_part_is_asked_answered_and_bound_in_the_ledger(dataset, analyst, ask):
    with disabled():
        CheckIn.objects.update(time=NEW_YEAR)
    asked = ask(since="2026-01-01", until="2027-01-01", rectangle=[0.25, 0.25, 0.75, 0.5])
    release = lifecycle.request_release(analyst, dataset, asked)
    event = dataset.events.get(kind="reserve")
    assert f'"since":{NEW_YEAR}' in event.after
    assert f'"within":"{LINES // 4},{LINES // 4},{3 * LINES // 4},{LINES // 2}"' in event.after
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"
    assert queries.released_region(release) == Region(0.25, 0.25, 0.75, 0.5)
    assert committed(dataset) == ONE // 2  # in full, however small the part
    assert verify(dataset).ok
    again = replace(asked, since="2026-01-01T02:00:00+02:00", rectangle=("0.25", "0.250", "0.75", "0.5"))
    assert lifecycle.quote(dataset, again).same_release == release
    assert lifecycle.request_release(analyst, dataset, again) == release
    assert committed(dataset) == ONE // 2


@pytest.mark.unguarded
@pytest.mark.parametrize(
    "column", [{"since": 5}, {"until": None}, {"rectangle": [0, 0, 5, 5]}, {"rectangle": None}]
)
def test_a_changed_part_is_found_in_the_ledger(dataset, analyst, ask, column):
    asked = ask(since="2026-01-01", until="2027-01-01", rectangle=[0.25, 0.25, 0.75, 0.5])
    release = lifecycle.request_release(analyst, dataset, asked)
    Release.objects.filter(pk=release.pk).update(**column)
    assert "question was changed" in verify(dataset).problem


@pytest.mark.parametrize(
    "changes",
    [{}, {"since": "2026-01-02"}, {"since": "2026-01-01", "until": "2026-03-01"},
     {"since": "2026-01-01", "rectangle": [0, 0, 0.5, 0.5]}],
)  # fmt: skip
def test_it_refuses_the_same_key_with_another_part(dataset, analyst, ask, changes):
    first = lifecycle.request_release(analyst, dataset, ask(since="2026-01-01"), idempotency_key="k")
    same = ask(since="2026-01-01T00:00Z", rectangle=[0, 0, 1, 1])
    assert lifecycle.request_release(analyst, dataset, same, idempotency_key="k") == first
    with pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, dataset, ask(**changes), idempotency_key="k")
    assert committed(dataset) == ONE // 2


def test_parts_do_not_compose_in_parallel(dataset, analyst, ask):
    for changes in ({"rectangle": [0, 0, 0.5, 1]}, {"rectangle": [0.5, 0, 1, 1]}, {"until": "2020-01-01"}):
        lifecycle.request_release(analyst, dataset, ask(**changes))
    assert committed(dataset) == 3 * ONE // 2


@pytest.mark.parametrize("relation", list(Relation))
def test_parts_without_any_data_have_maps_too(make_dataset, add_checkins, analyst, ask, relation):
    dataset = make_dataset("part", relation)
    add_checkins(dataset)
    parts = [{"since": "2200-01-01"}, {"until": "0001-01-02"}, {"rectangle": [0.1, 0.1, 0.1002, 0.1002]}]
    for changes in parts:
        for mechanism in ("sparse-emd", "laplace"):
            asked = ask(mechanism=mechanism, epsilon="0.2", **changes)
            release = lifecycle.request_release(analyst, dataset, asked)
            carry_out(release.pk)
            release.refresh_from_db()
            assert release.state == "published"


def test_a_quote_of_a_part_says_what_its_predicted_error_takes_for_granted(dataset, ask):
    plain, part = lifecycle.quote(dataset, ask()), lifecycle.quote(dataset, ask(since="2026-01-01"))
    assert part.expected_error.emd == plain.expected_error.emd
    assert "with fewer" in part.expected_error.assumptions
    assert "with fewer" not in plain.expected_error.assumptions
    assert part.data_slice == DataSlice(since=NEW_YEAR)


def test_a_part_reads_its_own_masses(dataset, analyst, ask):
    part = Rectangle(0, 0, LINES // 2, LINES)
    release = lifecycle.request_release(analyst, dataset, ask(rectangle=[0, 0, 0.5, 1], until="2026-01-01"))
    release.refresh_from_db()
    assert data_slice_of(release) == DataSlice(until=NEW_YEAR, rectangle=part)
