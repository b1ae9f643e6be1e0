"""Keys of datasets: made once, private, recognised, and clear refusals."""

import stat

import numpy as np
import pytest

from heatmaps import keys
from heatmaps.models import Dataset


@pytest.fixture
def folder(tmp_path, settings):
    settings.KEY_DIR = tmp_path
    return tmp_path


@pytest.fixture
def dataset(folder):
    row = Dataset(slug="harbour")
    row.key_fingerprint = keys.create(row)
    return row


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def test_it_makes_a_key_file_only_its_owner_can_read(folder, dataset):
    path = only_file(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name.startswith("harbour-")
    assert len(keys.load(dataset)) == 32


def test_it_does_not_show_the_key_in_the_fingerprint(dataset):
    assert keys.load(dataset).hex() not in dataset.key_fingerprint
    assert len(dataset.key_fingerprint) == 64


def test_it_makes_another_key_for_every_dataset(folder, dataset):
    other = Dataset(slug="harbour")
    other.key_fingerprint = keys.create(other)
    assert keys.load(other) != keys.load(dataset)


def test_it_names_the_missing_file_without_its_folder(folder, dataset):
    name = only_file(folder).name
    only_file(folder).unlink()
    with pytest.raises(keys.KeyMissing, match="backup") as caught:
        keys.load(dataset)
    assert name in str(caught.value)
    assert caught.value.file_name == name
    assert str(folder) not in str(caught.value)


@pytest.mark.parametrize("content", ["00" * 32, "", "zz", "00" * 31, "\xff\xfe"])
def test_it_refuses_another_key_in_the_file(folder, dataset, content):
    only_file(folder).write_text(content)
    with pytest.raises(keys.KeyMismatch, match="not the key this dataset was made with"):
        keys.load(dataset)


def test_it_discards_a_key_that_was_not_needed(folder, dataset):
    keys.discard(dataset)
    assert not list(folder.iterdir())


def test_it_hashes_equal_names_alike_and_others_apart():
    hashes = keys.person_hashes(b"k" * 32, ["anna", "bob", "anna", "Anna", ""])
    assert hashes.dtype == np.int64
    assert hashes[0] == hashes[2]
    assert len(set(hashes.tolist())) == 4
    assert (hashes >= 0).all()


def test_it_uses_all_63_bits_of_a_hash():
    hashes = keys.person_hashes(b"k" * 32, [str(number) for number in range(200)])
    assert np.bitwise_or.reduce(hashes) == 2**63 - 1


def test_it_hashes_a_name_differently_under_another_key():
    one, other = (keys.person_hashes(key * 32, ["anna"]) for key in (b"a", b"b"))
    assert one != other


def test_it_hashes_any_text():
    assert keys.person_hashes(b"k" * 32, ["\udcff", "é", "居"]).size == 3


def test_it_digests_the_same_bytes_differently_for_a_name_and_a_file():
    hasher = keys.content_hasher(b"k" * 32)
    hasher.update(b"anna")
    other = keys.content_hasher(b"j" * 32)
    other.update(b"anna")
    assert hasher.hexdigest() != other.hexdigest()
    assert int(hasher.hexdigest()[:16], 16) >> 1 != keys.person_hashes(b"k" * 32, ["anna"])[0]


def test_it_never_changes_what_stored_hashes_and_digests_mean():
    """Computed once with BLAKE2b (RFC 7693) and its `person` parameter; another value orphans every row."""
    key = bytes(range(32))
    hasher = keys.content_hasher(key)
    hasher.update(b"user,time,lat,lon\n")
    assert keys.person_hashes(key, ["anna"]).tolist() == [7882481766206045116]
    assert hasher.hexdigest() == "c8bbc4cd639048d367daa4b9df195d2ef21d44d554db887fa0942696696d113e"
