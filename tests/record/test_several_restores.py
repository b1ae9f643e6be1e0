"""What a record proves is believed, whatever the hold began with and however often a database went back."""

from uuid import uuid4

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction

from heatmaps.ingest import opt_outs
from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.management import resuming
from heatmaps.management.resuming import OtherCopy, Statement
from heatmaps.models import AccountKind, Collection, Election, HoldCause, Restoration
from heatmaps.people import after_restore
from heatmaps.queries import total_guarantee
from heatmaps.record import elections, hold
from heatmaps.record.hold import OnHold
from heatmaps.record.journal import opened
from heatmaps.releases import lifecycle
from mechanisms.guarantee import Relation

ONE = 10**12


@pytest.fixture
def administrator(db):
    return User.objects.create_superuser("administrator", password="a long one 1")


@pytest.fixture
def begun(dataset, administrator):
    elections.look()
    return dataset


@pytest.fixture
def witness(settings, tmp_path):
    settings.WITNESS_DIR = tmp_path / "witness"
    return settings.WITNESS_DIR


def account(dataset):
    return dataset.accounts.get(kind="presence")


def resume(**charges):
    named = {("city", AccountKind(kind)): amount for kind, amount in charges.items()}
    return resuming.restored(Statement(reason="the disk broke", other_copy=OtherCopy.STOPPED, charges=named))


def write(*lines, at=0):
    with opened(elections.folders()[at] / elections.FILE) as journal:
        journal.append(*lines)


def drawn(dataset, units, release=None):
    """The lines of a draw that another past of the database had."""
    election, release = str(uuid4()), str(release or uuid4())
    charges = {str(account(dataset).pk): units}
    return (
        {"kind": "intent", "id": election, "release": release, "charges": charges, "at": "later"},
        {"kind": "done", "id": election},
    )


