"""The batch of a round: handed over once, as it was announced, and read for one result."""

import hashlib
import os
import signal
import time
from pathlib import Path

import pytest
from django.conf import settings

from heatmaps.collections import handover, round_keys, rounds
from heatmaps.collections.errors import BatchDiffers, RoundNotOpen
from heatmaps.collections.rounds import RoundState
from heatmaps.ledger import verification
from heatmaps.models import Drawing, Round
from heatmaps.releases import clock as release_clock
from heatmaps.releases import lifecycle, sweep
from mechanisms.check import ParameterError
from tests.collections.devices import batch_of, bits_of, sealed
from tests.collections.steps import again, committed, hand_over, kept_files, run_to_the_end

pytestmark = pytest.mark.django_db(transaction=True)


def test_with_too_few_nothing_is_published_and_the_charge_stays(fixed, dataset, clock):
    clock.pass_by(hours=1)
    release_clock.tick()
    spent = committed(dataset)
    clock.pass_by(hours=1)
    handover.take(fixed.pk, sha256=hashlib.sha256(b"").hexdigest(), reports=19, blocks=[])
    ended = run_to_the_end(fixed, clock)
    assert rounds.state_of(ended) is RoundState.NO_RESULT
    assert committed(dataset) == spent
    assert kept_files() == []
    assert verification.verify(dataset).ok


def test_a_full_batch_of_too_few_reports_is_not_opened(fixed, clock, monkeypatch):
    clock.pass_by(hours=2)
    monkeypatch.setattr("heatmaps.collections.analysis.opened", lambda *_, **__: pytest.fail("opened"))
    hand_over(fixed, 19)
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.NO_RESULT


def test_it_is_handed_over_once(fixed, clock):
    clock.pass_by(hours=2)
    assert hand_over(fixed, 21)
    path, found = handover.batch_path(fixed.pk), again(fixed)
    content = path.read_bytes()
    assert not handover.take(fixed.pk, sha256=found.batch_sha256, reports=21, blocks=[content])
    with pytest.raises(BatchDiffers):
        hand_over(fixed, 21)
    assert path.read_bytes() == content
    assert [entry.name for entry in handover.batch_folder().iterdir()] == [path.name]


def test_what_was_received_by_a_process_that_died_goes(fixed):
    parts = [handover.batch_folder() / f"{name}.part" for name in ("old", "new")]
    for path, seconds in zip(parts, (2 * 3600, 600), strict=True):
        path.write_bytes(b"sealed")
        os.utime(path, (time.time() - seconds,) * 2)
    handover.forget_ended()
    assert [path.exists() for path in parts] == [False, True]
    parts[1].unlink()


def test_what_a_killed_process_had_received_goes_with_its_round(fixed, clock):
    clock.pass_by(hours=2)
    batch, digest = batch_of(
        [m for _ in range(25) for m in sealed(fixed.facts, bits_of(fixed.facts, (3, 5)))]
    )

    def killed():
        yield batch[:-1]
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        handover.take(fixed.pk, sha256=digest, reports=25, blocks=killed())
        os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    (part,) = handover.batch_folder().iterdir()
    assert part.stat().st_size < len(batch)
    handover.forget_ended()
    assert part.exists()  # until the round ends, it may be one that is received
    assert handover.take(fixed.pk, sha256=digest, reports=25, blocks=[batch])
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED
    handover.forget_batches()
    assert kept_files() == []
    assert list(handover.batch_folder().iterdir()) == []


def test_what_is_received_again_of_a_round_that_ends_meanwhile_was_there_before(fixed, clock):
    clock.pass_by(hours=2)
    batch, digest = batch_of(
        [m for _ in range(25) for m in sealed(fixed.facts, bits_of(fixed.facts, (3, 5)))]
    )

    def overtaken():
        yield batch
        assert handover.take(fixed.pk, sha256=digest, reports=25, blocks=[batch])
        run_to_the_end(fixed, clock)

    assert not handover.take(fixed.pk, sha256=digest, reports=25, blocks=overtaken())
    assert kept_files() == []


def test_nothing_is_handed_over_before_the_closing(fixed, clock):
    clock.pass_by(hours=2, seconds=-1)
    with pytest.raises(RoundNotOpen):
        hand_over(fixed, 21)
    assert list(handover.batch_folder().iterdir()) == []


@pytest.mark.parametrize("fault", ["digest", "reports", "size", "too_much"])
def test_a_batch_that_is_not_what_it_says_is_refused_and_leaves_nothing(fixed, clock, fault):
    clock.pass_by(hours=2)
    batch, digest = batch_of(sealed(fixed.facts, [b"\0"] * 5))
    told = {"sha256": digest, "reports": 21, "blocks": [batch]}
    if fault == "digest":
        told["sha256"] = "0" * 64
    elif fault == "reports":
        told["reports"] = 41
    elif fault == "size":
        told |= {"blocks": [batch[1:]], "sha256": hashlib.sha256(batch[1:]).hexdigest()}
    else:
        told["reports"] = 0
    with pytest.raises(ParameterError):
        handover.take(fixed.pk, **told)
    assert list(handover.batch_folder().iterdir()) == []
    assert again(fixed).reports is None


def test_messages_that_cannot_be_opened_are_dropped(fixed, clock):
    clock.pass_by(hours=2)
    messages = [m for _ in range(25) for m in sealed(fixed.facts, bits_of(fixed.facts, (3, 5)))]
    messages += [bytes(48) + bytes([last]) for last in range(3)] + sealed(
        fixed.facts.replace("walks", "talks"), [b"\1"] * 3
    )
    batch, digest = batch_of(messages[6:])
    handover.take(fixed.pk, sha256=digest, reports=25, blocks=[batch])
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


def test_a_worker_that_died_is_no_loss(fixed, clock):
    """Nothing is drawn, so that the messages may be read again."""
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    release_clock.tick()
    assert Drawing.objects.create(release=fixed.release, lease_until=clock.now).state == "running"
    clock.pass_by(seconds=settings.LEASE_SECONDS)
    sweep.sweep()
    assert not Drawing.objects.exists()
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


def test_a_promise_that_changed_publishes_nothing(fixed, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    Round.objects.update(least_honest=21)
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.NO_RESULT


def test_a_fault_of_the_machine_is_no_end(fixed, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    release_clock.tick()
    away = round_keys.load(fixed.pk)
    path = next(iter(Path(settings.KEY_DIR).glob(f"*{fixed.pk}*")))
    moved = path.rename(path.with_suffix(".away"))
    lifecycle.run(fixed.pk)
    assert not Drawing.objects.exists()
    moved.rename(path)
    assert away is not None
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


def test_reports_that_are_edited_after_the_result_are_found(fixed, dataset, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    run_to_the_end(fixed, clock)
    assert verification.verify(dataset).ok
    Round.objects.update(reports=26)
    assert "reports" in verification.verify(dataset).problem


def test_a_keys_place_that_leads_elsewhere_is_deleted_and_nothing_is_overwritten(fixed, tmp_path):
    (elsewhere := tmp_path / "web-key").write_text("a key")
    path = Path(settings.KEY_DIR) / f"round-{fixed.pk}.key"
    path.unlink()
    path.symlink_to(elsewhere)
    round_keys.destroy(fixed.pk)
    assert elsewhere.read_text() == "a key"
    assert not path.is_symlink()
