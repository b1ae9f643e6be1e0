"""Whoever opted out is in no data version from the next one on, and in every earlier one."""

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps import masses
from heatmaps.children import process
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.models import CheckIn, Event, Membership, Suppression
from heatmaps.pseudonyms import keys
from tests.masses.test_masses import UNIT, as_dict, naive

ANNA = [("anna", "", 41.5, 2.5), ("anna", "", 41.2, 2.1)]
BOB = [("bob", "", 41.8, 2.9)]


def read(dataset, version):
    return as_dict(masses.read(dataset, version, level=4, unit=UNIT))


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_it_takes_effect_with_the_next_version_and_leaves_earlier_ones(
    make_dataset, upload, steward, relation
):
    dataset = make_dataset(relation=relation)
    first = upload(dataset, ANNA + BOB).version
    assert opt_outs.opt_out(steward, dataset, [" anna "]) == 1
    assert read(dataset, first) == naive(ANNA + BOB, level=4, unit=UNIT)
    second = uploads.advance(steward, dataset)
    assert read(dataset, second) == naive(BOB, level=4, unit=UNIT)
    assert read(dataset, first) == naive(ANNA + BOB, level=4, unit=UNIT)


def test_uploading_again_does_not_bring_anybody_back(dataset, upload, steward):
    upload(dataset, ANNA)
    opt_outs.opt_out(steward, dataset, ["anna"])
    upload(dataset, BOB)
    version = upload(dataset, [*ANNA, ("anna", "", 41.9, 2.2)]).version
    assert read(dataset, version) == naive(BOB, level=4, unit=UNIT)


def test_it_leaves_other_datasets_alone(make_dataset, upload, steward):
    one, other = make_dataset("one"), make_dataset("other")
    upload(one, ANNA)
    upload(other, ANNA)
    opt_outs.opt_out(steward, one, ["anna"])
    assert read(one, uploads.advance(steward, one)) == {}
    assert read(other, uploads.advance(steward, other)) == naive(ANNA, level=4, unit=UNIT)


def test_it_keeps_no_name_and_takes_strangers_to_the_data_alike(dataset, upload, steward):
    upload(dataset, ANNA)
    assert opt_outs.opt_out(steward, dataset, ["anna", "nobody", "anna", ""]) == 2
    assert opt_outs.opt_out(steward, dataset, ["nobody", "carl"]) == 1
    hashes = keys.PersonHasher.of(dataset).hashes(["anna", "nobody", "carl"]).tolist()
    assert sorted(Suppression.objects.values_list("person", "person_rest")) == sorted(hashes)
    assert opt_outs.pending(dataset) == 3
    uploads.advance(steward, dataset)
    assert opt_outs.pending(dataset) == 0


def test_the_ledger_says_a_version_was_made_and_nothing_else(make_dataset, upload, steward):
    one, other = make_dataset("one"), make_dataset("other")
    for dataset in (one, other):
        upload(dataset, ANNA)
    opt_outs.opt_out(steward, one, ["anna"])
    said = []
    for dataset in (one, other):
        uploads.advance(steward, dataset)
        event = Event.objects.filter(dataset=dataset).order_by("-sequence").first()
        said.append((event.kind, json.loads(event.before), json.loads(event.after), event.sequence))
    digests = [after.pop("commitment") for _, _, after, _ in said]
    assert said[0] == said[1]
    assert said[0][:3] == ("version", {"version": 1}, {"version": 2})
    assert [len(digest) for digest in digests] == [64, 64]


@pytest.mark.parametrize(
    ("users", "code"), [([], "no_users"), (["", "  \n"], "no_users"), (["\udcff"], "not_text")]
)
def test_it_refuses_an_unusable_list(dataset, steward, users, code):
    with pytest.raises(UploadError) as caught:
        opt_outs.opt_out(steward, dataset, users)
    assert caught.value.code == code
    assert not Suppression.objects.exists()


def test_it_refuses_a_list_that_is_too_long(dataset, steward, monkeypatch):
    monkeypatch.setattr(opt_outs, "MOST_AT_ONCE", 3)
    with pytest.raises(UploadError, match="at most 3 users"):
        opt_outs.opt_out(steward, dataset, map(str, range(4)))


def test_a_child_reads_a_file_of_users(monkeypatch):
    started, children = process.started, []
    monkeypatch.setattr(
        process, "started", lambda *args, **how: children.append(args[0]) or started(*args, **how)
    )
    assert opt_outs.users_of(io.BytesIO(b"\xef\xbb\xbfanna\r\n\r\n b\xc3\xb6b \nanna")) == ["anna", "böb"]
    assert children == ["heatmaps.ingest.formats.text_child"]


@pytest.mark.parametrize("content", [b"a" * 5000, b"\0", b"PK\x03\x04" + bytes(20), b"\xff"])
def test_it_refuses_a_file_that_is_no_list(content):
    with pytest.raises(ReaderError):
        opt_outs.users_of(io.BytesIO(content))


