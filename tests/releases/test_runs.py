"""The draw: after the spend, once, outside of transactions, and total about what goes wrong."""

import logging
import uuid
from datetime import timedelta
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import override_settings
from django.utils import timezone

from heatmaps import masses
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.verification import verify
from heatmaps.models import Drawing, Release, Result, Upload, UploadState
from heatmaps.releases import clock, lifecycle, sweep
from heatmaps.releases import draws as drawings
from mechanisms.catalogue import registry as catalogue
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.guarantee import Guarantee, Relation
from tests.services.draws import carry_out

ONE = 10**12


@pytest.fixture
def release(dataset, analyst, ask):
    return lifecycle.request_release(analyst, dataset, ask())


def state(release):
    release.refresh_from_db()
    return release.state


def committed(dataset):
    return dataset.accounts.get(kind="presence").committed


@pytest.fixture
def draws(monkeypatch):
    """What each draw was given; the draw itself is the real one."""
    real, seen = SparseEmd.release, []

    def spy(mechanism, read, rng):
        seen.append(read)
        return real(mechanism, read, rng)

    monkeypatch.setattr(SparseEmd, "release", spy)
    return seen


def test_it_publishes_a_map_of_the_asked_mechanism(dataset, release, draws):
    carry_out(release.pk)
    assert state(release) == "published"
    heatmap = lifecycle.heatmap_of(release)
    assert heatmap.level == 4
    assert release.result.sha256 == heatmap.sha256
    assert len(draws) == 1
    assert draws[0].masses.sum() == pytest.approx(40 * draws[0].unit, rel=1e-5)
    assert verify(dataset).ok


def test_it_shows_where_people_are_when_there_is_hardly_any_noise(make_dataset, add_checkins, analyst, ask):
    dataset = make_dataset(limits={"presence": "1000"})
    version = add_checkins(dataset)
    with override_settings(MAX_EPSILON=1000):
        release = lifecycle.request_release(analyst, dataset, ask(mechanism="laplace", epsilon="1000"))
        carry_out(release.pk)
    heatmap = lifecycle.heatmap_of(release)
    truth = masses.read(dataset, version, level=4, unit=2**20)
    seen = dict(zip(heatmap.prefixes.tolist(), heatmap.values.tolist(), strict=True))
    found = [seen.get(cell, 0) for cell in truth.cells.tolist()]
    np.testing.assert_allclose(found, truth.masses / 2**20, atol=0.05)


def test_it_draws_once_however_often_it_is_called(dataset, release, draws):
    for _ in range(3):
        carry_out(release.pk)
    assert len(draws) == 1
    assert dataset.events.filter(kind="spend").count() == 1


def test_it_does_nothing_for_an_unknown_id(db):
    carry_out(uuid.uuid4())


def test_it_draws_nothing_when_another_worker_spent_first(release, draws):
    with mock.patch.object(transitions, "spend", return_value=False):
        carry_out(release.pk)
    assert not draws


def test_it_reads_the_version_that_was_reserved(dataset, release, add_checkins, draws):
    add_checkins(dataset, seed=2)
    carry_out(release.pk)
    unit = draws[0].unit
    assert draws[0].masses.sum() == pytest.approx(40 * unit, rel=1e-5)
    assert (draws[0].masses == masses.read(dataset, release.version, level=4, unit=unit).masses).all()


@pytest.mark.django_db(transaction=True)
def test_it_holds_no_transaction_while_it_reads_and_draws(release):
    held = []
    real_read, real_draw = masses.read, SparseEmd.release

    def read(*args, **options):
        held.append(("read", connection.in_atomic_block, state(release)))
        return real_read(*args, **options)

    def draw(*args):
        held.append(("draw", connection.in_atomic_block, state(release)))
        return real_draw(*args)

    with mock.patch.object(masses, "read", read), mock.patch.object(SparseEmd, "release", draw):
        carry_out(release.pk)
    assert held == [("read", False, "spent"), ("draw", False, "spent")]
    assert state(release) == "published"


@pytest.mark.django_db(transaction=True)
def test_it_spends_in_a_transaction_of_its_own_or_not_at_all(release):
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        carry_out(release.pk)
    assert state(release) == "reserved"


@pytest.mark.parametrize("place", ["read", "draw"])
def test_it_keeps_the_charge_of_a_failure_and_says_nothing_about_it(dataset, release, caplog, place):
    secret = ZeroDivisionError("person 4711 was in cell 12")
    where = (masses, "read") if place == "read" else (SparseEmd, "release")
    with mock.patch.object(*where, side_effect=secret), caplog.at_level(logging.DEBUG):
        carry_out(release.pk)
    assert (state(release), release.public_state) == ("failed", "no_result")
    assert committed(dataset) == ONE // 2
    assert not Result.objects.exists()
    assert "release.no_result" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "person 4711" not in caplog.text  # the number alone may be part of a name that was drawn
    assert "Traceback" not in caplog.text
    assert verify(dataset).ok


def test_it_asks_again_with_a_new_charge_after_a_failure(dataset, release, analyst, ask):
    with mock.patch.object(masses, "read", side_effect=MemoryError):
        carry_out(release.pk)
    again = lifecycle.request_release(analyst, dataset, ask())
    carry_out(again.pk)
    assert (state(again), committed(dataset)) == ("published", ONE)