@pytest.mark.parametrize("cause", [HoldCause.OTHER_PLACE, HoldCause.NO_RECORD])
def test_nobody_says_that_nothing_was_lost_whatever_the_hold_began_with(begun, cause):
    write(*drawn(begun, ONE // 8))
    hold.put(cause)
    with pytest.raises(resuming.CannotResume, match="older"):
        resuming.nothing_was_lost("the folder was moved")
    assert hold.cause() == cause


@pytest.mark.long
def test_an_older_database_in_another_place_is_said_to_be_older(begun, record):
    write(*drawn(begun, ONE // 8))
    [folder] = elections.folders()
    (folder / elections.FILE).with_name("elections.made").unlink()
    with pytest.raises(OnHold):
        elections.look()
    assert hold.cause() == HoldCause.OLDER


def test_a_witness_knows_better_than_a_record_that_is_missing(begun, witness):
    witness.mkdir()
    elections.look()
    write(*drawn(begun, ONE // 8), at=1)
    (elections.folders()[0] / elections.FILE).unlink()
    with pytest.raises(OnHold):
        elections.look()
    assert hold.cause() == HoldCause.OLDER


@pytest.mark.long
def test_a_witness_that_came_after_the_backup_does_not_tell_everything(begun, witness):
    write(*drawn(begun, ONE // 8))  # before there was a witness
    witness.mkdir()
    write({"kind": "place", "id": str(uuid4())}, *drawn(begun, ONE // 4), at=1)
    (elections.folders()[0] / elections.FILE).unlink()  # and the machine broke
    hold.put(HoldCause.NO_RECORD)
    assert not resume().knows_charges
    assert account(begun).committed == 2 * ONE


@pytest.mark.long
def test_a_record_that_began_after_the_backup_does_not_tell_everything(dataset, administrator):
    assert not Election.objects.exists()
    hold.put(HoldCause.RESTORED)
    with elections._journals() as [journal]:
        elections._begin(journal)
    assert not resume().knows_charges


@pytest.mark.long
def test_a_spoilt_record_beside_a_witness_does_not_stop_resuming(begun, witness):
    witness.mkdir()
    elections.go_on(forget=False)
    write(*drawn(begun, ONE // 8), at=1)
    path = elections.folders()[0] / elections.FILE
    path.write_bytes(path.read_bytes() + b"not JSON\n")
    hold.put(HoldCause.OTHER_PLACE)
    assert resume().knows_charges
    assert account(begun).committed == ONE // 8


def test_another_backup_after_a_resumption_of_the_first_is_charged_as_much(begun):
    """The first backup was resumed and charged; then a second one is restored, which knows nothing of it."""
    write(*drawn(begun, ONE // 8), {"kind": "resumed"}, *drawn(begun, 0))
    with pytest.raises(OnHold):
        elections.look()
    assert resume().knows_charges
    assert account(begun).committed == ONE // 8


@pytest.mark.long
def test_a_resumption_that_the_database_knows_is_not_charged_again(begun):
    write(*drawn(begun, ONE // 8))
    resume()
    write(*drawn(begun, ONE // 4))
    resume()
    assert account(begun).committed == ONE // 8 + ONE // 4
    assert verify(begun).ok


def test_the_charge_of_a_draw_is_kept_though_the_older_database_gave_it_back(begun, analyst, ask, settings):
    settings.START_SECONDS = 3600
    release = lifecycle.request_release(analyst, begun, ask())
    write(*drawn(begun, ONE // 2, release.pk))
    assert transitions.cancel(release.pk, actor=analyst)  # before anybody looked
    with pytest.raises(OnHold):
        elections.look()
    resume()
    assert account(begun).committed == ONE // 2
    assert verify(begun).ok


@pytest.mark.long
def test_an_operator_names_no_less_than_the_record_proves(begun):
    write(*drawn(begun, ONE // 2))
    hold.put(HoldCause.OLDER)
    with pytest.raises(resuming.CannotResume, match="record"):
        resume(presence=ONE // 4)
    assert not Restoration.objects.exists()
    resume(presence=ONE)
    assert account(begun).committed == ONE


@pytest.mark.long
def test_a_restore_that_only_its_operator_knows_of_holds_everything_meanwhile(begun, monkeypatch):
    def fail():
        assert hold.cause() == HoldCause.RESTORED
        raise KeyboardInterrupt

    monkeypatch.setattr(after_restore, "end_ways_in", fail)
    with pytest.raises(KeyboardInterrupt):
        resume()
    assert hold.cause() == HoldCause.RESTORED


@pytest.mark.long
def test_an_address_that_was_replaced_since_gets_no_link_for_a_password(begun, steward):
    EmailAddress.objects.create(user=steward, email="old@example.org", verified=True, primary=True)
    resume()
    assert not EmailAddress.objects.filter(verified=True).exists()


@pytest.mark.long
def test_a_shuffler_that_was_replaced_since_is_not_let_in(begun, steward):
    made = Collection.objects.create(dataset=begun, token_sha256="a" * 64)
    resume()
    made.refresh_from_db()
    assert made.token_sha256 != "a" * 64


def test_a_database_that_goes_back_while_it_is_waited_for_elects_nobody(begun, analyst, ask):
    release = lifecycle.request_release(analyst, begun, ask())
    assert transitions.spend(release.pk)

    def elect():
        with elections.electing(release.pk) as candidate, transaction.atomic():
            for line in drawn(begun, 0):
                candidate._append(line)  # the database is now another
            candidate.elect()

    with pytest.raises(OnHold):
        elect()
    assert not Election.objects.filter(release=release).exists()


@pytest.mark.long
def test_what_the_record_proves_is_charged_though_the_other_copy_may_run(begun):
    write(*drawn(begun, 5 * ONE))  # the limit was raised since
    with pytest.raises(OnHold):
        elections.look()
    resuming.restored(Statement(reason="the disk broke", other_copy=OtherCopy.UNKNOWN))
    assert account(begun).committed == 5 * ONE
    assert verify(begun).ok


@pytest.mark.long
@pytest.mark.parametrize("change", ["deleted", "spoilt"])
def test_opt_outs_come_back_only_from_a_list_that_is_whole(begun, steward, change):
    opt_outs.opt_out(steward, begun, ["ann"])
    [folder] = elections.folders()
    path = folder / elections.OPT_OUTS
    if change == "deleted":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"person", b"\\xff"))
    assert resume().knows_charges
    assert not Restoration.objects.get().opt_outs_replayed


@pytest.mark.long
def test_a_witness_knows_what_another_machine_drew(begun, witness, settings, tmp_path):
    """The other machine's draw is lost in the database; this machine's record knows nothing of it."""
    witness.mkdir()
    elections.look()
    own, settings.RECORD_DIR = settings.RECORD_DIR, tmp_path / "record of the other machine"
    elections.go_on(forget=False)
    for at in (0, 1):
        write(*drawn(begun, ONE // 8), at=at)
    settings.RECORD_DIR = own
    with pytest.raises(OnHold):
        elections.look()
    assert hold.cause() == HoldCause.OLDER
    assert resume().knows_charges
    assert account(begun).committed == ONE // 8


@pytest.mark.long
def test_a_charge_of_the_radius_alone_is_in_the_total(make_dataset, administrator):
    dataset = make_dataset("city", Relation.REPLACE)
    elections.look()
    resume(radius=ONE)
    assert dataset.restorations.get().charges.get(account__kind="record").amount == 0
    assert total_guarantee(dataset).loss(dataset.radius_m) >= 1