@pytest.mark.parametrize(("role", "error"), [("analyst", PermissionDenied), (None, Http404)])
def test_only_stewards_opt_people_out(dataset, role, error):
    other = User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=dataset, user=other, role=role)
    with pytest.raises(error):
        opt_outs.opt_out(other, dataset, ["anna"])


@pytest.mark.parametrize("damage", ["missing", "different"])
def test_it_refuses_without_the_datasets_own_key(dataset, receive, steward, state, damage):
    waiting = receive(dataset, BOB)
    [path] = (state / "keys").glob("*.key")
    path.unlink() if damage == "missing" else path.write_text("00" * 32)
    expected = keys.KeyMissing if damage == "missing" else keys.KeyMismatch
    with pytest.raises(expected, match="restore it from the backup"):
        opt_outs.opt_out(steward, dataset, ["anna"])
    with pytest.raises(expected, match="restore it from the backup"):
        receive(dataset, ANNA)
    uploads.run(waiting.pk)
    waiting.refresh_from_db()
    assert "restore it from the backup" in waiting.failure
    assert not Suppression.objects.exists()
    assert not CheckIn.objects.exists()


def test_taken_back_before_a_version_it_is_as_if_it_had_never_been(dataset, upload, steward):
    upload(dataset, ANNA + BOB)
    opt_outs.opt_out(steward, dataset, ["anna", "bob"])
    assert opt_outs.take_back(steward, dataset, ["anna", "nobody"]) == 1
    assert opt_outs.pending(dataset) == 1
    assert opt_outs.entries(steward, dataset).count() == 1
    assert read(dataset, uploads.advance(steward, dataset)) == naive(ANNA, level=4, unit=UNIT)
    assert opt_outs.entries(steward, dataset).get().state == "in_effect"
    assert opt_outs.opt_out(steward, dataset, ["anna"]) == 1
    assert read(dataset, uploads.advance(steward, dataset)) == {}


def test_taken_back_after_a_version_they_count_again_from_the_next_one(dataset, upload, steward):
    upload(dataset, ANNA + BOB)
    opt_outs.opt_out(steward, dataset, ["anna"])
    without = uploads.advance(steward, dataset)
    later = [("anna", "", 41.9, 2.2)]
    upload(dataset, later, advance=False)
    assert opt_outs.take_back(steward, dataset, ["anna"]) == 1
    assert opt_outs.take_back(steward, dataset, ["anna"]) == 0
    assert opt_outs.pending(dataset) == 1
    assert read(dataset, without) == naive(BOB, level=4, unit=UNIT)
    again = uploads.advance(steward, dataset)
    assert read(dataset, again) == naive(ANNA + BOB + later, level=4, unit=UNIT)
    assert read(dataset, without) == naive(BOB, level=4, unit=UNIT)
    assert opt_outs.pending(dataset) == 0


def test_whoever_opts_out_once_more_is_left_out_once_more(dataset, upload, steward):
    upload(dataset, ANNA + BOB)
    held = []
    for act in (opt_outs.opt_out, opt_outs.take_back, opt_outs.opt_out):
        act(steward, dataset, ["anna"])
        held.append(read(dataset, uploads.advance(steward, dataset)) == naive(BOB, level=4, unit=UNIT))
    assert held == [True, False, True]
    opt_outs.take_back(steward, dataset, ["anna"])
    assert opt_outs.opt_out(steward, dataset, ["anna"]) == 0  # before a version: as if nothing was said
    assert read(dataset, uploads.advance(steward, dataset)) == naive(BOB, level=4, unit=UNIT)


def test_an_entry_is_named_by_nothing_of_the_person(dataset, steward):
    entry, is_new = opt_outs.enter(steward, dataset, "anna")
    same, is_new_again = opt_outs.enter(steward, dataset, " anna ")
    assert (is_new, is_new_again, same.entry) == (True, False, entry.entry)
    assert "anna" not in str(entry)
    assert str(entry.person) not in str(entry)
    opt_outs.take_back_entry(steward, dataset, entry.entry)
    with pytest.raises(Http404):
        opt_outs.take_back_entry(steward, dataset, entry.entry)


def test_an_entry_of_another_dataset_is_not_found(make_dataset, steward):
    one, other = make_dataset("one"), make_dataset("other")
    entry, _ = opt_outs.enter(steward, one, "anna")
    with pytest.raises(Http404):
        opt_outs.take_back_entry(steward, other, entry.entry)


@pytest.mark.parametrize(("role", "error"), [("analyst", PermissionDenied), (None, Http404)])
def test_only_stewards_take_back_and_list(dataset, steward, role, error):
    entry, _ = opt_outs.enter(steward, dataset, "anna")
    other = User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=dataset, user=other, role=role)
    for act in (
        lambda: opt_outs.take_back(other, dataset, ["anna"]),
        lambda: opt_outs.take_back_entry(other, dataset, entry.entry),
        lambda: opt_outs.entries(other, dataset),
        lambda: opt_outs.enter(other, dataset, "bob"),
    ):
        with pytest.raises(error):
            act()
    assert Suppression.objects.count() == 1
