"""Whoever draws is elected in the database and in a record outside it. On SQLite and on PostgreSQL."""

import shutil
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.management import resuming
from heatmaps.models import Drawing, DrawingState, Election, HoldCause, Installation, Release
from heatmaps.record import elections, hold, place
from heatmaps.record.hold import OnHold
from heatmaps.record.journal import opened
from heatmaps.releases import clock, draws, lifecycle, sweep
from tests.services.draws import carry_out


@pytest.fixture
def witness(settings, tmp_path):
    settings.WITNESS_DIR = tmp_path / "witness"
    return settings.WITNESS_DIR


@pytest.fixture
def queued(dataset, analyst, ask):
    return lifecycle.request_release(analyst, dataset, ask())


@pytest.fixture
def spent(queued):
    assert transitions.spend(queued.pk)
    return queued


def journal_of(root):
    return root / str(hold.installation().identity) / elections.FILE


def lines_of(root):
    with opened(journal_of(root)) as journal:
        return journal.lines()


def write(root, *lines):
    with opened(journal_of(root)) as journal:
        journal.append(*lines)


def intent(release_id):
    return {"kind": "intent", "id": str(uuid4()), "release": str(release_id), "charges": {}}


def state(release):
    return Release.objects.get(pk=release.pk).state


def test_an_election_is_on_disk_before_it_is_committed_and_said_to_be_done_after_it(spent, record):
    assert draws.claim(spent)
    election = Election.objects.get(release=spent)
    before, after = [line for line in lines_of(record) if line.get("id") == str(election.pk)]
    assert (before["kind"], before["release"], after["kind"]) == ("intent", str(spent.pk), "done")
    account = spent.dataset.accounts.get(kind="presence")
    assert before["charges"][str(account.pk)] == 5 * 10**11
    assert journal_of(record).stat().st_mode & 0o777 == 0o600


def test_a_release_whose_drawing_was_taken_away_is_not_drawn_again(spent):
    assert draws.claim(spent)
    Drawing.objects.all().delete()
    assert not draws.claim(spent)
    # It ends, as nobody may draw it: its charge stays.
    assert Drawing.objects.get().state == DrawingState.FAILED


def test_elections_are_never_changed_or_deleted(spent):
    draws.claim(spent)
    for change in (Election.objects.all().delete, lambda: Election.objects.update(attempt=7)):
        with pytest.raises(Exception, match="never changed or deleted"), transaction.atomic():
            change()


def test_a_database_that_lacks_the_last_election_is_on_hold(spent, record, analyst, ask):
    draws.claim(spent)
    write(record, {"kind": "done", "id": str(uuid4())})  # another database had it
    other = lifecycle.request_release(analyst, spent.dataset, ask(epsilon="0.25"))
    with pytest.raises(OnHold):
        draws.claim(other)
    assert hold.cause() == HoldCause.OLDER
    with pytest.raises(OnHold):
        lifecycle.request_release(analyst, spent.dataset, ask(epsilon="0.125"))
    draws.finish(spent.pk, b"a map", "0" * 64)
    clock.tick()
    sweep.sweep()
    assert (state(spent), state(other)) == ("spent", "reserved")


def test_a_release_that_another_database_may_have_drawn_has_no_result(spent, record):
    write(record, intent(spent.pk))  # and this process died, or the database went back
    assert not draws.claim(spent)
    assert hold.cause() is None
    clock.tick()
    assert state(spent) == "failed"
    assert not Election.objects.filter(release=spent).exists()
    assert spent.dataset.accounts.get(kind="presence").committed == 5 * 10**11
    assert verify(spent.dataset).ok


def test_an_election_of_a_release_that_the_database_does_not_know_holds_everything(spent, record):
    write(record, intent(uuid4()))
    with pytest.raises(OnHold):
        draws.claim(spent)
    assert hold.cause() == HoldCause.OLDER


def test_a_commit_that_fails_elects_nobody_and_costs_nothing(spent, record, monkeypatch):
    def fail(*_arguments, **_options):
        raise OperationalError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "commit", fail)
        with pytest.raises(OperationalError, match="away"):
            draws.claim(spent)
    connection.close()
    assert lines_of(record)[-1]["kind"] == "void"
    assert draws.claim(spent)


def test_without_its_record_an_installation_is_on_hold(spent, record):
    shutil.rmtree(record)
    with pytest.raises(OnHold):
        draws.claim(spent)
    assert hold.cause() == HoldCause.NO_RECORD