def test_it_throws_a_late_draw_away(dataset, release):
    """A worker that was declared dead wakes up and wants to publish."""
    real = masses.read

    def slow(*args, **options):
        Drawing.objects.filter(pk=release.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        sweep.sweep()
        return real(*args, **options)

    with mock.patch.object(masses, "read", slow):
        carry_out(release.pk)
    assert state(release) == "failed"
    assert not Result.objects.exists()
    assert dataset.events.filter(kind="fail").count() == 1
    with pytest.raises(drawings.GivenUp):
        drawings.finish(release.pk, b"", "")
    with pytest.raises(IllegalTransition):
        transitions.publish(release.pk)
    assert verify(dataset).ok


def reserved_by_another_program(release):
    """Before this one was started."""
    Release.objects.filter(pk=release.pk).update(requested_at=clock._STARTED_AT - timedelta(seconds=1))


@pytest.mark.unguarded
def test_it_gives_the_charge_back_when_the_program_keeps_another_promise_by_now(dataset, release, draws):
    twice = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=1)
    reserved_by_another_program(release)
    with mock.patch.object(SparseEmd, "guarantee", twice):
        carry_out(release.pk)
    assert (state(release), committed(dataset)) == ("cancelled", 0)
    assert not draws


@pytest.mark.unguarded
def test_it_gives_the_charge_back_when_the_mechanism_is_gone(dataset, analyst, ask, monkeypatch):
    release = lifecycle.request_release(analyst, dataset, ask(mechanism="laplace"))
    rest = tuple(entry for entry in catalogue.entries() if entry.name != "laplace")
    monkeypatch.setattr("mechanisms.catalogue.registry._ENTRIES", rest)
    reserved_by_another_program(release)
    carry_out(release.pk)
    assert (state(release), committed(dataset)) == ("cancelled", 0)


@pytest.mark.unguarded
def test_it_finds_a_stored_map_that_was_changed(release):
    carry_out(release.pk)
    Result.objects.update(content=b"x")
    with pytest.raises(ValueError, match="not the one that was published"):
        lifecycle.heatmap_of(release)


def drawing(release):
    return Drawing.objects.get(pk=release.pk).state


def past():
    return timezone.now() - timedelta(seconds=1)


def test_the_sweep_sends_spent_releases_again_that_nobody_draws(
    dataset, analyst, ask, sent, django_capture_on_commit_callbacks
):
    queued = [lifecycle.request_release(analyst, dataset, ask()) for _ in range(2)]
    carry_out(queued[0].pk)
    transitions.spend(queued[1].pk)
    sent.clear()
    with django_capture_on_commit_callbacks(execute=True):
        sweep.sweep()
    assert sent == [("heatmaps.release", str(queued[1].pk))]
    drawings.claim(queued[1])
    sent.clear()
    with django_capture_on_commit_callbacks(execute=True):
        sweep.sweep()
    assert not sent


def test_one_that_was_put_off_is_told_once_it_was_drawn(release, monkeypatch):
    """As when a test moves the releases of several datasets, on a machine that is busy."""
    now = [timezone.now()]
    sleep = lambda seconds: now.append(now[-1] + timedelta(seconds=seconds))  # noqa: E731
    monkeypatch.setattr(timezone, "now", lambda: now[-1])
    monkeypatch.setattr("tests.services.draws.time", SimpleNamespace(sleep=sleep, monotonic=lambda: 0.0))
    transitions.spend(release.pk)
    sleep(0.5)
    clock.tick()
    assert Release.objects.get().visible_at > now[-1]
    carry_out(release.pk)
    assert state(release) == "published"


def test_the_clock_cancels_what_expired(dataset, release):
    Release.objects.update(expires_at=past())
    clock.tick()
    assert (state(release), committed(dataset)) == ("cancelled", 0)
    assert dataset.events.latest("sequence").actor is None


def test_the_sweep_fails_what_a_worker_lost(dataset, release):
    transitions.spend(release.pk)
    drawings.claim(release)
    sweep.sweep()
    assert drawing(release) == "running"
    Drawing.objects.update(lease_until=past())
    sweep.sweep()
    assert drawing(release) == "failed"
    clock.tick()
    assert (state(release), committed(dataset)) == ("failed", ONE // 2)


def test_the_sweep_looks_after_uploads_too(
    dataset, steward, sent, settings, django_capture_on_commit_callbacks
):
    upload = Upload.objects.create(
        dataset=dataset,
        state=UploadState.RECEIVED,
        uploaded_by=steward,
        file_name="x.csv",
        size_bytes=1,
        content_digest="0" * 64,
    )
    with django_capture_on_commit_callbacks(execute=True):
        sweep.sweep()
    assert ("heatmaps.ingest", str(upload.pk)) in sent


def test_a_start_of_the_only_worker_fails_what_it_was_drawing_before(dataset, release, analyst, ask):
    transitions.spend(release.pk)
    drawings.claim(release)
    other = lifecycle.request_release(analyst, dataset, ask())
    sweep.recover()
    transitions.fail(release.pk)
    assert (state(release), state(other)) == ("failed", "reserved")
    assert committed(dataset) == ONE
