"""No database that goes back draws again: each way of going back, with the record kept, copied and gone."""

import shutil

import pytest

from tests.services.installation import Installation

QUEUED = 3
HALF = 10**12 // 2


def _going_back(installation, act, *arguments):
    return installation.script("going_back", act, *arguments)


@pytest.fixture
def queued(migrated_sqlite, tmp_path):
    """An installation with releases in the queue, none of them drawn."""
    made = migrated_sqlite.copied_to(tmp_path / "state")
    made.script("killing", "queue", QUEUED, "city")
    return made


def copied(installation, folder, record):
    """A copy of the state folder; its record: kept where it is, copied along, or gone."""
    shutil.copytree(installation.folder, folder)
    return with_record(Installation(folder=folder), installation, record)


def restored(installation, archive, folder, record):
    folder.mkdir(mode=0o700)
    other = with_record(Installation(folder=folder), installation, record)
    assert "On hold" in other.manage("restore", archive).stdout
    return other


def with_record(other, installation, record):
    original = installation.folder.with_name(f"{installation.folder.name}-record")
    if record == "kept":
        other.record = original
    elif record == "copied along":
        shutil.copytree(original, other.folder.with_name(f"{other.folder.name}-record"))
    return other


def drawn_twice(*reports):
    drawn = [release for report in reports for release in report["drawn"]]
    return {release for release in drawn if drawn.count(release) > 1}


WAYS = [
    pytest.param(way, record, stopped, marks=() if (record, stopped) == ("kept", True) else pytest.mark.long)
    for way in ("command", "folder")
    for record in ("kept", "copied along", "gone")
    for stopped in (True, False)
]


@pytest.mark.parametrize(("way", "record", "stopped"), WAYS)
def test_nothing_is_drawn_a_second_time(queued, tmp_path, way, record, stopped):
    if way == "command":
        queued.manage("backup", tmp_path / "backup.tgz")
    else:
        shutil.copytree(queued.folder, tmp_path / "earlier")
    before = _going_back(queued, "draw", "city") if stopped else None
    if way == "command":
        other = restored(queued, tmp_path / "backup.tgz", tmp_path / "other", record)
    else:
        other = copied(Installation(folder=tmp_path / "earlier"), tmp_path / "other", "kept")
        other = with_record(Installation(folder=other.folder), queued, record)
    after = _going_back(other, "draw", "city")
    before = before or _going_back(queued, "draw", "city")
    assert (before["states"], before["cause"]) == (["published"] * QUEUED, None)
    assert not drawn_twice(before, after)
    assert (after["drawn"], after["committed"], after["problem"]) == ([], QUEUED * HALF, "")
    assert after["cause"] is not None


def test_what_was_drawn_since_is_charged_as_the_record_says(queued, tmp_path):
    queued.manage("createdemo", "--empty")
    queued.manage("backup", tmp_path / "backup.tgz")
    queued.script("going_back", "ask", "city", "0.25")
    queued.script("going_back", "ask", "city", "0.125")
    assert _going_back(queued, "draw", "city")["states"] == ["published"] * (QUEUED + 2)
    other = restored(queued, tmp_path / "backup.tgz", tmp_path / "other", "kept")
    words = other.manage("resume", "--reason", "the disk broke", "--other-copy", "stopped").stdout
    assert "charged: what the record says" in words
    assert "/sign-in/new-password/" in words
    after = _going_back(other, "draw", "city")
    assert (after["states"], after["cause"], after["problem"]) == (["failed"] * QUEUED, None, "")
    assert after["committed"] == QUEUED * HALF + HALF // 2 + HALF // 4


def test_all_that_was_left_is_charged_where_nobody_knows(queued, tmp_path):
    queued.manage("createdemo", "--empty")
    queued.manage("backup", tmp_path / "backup.tgz")
    other = restored(queued, tmp_path / "backup.tgz", tmp_path / "other", "gone")
    words = other.manage("resume", "--reason", "the machine burnt", "--other-copy", "stopped").stdout
    assert "charged: all that was left" in words
    assert _going_back(other, "report", "city")["committed"] == 10 * 2 * HALF


@pytest.mark.long
def test_a_thousand_kills_while_electing_hold_nothing_and_draw_nothing_twice(queued):
    told = _going_back(queued, "kill", 100)
    assert told["cause"] is None
    assert {tuple(outcome) for outcome in told["outcomes"][::2]} == {(True, False, "failed", False)}
    assert {tuple(outcome) for outcome in told["outcomes"][1::2]} == {(True, False, "running", True)}
