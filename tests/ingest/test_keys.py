"""Keys of datasets: made once, private, recognised, and clear refusals."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from heatmaps.models import Dataset
from heatmaps.pseudonyms import keys
from heatmaps.pseudonyms.person_hashes import PERSON


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


@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: path.symlink_to("key"), Path.mkdir])
def test_what_a_worker_puts_in_a_keys_place_is_not_read(folder, dataset, plant):
    (path := only_file(folder)).rename(folder / "key")
    plant(path)
    with pytest.raises(keys.KeyMissing):
        keys.load(dataset)


def test_it_reads_no_long_file(folder, dataset):
    only_file(folder).write_text("0" * 5000)
    with pytest.raises(keys.KeyMissing):
        keys.load(dataset)


def test_it_discards_a_key_that_was_not_needed(folder, dataset):
    keys.discard(dataset)
    assert not list(folder.iterdir())


WIDTHS = [63, 128]


def hashes(users, *, bits=128, form="nfc", key=b"k" * 32):
    return keys.PersonHasher(key=key, bits=bits, form=form).hashes(users)


@pytest.mark.parametrize("bits", WIDTHS)
def test_it_hashes_equal_names_alike_and_others_apart(bits):
    found = hashes(["anna", "bob", "anna", "Anna", ""], bits=bits).tolist()
    assert found[0] == found[2]
    assert len(set(found)) == 4


@pytest.mark.parametrize(("bits", "used"), [(63, (2**63 - 1, 0)), (128, (-1, -1))])
def test_it_uses_all_bits_of_a_hash_and_no_other(bits, used):
    found = hashes([str(number) for number in range(200)], bits=bits)
    assert tuple(np.bitwise_or.reduce(found[name]) for name in PERSON.names) == used
    assert tuple(np.bitwise_and.reduce(found[name]) for name in PERSON.names) == (0, 0)
    assert (found["person"] >= 0).all() == (bits == 63)


@pytest.mark.parametrize("bits", WIDTHS)
def test_it_hashes_a_name_differently_under_another_key(bits):
    one, other = (hashes(["anna"], bits=bits, key=key * 32) for key in (b"a", b"b"))
    assert one != other


@pytest.mark.parametrize("bits", WIDTHS)
def test_it_hashes_any_text(bits):
    assert len(set(hashes(["\udcff", "é", "居"], bits=bits).tolist())) == 3
    assert hashes([], bits=bits).size == 0


@pytest.mark.parametrize(("form", "persons"), [("decimal", 1), ("nfc", 1), ("", 2)])
def test_a_name_in_two_forms_of_unicode_is_one_person_where_the_dataset_says_so(form, persons):
    typed = ["Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"]
    assert len(set(hashes(typed, form=form).tolist())) == persons


def test_new_datasets_have_128_bits_and_names_in_one_form():
    assert (Dataset().person_bits, Dataset().user_form) == (128, "decimal")


def test_it_digests_the_same_bytes_differently_for_a_name_and_a_file():
    hasher = keys.content_hasher(b"k" * 32)
    hasher.update(b"anna")
    other = keys.content_hasher(b"j" * 32)
    other.update(b"anna")
    assert hasher.hexdigest() != other.hexdigest()
    for size in (8, 16):
        digest = hasher.digest()[:size]
        assert digest != hashes(["anna"]).astype([("a", ">i8"), ("b", ">i8")]).tobytes()[:size]


def test_it_never_changes_what_stored_hashes_and_digests_mean():
    """Computed once with BLAKE2b (RFC 7693) and its `person` parameter; another value orphans every row."""
    key = bytes(range(32))
    hasher = keys.content_hasher(key)
    hasher.update(b"user,time,lat,lon\n")
    assert hashes(["anna"], bits=63, form="", key=key).tolist() == [(7882481766206045116, 0)]
    assert hashes(["anna"], key=key).tolist() == [(-3991986344109119734, -1896383102840188745)]
    assert hasher.hexdigest() == "c8bbc4cd639048d367daa4b9df195d2ef21d44d554db887fa0942696696d113e"
