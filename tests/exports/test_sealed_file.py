"""Files that are kept: nobody but whoever has the key makes one that is read."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from heatmaps.exports import file_cache, sealed_file
from heatmaps.exports.sealed_file import BLOCK_BYTES, TAG_BYTES, BadSealError

TWO_BLOCKS = bytes(range(256)) * (BLOCK_BYTES // 256) + b"the rest"


@pytest.fixture
def folder(settings, tmp_path):
    settings.RENDERED_DIR = tmp_path / "rendered"
    return settings.RENDERED_DIR


def kept(name, content=TWO_BLOCKS):
    """What is read, and whether it was made for that."""
    made = []

    def make(stream):
        made.append(1)
        stream.write(content)

    with file_cache.opened(name, make) as stream:
        return stream.read(), bool(made)


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES])
def test_it_reads_what_was_sealed_from_any_place(folder, size):
    content = os.urandom(size)
    assert kept("a1", content) == (content, True)
    assert file_cache.size_of("a1") == size
    with sealed_file.opened(folder / "a1") as stream:
        for at in {0, size // 2, max(size - 5, 0), max(min(BLOCK_BYTES, size) - 3, 0), size}:
            stream.seek(at)
            assert stream.read(10) == content[at : at + 10]
        assert stream.seek(0, os.SEEK_END) == size
        assert stream.read(1) == b""


def outside(folder):
    path = folder.with_name("secret")
    path.write_bytes(b"a key of the server")
    return path


def flipped(place):
    def plant(path, _):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)

    return plant


def without_tags(path, _):
    path.write_bytes(TWO_BLOCKS)


def shorter(path, _):
    """The first block, and both tags or one."""
    content = path.read_bytes()
    path.write_bytes(content[:BLOCK_BYTES] + content[-2 * TAG_BYTES : -TAG_BYTES])


def longer(path, _):
    path.write_bytes(path.read_bytes() + b"more")


def blocks_swapped(path, _):
    content = path.read_bytes()
    tags = content[-2 * TAG_BYTES :]
    path.write_bytes(content[: -2 * TAG_BYTES] + tags[TAG_BYTES:] + tags[:TAG_BYTES])


def of_another_name(path, folder):
    kept("b2", b"another release's file")
    shutil.copy(folder / "b2", path)


def linked(path, folder):
    path.unlink()
    path.symlink_to(outside(folder))


def linked_to_a_sealed_one(path, _):
    """Also the right content is not read by a link."""
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def linked_hard(path, folder):
    path.unlink()
    path.hardlink_to(outside(folder))


def a_pipe(path, _):
    path.unlink()
    os.mkfifo(path)


def a_folder(path, folder):
    path.unlink()
    path.mkdir()
    (path / "inside").symlink_to(outside(folder))


def empty(path, _):
    path.write_bytes(b"")


PLANTED = [
    flipped(0),
    flipped(BLOCK_BYTES + 1),
    flipped(-1),
    without_tags,
    shorter,
    longer,
    blocks_swapped,
    of_another_name,
    linked,
    linked_to_a_sealed_one,
    linked_hard,
    a_pipe,
    a_folder,
    empty,
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_somebody_else_put_there_is_made_anew_and_not_read(folder, plant):
    kept("a1")
    plant(folder / "a1", folder)

    assert file_cache.size_of("a1") is None
    assert kept("a1", b"as it should be") == (b"as it should be", True)
    assert kept("a1", b"never") == (b"as it should be", False)
    if outside(folder).exists():
        assert outside(folder).read_bytes() == b"a key of the server"


@pytest.mark.parametrize("name", ["a1.{}.part", "a1.lock", "a1.refused"])
def test_nothing_is_written_through_a_link(folder, name):
    kept("b2")
    secret = outside(folder)
    (folder / name.format(os.getpid())).symlink_to(secret)

    def refused(stream):
        raise file_cache.NotRendered

    for make in (lambda stream: stream.write(b"made"), refused):
        with contextlib.suppress(OSError, file_cache.NotRendered):
            file_cache.opened("a1", make).close()
        (folder / "a1").unlink(missing_ok=True)

    assert secret.read_bytes() == b"a key of the server"


def test_a_file_that_is_changed_while_it_is_read_breaks_off(folder):
    kept("a1")
    with sealed_file.opened(folder / "a1") as stream:
        flipped(BLOCK_BYTES + 1)(folder / "a1", folder)
        assert stream.read(BLOCK_BYTES) == TWO_BLOCKS[:BLOCK_BYTES]
        with pytest.raises(BadSealError):
            stream.read(1)


def test_another_key_reads_nothing(folder, settings):
    kept("a1")
    assert (settings.KEY_DIR / "kept-files-key").stat().st_mode & 0o777 == 0o600
    settings.KEPT_FILES_KEY = lambda: "another"
    assert file_cache.size_of("a1") is None


def test_no_file_is_left_open(folder):
    before = set(Path("/proc/self/fd").iterdir())
    kept("a1")
    for plant in PLANTED:
        plant(folder / "a1", folder)
        assert file_cache.size_of("a1") is None
        kept("a1")
    assert set(Path("/proc/self/fd").iterdir()) == before
