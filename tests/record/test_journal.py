"""A journal holds what was appended, whatever the disk does, and knows when it was changed by others."""

import errno
import os
import shutil
from io import FileIO

import pytest

from heatmaps.record.journal import opened
from heatmaps.record.place import RecordError

LINE = {"kind": "boot", "boot": "a start"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "record" / "elections"


def kinds(path):
    with opened(path) as journal:
        return [line["kind"] for line in journal.lines()]


def test_a_disk_that_takes_a_part_of_a_line_is_given_the_rest(path, monkeypatch):
    write = FileIO.write
    with opened(path) as journal:
        monkeypatch.setattr(journal, "_file", _Slow(journal._file, write))
        journal.append(LINE, LINE)
        assert journal.entries.place is None  # nothing was spoilt
    assert kinds(path) == ["boot", "boot"]


def test_a_disk_that_is_full_keeps_nothing_of_a_line(path):
    with opened(path) as journal:
        file, journal._file = journal._file, _Slow(journal._file, FileIO.write, room=5)
        with pytest.raises(RecordError, match="the disk is full"):
            journal.append(LINE)
        journal._file = file
        journal.append(LINE)
        assert journal.entries.place is None
    assert kinds(path) == ["boot"]


def test_a_record_that_lost_lines_under_a_process_is_spoilt(path):
    with opened(path) as journal:
        journal.append({"kind": "place", "id": "1"}, LINE)
    older = path.read_bytes()
    with opened(path) as journal:
        journal.append(LINE)
    path.write_bytes(older)  # in place
    with opened(path) as journal:
        assert journal.entries.place == {}


def test_another_record_in_the_place_of_the_first_is_read_from_its_beginning(path):
    with opened(path) as journal:
        journal.append({"kind": "place", "id": "1"})
    shutil.copy(path, path.with_name("before"))
    path.write_text('{"kind":"place","id":"2"}\n{"kind":"boot","boot":"other"}\n')  # the same file number
    with opened(path) as journal:
        assert (journal.entries.place["id"], journal.entries.boot) == ("2", "other")


class _Slow:
    """A file that takes three bytes at a time, and `room` bytes in all."""

    def __init__(self, file, write, room=10**6):
        self._own, self._write, self._room = file, write, room

    def write(self, content):
        if not self._room:
            raise OSError(errno.ENOSPC, "the disk is full")
        taken = self._write(self._own, bytes(content)[: min(3, self._room)])
        self._room -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self._own, name)


def test_a_folder_that_cannot_be_used_is_named_to_the_operator_alone(path, caplog):
    path.parent.write_text("no folder")
    with pytest.raises(RecordError, match="HAZEMAP_RECORD_DIR") as refusal, opened(path):
        pass
    assert str(path.parent) not in str(refusal.value)
    assert str(path.parent) in caplog.text


@pytest.mark.parametrize("at", ["file", "folder"])
def test_a_link_that_another_service_planted_leads_to_no_file_of_this_one(path, tmp_path, at):
    key = tmp_path / "web-keys" / "elections"
    key.parent.mkdir()
    key.write_text("a key")
    path.parent.parent.mkdir(exist_ok=True)
    if at == "file":
        path.parent.mkdir()
        path.symlink_to(key)
    else:
        path.parent.symlink_to(key.parent)
    with pytest.raises(RecordError), opened(path) as journal:
        journal.append(LINE)
    assert key.read_text() == "a key"


def test_a_pipe_in_its_place_holds_nobody_up(path):
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(RecordError), opened(path):
        pass
