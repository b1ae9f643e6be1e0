"""Persons whose hashes agree in one half or in nearly all bits stay different, wherever they are read."""

import random
from hashlib import blake2b

import numpy as np
import pytest

from heatmaps import masses
from heatmaps.data_slice import WHOLE
from heatmaps.ingest import opt_outs, reading, uploads
from heatmaps.ingest.versions import deletion
from heatmaps.masses import sqlite
from heatmaps.models import CheckIn, Dataset, Enrolment, UploadState, UserForm
from heatmaps.pseudonyms import keys, user_names
from heatmaps.pseudonyms.name_column import NameColumn
from heatmaps.pseudonyms.person_hashes import PERSON, among, from_rows, numbered, persons_of, slots_of
from heatmaps.pseudonyms.user_names import SpellingsOfNumbers
from tests.ingest.conftest import REGION, SQLITE

ALIKE = [(1, 0), (1, 1), (1, -1), (-1, 1), (0, 1), (-(2**63), 1), (2**63 - 1, 1), (1, 2**62)]


def test_numbers_are_equal_for_equal_hashes_alone():
    held = from_rows(random.Random(1).choices(ALIKE, k=500))
    numbers, hashes = numbered(held)
    assert set(numbers.tolist()) == set(range(len(ALIKE)))
    assert hashes[numbers].tolist() == held.tolist()


@pytest.mark.parametrize("count", [0, 1])
def test_numbers_of_few(count):
    numbers, hashes = numbered(from_rows(ALIKE[:count]))
    assert (numbers.tolist(), hashes.tolist()) == (list(range(count)), ALIKE[:count])


def test_a_person_is_found_among_some_by_the_whole_hash():
    held = from_rows([*ALIKE, *ALIKE])
    assert among(held, from_rows(ALIKE[2:4])).tolist() == 2 * [at in (2, 3) for at in range(len(ALIKE))]
    assert not among(held, from_rows([])).any()


def test_persons_are_shared_out_by_the_same_bits_as_in_the_database():
    held = persons_of(*(np.array(column) for column in zip(*ALIKE, strict=True)))
    assert slots_of(held, 64).tolist() == [(first & 2**63 - 1) % 64 for first, _ in ALIKE]
    assert held.dtype == PERSON


BATCHES = (["a", "b"], ["b", "c", "a"], [], ["d", "e\u0301", "\u00e9"], ["a", "e\u0301", "f", "g"], ["g"])


@pytest.mark.parametrize("limit", ["MOST_KNOWN", "MOST_KNOWN_BYTES"])
@pytest.mark.parametrize("most", [0, 3, 100])
def test_names_of_many_batches_are_hashed_as_in_one(monkeypatch, limit, most):
    """However few of them are remembered."""
    monkeypatch.setattr(keys, limit, most)
    hasher = keys.PersonHasher(key=b"k" * 32, bits=128, form=UserForm.NFC)
    known = keys.KnownPersons(hasher)
    for batch in BATCHES[:-1]:
        hashes, new_names = known.hashes(NameColumn.of(batch))
        assert hashes.tolist() == hasher.hashes(batch).tolist()
        assert new_names == batch or most  # each of them has a name that the one before had not


def test_a_name_is_new_in_one_batch():
    known = keys.KnownPersons(keys.PersonHasher(key=b"k" * 32, bits=128, form=UserForm.NFC))
    new_names = [known.hashes(NameColumn.of(batch))[1] for batch in BATCHES]
    assert new_names == [["a", "b"], ["c"], [], ["d", "e\u0301", "\u00e9"], ["f", "g"], []]


@pytest.mark.parametrize(("bits", "digest_size"), [(63, 8), (128, 16)])
def test_a_hash_is_the_keyed_digest_of_a_name(bits, digest_size):
    """It is stored: later versions have to give the same one."""
    key, name = bytes(range(32)), "Jos\N{LATIN SMALL LETTER E WITH ACUTE}"
    digest = blake2b(name.encode(), key=key, person=b"hm-person", digest_size=digest_size).digest()
    [(first, rest)] = keys.PersonHasher(key=key, bits=bits, form=UserForm.NFC).hashes([name]).tolist()
    if bits == 63:
        assert (first, rest) == (int.from_bytes(digest) >> 1, 0)
    else:
        assert first.to_bytes(8, signed=True) + rest.to_bytes(8, signed=True) == digest


@pytest.fixture
def colliding(monkeypatch):
    """As if all names of a file had one first half of their hashes."""
    whole = keys.PersonHasher._distinct

    def half(self, names):
        found = whole(self, names)
        found["person"] = 7
        return found

    monkeypatch.setattr(keys.PersonHasher, "_distinct", half)


ROWS = [(f"user-{number}", "2020-01-01", 41.1 + number / 100, 2.1) for number in range(5)]


@SQLITE
def test_replace_counts_them_apart(make_dataset, upload, colliding):
    upload(make_dataset("enough", relation="replace", persons=5), ROWS)
    refused = upload(make_dataset("too-few", relation="replace", persons=4), ROWS)
    assert refused.state == UploadState.FAILED
    assert "5 different users" in refused.failure