@pytest.mark.parametrize("change", ["copied", "restored in place", "spoilt", "other machine"])
def test_a_record_that_is_not_this_one_counts_as_none(spent, record, change, monkeypatch, tmp_path):
    path = journal_of(record)
    if change == "copied":
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    elif change == "restored in place":  # with the file numbers of before
        stamp = path.with_name("elections.made")
        stamp.chmod(0o644)
        stamp.chmod(0o600)
    elif change == "spoilt":
        path.write_bytes(path.read_bytes() + b"{}\n")
    else:
        monkeypatch.setattr(place, "_MACHINE", tmp_path / "nothing")
    with pytest.raises(OnHold):
        draws.claim(spent)
    assert hold.cause() == HoldCause.OTHER_PLACE


def test_a_line_that_was_cut_off_was_never_acted_upon(spent, record):
    path = journal_of(record)
    with path.open("ab") as file:
        file.write(b'{"kind":"intent","id":"')
    assert draws.claim(spent)
    assert [line["kind"] for line in lines_of(record)][-2:] == ["intent", "done"]


def test_a_witness_sees_a_machine_that_went_back_with_its_record(spent, record, witness):
    witness.mkdir()
    draws.claim(spent)
    write(witness, {"kind": "done", "id": str(uuid4())})  # what this machine did before it went back
    with pytest.raises(OnHold):
        elections.look()
    assert hold.cause() == HoldCause.OLDER


def test_nothing_is_drawn_while_the_witness_is_away(spent, witness, tmp_path):
    tmp_path.joinpath("witness").write_text("no folder")
    with pytest.raises(place.RecordError, match="HAZEMAP_RECORD_DIR"):
        draws.claim(spent)
    assert not Drawing.objects.exists()


@pytest.fixture
def started_anew(spent, monkeypatch):
    monkeypatch.setattr(place, "boot", lambda: "another start")
    elections.look()


def test_what_was_queued_before_a_start_of_the_machine_waits_for_an_operator(spent, started_anew):
    assert not draws.claim(spent)
    carry_out(spent.pk)
    assert state(spent) == "spent"
    resuming.nothing_was_lost("the power failed")
    assert Installation.objects.get().confirm_before is None
    carry_out(spent.pk)
    assert state(spent) == "published"
    assert verify(spent.dataset).ok


def test_the_charge_of_what_waits_is_not_given_back(dataset, analyst, ask, monkeypatch, settings):
    settings.START_SECONDS = 3600
    release = lifecycle.request_release(analyst, dataset, ask())
    monkeypatch.setattr(place, "boot", lambda: "another start")
    elections.look()
    assert not transitions.cancel(release.pk, actor=analyst)
    Release.objects.update(expires_at=release.requested_at, starts_at=release.requested_at)
    clock.tick()
    assert state(release) == "reserved"


def test_other_datasets_are_asked_and_drawn_meanwhile(started_anew, make_dataset, add_checkins, analyst, ask):
    other = make_dataset("other")
    add_checkins(other)
    release = lifecycle.request_release(analyst, other, ask())
    carry_out(release.pk)
    assert state(release) == "published"


def test_nothing_waits_where_there_is_a_witness(spent, monkeypatch, witness):
    witness.mkdir()
    monkeypatch.setattr(place, "boot", lambda: "another start")
    elections.look()
    assert hold.waits_since() is None
    carry_out(spent.pk)
    assert state(spent) == "published"


def test_nobody_says_that_nothing_was_lost_where_the_record_knows_better(spent, record):
    write(record, {"kind": "done", "id": str(uuid4())})
    with pytest.raises(OnHold):
        elections.look()
    with pytest.raises(resuming.CannotResume):
        resuming.nothing_was_lost("I hope so")
    assert hold.cause() == HoldCause.OLDER


@pytest.mark.parametrize("is_started_anew", [True, False])
def test_devices_get_other_numbers_at_a_start_of_the_machine_alone(dataset, monkeypatch, is_started_anew):
    elections.look()
    file = place._file
    monkeypatch.setattr(place, "_file", lambda path: f"1{file(path)}")
    if is_started_anew:
        monkeypatch.setattr(place, "boot", lambda: "another start")
        elections.look()
        elections.look()
        assert hold.cause() is None
    else:
        with pytest.raises(OnHold):
            elections.look()
        assert hold.cause() == HoldCause.OTHER_PLACE
