"""The public rule of data versions: which moments it names."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from heatmaps.ingest.versions.schedule import Schedule
from mechanisms.check import ParameterError


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


DAILY = Schedule(every="daily", hour=3)
WEEKLY = Schedule(every="weekly", hour=0, weekday="monday")
MONTHLY = Schedule(every="monthly", hour=23, day=28)


@pytest.mark.parametrize(
    ("schedule", "moment", "last", "following"),
    [
        (DAILY, "2026-11-20T02:59:59", "2026-11-19T03:00", "2026-11-20T03:00"),
        (DAILY, "2026-11-20T03:00:00", "2026-11-20T03:00", "2026-11-21T03:00"),
        (DAILY, "2026-12-31T03:00:01", "2026-12-31T03:00", "2027-01-01T03:00"),
        (WEEKLY, "2026-11-20T12:00:00", "2026-11-16T00:00", "2026-11-23T00:00"),
        (WEEKLY, "2026-11-23T00:00:00", "2026-11-23T00:00", "2026-11-30T00:00"),
        (MONTHLY, "2026-03-01T00:00:00", "2026-02-28T23:00", "2026-03-28T23:00"),
        (MONTHLY, "2026-01-28T22:59:59", "2025-12-28T23:00", "2026-01-28T23:00"),
    ],
)
def test_it_names_the_last_and_the_next_moment(schedule, moment, last, following):
    assert schedule.last_until(at(moment)) == at(last)
    assert schedule.next_after(at(moment)) == at(following)


def test_it_means_utc_wherever_the_moment_was_written():
    madrid = timezone(timedelta(hours=2))
    assert DAILY.next_after(datetime(2026, 7, 1, 4, 30, tzinfo=madrid)) == at("2026-07-01T03:00")


@pytest.mark.parametrize("schedule", [DAILY, WEEKLY, MONTHLY])
def test_its_text_says_all_of_it(schedule):
    assert Schedule.parse(schedule.text) == schedule


def test_it_has_words():
    words = [schedule.words for schedule in (DAILY, WEEKLY, MONTHLY)]
    assert words[:2] == ["every day at 03:00 UTC", "every Monday at 00:00 UTC"]
    assert words[2] == "on day 28 of every month at 23:00 UTC"
    assert Schedule.parse("") is None


@pytest.mark.parametrize(
    ("field", "facts"),
    [
        ("every", {"every": "hourly", "hour": 3}),
        ("hour", {"every": "daily", "hour": 24}),
        ("hour", {"every": "daily", "hour": True}),
        ("weekday", {"every": "weekly", "hour": 3}),
        ("weekday", {"every": "daily", "hour": 3, "weekday": "monday"}),
        ("day", {"every": "monthly", "hour": 3}),
        ("day", {"every": "monthly", "hour": 3, "day": 29}),
        ("day", {"every": "weekly", "hour": 3, "weekday": "monday", "day": 1}),
    ],
)
def test_it_refuses_other_rules(field, facts):
    with pytest.raises(ParameterError) as caught:
        Schedule(**facts)
    assert caught.value.parameter == f"schedule.{field}"