def test_masses_and_means_count_them_apart(make_dataset, upload, colliding):
    dataset = make_dataset(relation="replace", persons=5)
    version = upload(dataset, [*ROWS, *ROWS[:3]]).version
    read = masses.read(dataset, version, level=8, unit=2**20)
    assert read.masses.tolist() == [2**20] * 5
    cells = REGION.morton([lat for *_, lat, _ in ROWS], [lon for *_, lon in ROWS], 8)
    assert read.cells.tolist() == sorted(cells.tolist())
    assert masses.read_items(dataset, version, level=8).persons == 5
    assert sqlite.means(dataset, version, WHOLE)[0][0] == 5


def test_an_opt_out_is_of_one_of_them(make_dataset, upload, steward, colliding):
    dataset = make_dataset(relation="replace", persons=5)
    upload(dataset, ROWS)
    assert opt_outs.opt_out(steward, dataset, ["user-1", "user-2"]) == 2
    version = uploads.advance(steward, dataset)
    assert masses.read(dataset, version, level=8, unit=1).masses.sum() == 3
    assert opt_outs.take_back(steward, dataset, ["user-3", "user-2"]) == 1
    version = uploads.advance(steward, dataset)
    assert masses.read(dataset, version, level=8, unit=1).masses.sum() == 4


@SQLITE
def test_each_of_them_stays_enrolled(make_dataset, upload, steward, colliding):
    dataset = make_dataset(relation="replace", persons=5, retention_days=30)
    upload(dataset, ROWS)
    uploads.advance(steward, dataset)
    deletion.delete_rows(dataset.pk)
    assert not CheckIn.objects.exists()
    assert Enrolment.objects.filter(dataset=dataset).count() == 5


@SQLITE
def test_a_dataset_from_before_keeps_its_hashes_and_names(make_dataset, upload, steward):
    """Uploads from before and after an upgrade are of the same persons."""
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(person_bits=63, user_form="")
    dataset.refresh_from_db()
    two_forms = ["Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"]
    upload(dataset, [(name, "", 41.5, 2.5) for name in two_forms])
    found = set(CheckIn.objects.values_list("person", "person_rest"))
    assert len(found) == 2
    assert all(first >= 0 and rest == 0 for first, rest in found)
    assert opt_outs.opt_out(steward, dataset, two_forms) == 2


@SQLITE
def test_a_new_dataset_takes_both_forms_for_one_person(make_dataset, upload, steward):
    dataset = make_dataset()
    two_forms = ["Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"]
    upload(dataset, [(name, "", 41.5, 2.5) for name in two_forms])
    assert CheckIn.objects.values("person", "person_rest").distinct().count() == 1
    assert opt_outs.opt_out(steward, dataset, two_forms) == 1


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["007", "7"], 1),
        (["7", "07", "007", "7", "8"], 2),
        (["0", "00"], 1),
        (["01", "02", "03"], 0),
        (["a7", "a07"], 0),
        (["7a", "07a"], 1),
        (["\N{ARABIC-INDIC DIGIT ZERO}7", "7"], 0),
        (["12.0", "12"], 1),
        (["12", "1.2e1", "+12", "012.", "-12"], 3),
        (["-0", "0", ".0"], 2),
        (["1.5", "1.50", "15"], 1),
        (["+49", "49", "+", "-", ".", "e1", "1e"], 1),
        (["1e400", "1e401", f"1{'0' * 400}"], 0),
    ],
)
def test_names_alike_but_for_the_spelling_of_a_number_are_counted(names, count):
    spellings = SpellingsOfNumbers()
    for name in names:
        spellings.add([name, name])
    assert spellings.count == count


def test_names_that_are_remembered_are_bounded(monkeypatch):
    monkeypatch.setattr(user_names, "MOST_REMEMBERED", 2)
    spellings = SpellingsOfNumbers()
    for name in ["7", "8", "9", "09", "08", "008", "07"]:
        spellings.add([name])
    assert spellings.count == 2


@SQLITE
@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_a_file_with_names_alike_is_taken_and_they_are_two_persons(dataset, upload, monkeypatch, batch_rows):
    monkeypatch.setattr(reading, "BATCH_ROWS", batch_rows)
    row = upload(dataset, [(name, "", 41.5, 2.5) for name in ("007", "7", "8", "7")])
    assert (row.state, row.names_alike) == (UploadState.READY, 1)
    assert CheckIn.objects.values("person", "person_rest").distinct().count() == 3


def test_datasets_from_before_wider_hashes_keep_theirs(make_dataset, upload):
    """A file that is added to them has the same persons."""
    dataset = make_dataset(relation="replace")
    Dataset.objects.filter(pk=dataset.pk).update(person_bits=63, user_form="")
    dataset.refresh_from_db()
    upload(dataset, ROWS)
    assert set(CheckIn.objects.values_list("person_rest", flat=True)) == {0}
    upload(dataset, [(name, "2021-01-01", 41.9, 2.9) for name, *_ in ROWS])
    assert CheckIn.objects.values("person", "person_rest").distinct().count() == len(ROWS)
    assert make_dataset("later").person_bits == 128
