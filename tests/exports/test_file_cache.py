"""Files that are kept: made once, as many as there is room for."""

import fcntl
import os
import time
from threading import Thread

import pytest

from heatmaps.children.turns import Busy
from heatmaps.exports import file_cache
from heatmaps.exports.file_cache import NotRendered


@pytest.fixture
def folder(settings, tmp_path):
    settings.RENDERED_DIR = tmp_path / "rendered"
    settings.RENDERED_BYTES = 164  # two of 50 bytes, sealed
    return settings.RENDERED_DIR


def keep(name, size=40):
    with file_cache.opened(name, lambda stream: stream.write(b"x" * size)) as stream:
        return stream.read()


def never(stream):
    raise AssertionError("the file was made again")


def names(folder):
    return sorted(path.name for path in folder.iterdir() if "." not in path.name)


def test_it_makes_a_file_once(folder):
    keep("a1")
    with file_cache.opened("a1", never) as stream:
        assert stream.read() == b"x" * 40
    assert file_cache.size_of("a1") == 40
    assert (folder / "a1").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_was_read_longest_ago_goes_first(folder):
    for age, name in ((30, "a1"), (20, "b2")):
        keep(name)
        os.utime(folder / name, (time.time() - age,) * 2)
    with file_cache.opened("a1", never):
        pass
    keep("c3")

    assert names(folder) == ["a1", "c3"]


def test_a_file_is_read_to_its_end_whatever_is_deleted(folder):
    with file_cache.opened("a1", lambda stream: stream.write(b"a" * 90)) as stream:
        keep("b2", 90)
        assert names(folder) == ["b2"]
        assert stream.read() == b"a" * 90


def test_requests_at_once_make_it_once(folder):
    made, read = [], []

    def make(stream):
        made.append(1)
        time.sleep(0.2)
        stream.write(b"once")

    def ask():
        with file_cache.opened("a1", make, seconds=60) as stream:
            read.append(stream.read())

    several = [Thread(target=ask) for _ in range(6)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert (len(made), read) == (1, [b"once"] * 6)


def test_another_process_that_makes_it_is_waited_for_and_not_for_long(folder):
    keep("abcd")
    (folder / "abcd").unlink()
    with (folder / "abc.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Busy):
            file_cache.opened("abcd", never, seconds=0.05)
    assert keep("abcd")


def test_a_file_that_broke_off_is_not_kept(folder):
    def broken(stream):
        stream.write(b"half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        file_cache.opened("a1", broken)
    assert names(folder) == []
    assert keep("a1")


def test_what_cannot_be_made_is_not_tried_again_soon(folder):
    tried = []

    def too_large(stream):
        tried.append(1)
        raise NotRendered

    for _ in range(3):
        with pytest.raises(NotRendered):
            file_cache.opened("a1", too_large)
    assert len(tried) == 1
    os.utime(folder / "a1.refused", (time.time() - 3600,) * 2)
    assert keep("a1")
