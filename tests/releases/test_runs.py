"""The draw: after the spend, once, outside of transactions, and total about what goes wrong."""

import logging
import uuid
from datetime import timedelta
from unittest import mock

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import override_settings
from django.utils import timezone

from heatmaps import masses, releases
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.verification import verify
from heatmaps.models import Release, Result, Upload, UploadState
from mechanisms.central.sparse_emd import SparseEmd
from mechanisms.guarantee import Guarantee, Relation

ONE = 10**12


@pytest.fixture
def release(dataset, analyst, ask):
    return releases.request_release(analyst, dataset, ask())


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
    releases.run(release.pk)
    assert state(release) == "published"
    heatmap = releases.heatmap_of(release)
    assert heatmap.level == 4
    assert release.result.sha256 == heatmap.sha256
    assert len(draws) == 1
    assert draws[0].masses.sum() == pytest.approx(40 * draws[0].unit, rel=1e-5)
    assert verify(dataset).ok


def test_it_shows_where_people_are_when_there_is_hardly_any_noise(make_dataset, add_checkins, analyst, ask):
    dataset = make_dataset(limits={"presence": "1000"})
    version = add_checkins(dataset)
    with override_settings(MAX_EPSILON=1000):
        release = releases.request_release(analyst, dataset, ask(mechanism="laplace", epsilon="1000"))
    releases.run(release.pk)
    heatmap = releases.heatmap_of(release)
    truth = masses.read(dataset, version, level=4, unit=2**20)
    seen = dict(zip(heatmap.prefixes.tolist(), heatmap.values.tolist(), strict=True))
    found = [seen.get(cell, 0) for cell in truth.cells.tolist()]
    np.testing.assert_allclose(found, truth.masses / 2**20, atol=0.05)


def test_it_draws_once_however_often_it_is_called(dataset, release, draws):
    for _ in range(3):
        releases.run(release.pk)
    assert len(draws) == 1
    assert dataset.events.filter(kind="spend").count() == 1


def test_it_does_nothing_for_an_unknown_id(db):
    releases.run(uuid.uuid4())


def test_it_draws_nothing_when_another_worker_spent_first(release, draws):
    with mock.patch.object(transitions, "spend", return_value=False):
        releases.run(release.pk)
    assert not draws


def test_it_reads_the_version_that_was_reserved(dataset, release, add_checkins, draws):
    add_checkins(dataset, seed=2)
    releases.run(release.pk)
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
        releases.run(release.pk)
    assert held == [("read", False, "spent"), ("draw", False, "spent")]
    assert state(release) == "published"


@pytest.mark.django_db(transaction=True)
def test_it_spends_in_a_transaction_of_its_own_or_not_at_all(release):
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        releases.run(release.pk)
    assert state(release) == "reserved"


@pytest.mark.parametrize("place", ["read", "draw"])
def test_it_keeps_the_charge_of_a_failure_and_says_nothing_about_it(dataset, release, caplog, place):
    secret = ZeroDivisionError("person 4711 was in cell 12")
    where = (masses, "read") if place == "read" else (SparseEmd, "release")
    with mock.patch.object(*where, side_effect=secret), caplog.at_level(logging.DEBUG):
        releases.run(release.pk)
    assert (state(release), release.public_state) == ("failed", "no_result")
    assert committed(dataset) == ONE // 2
    assert not Result.objects.exists()
    assert "release.no_result" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "4711" not in caplog.text
    assert "Traceback" not in caplog.text
    assert verify(dataset).ok


def test_it_asks_again_with_a_new_charge_after_a_failure(dataset, release, analyst, ask):
    with mock.patch.object(masses, "read", side_effect=MemoryError):
        releases.run(release.pk)
    again = releases.request_release(analyst, dataset, ask())
    releases.run(again.pk)
    assert (state(again), committed(dataset)) == ("published", ONE)


def test_it_throws_a_late_draw_away(dataset, release):
    """A worker that was declared dead wakes up and wants to publish."""
    real = masses.read

    def slow(*args, **options):
        Release.objects.filter(pk=release.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        releases.sweep()
        return real(*args, **options)

    with mock.patch.object(masses, "read", slow):
        releases.run(release.pk)
    assert state(release) == "failed"
    assert not Result.objects.exists()
    assert dataset.events.filter(kind="fail").count() == 1
    with pytest.raises(IllegalTransition):
        transitions.publish(
            release.pk, b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
    assert verify(dataset).ok


def test_it_gives_the_charge_back_when_the_program_keeps_another_promise_by_now(dataset, release, draws):
    twice = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=1)
    with mock.patch.object(SparseEmd, "guarantee", twice):
        releases.run(release.pk)
    assert (state(release), committed(dataset)) == ("cancelled", 0)
    assert not draws


def test_it_gives_the_charge_back_when_the_mechanism_is_gone(dataset, analyst, ask, monkeypatch):
    release = releases.request_release(analyst, dataset, ask(mechanism="laplace"))
    rest = tuple(entry for entry in releases.quotes.catalogue.entries() if entry.name != "laplace")
    monkeypatch.setattr("mechanisms.catalogue._ENTRIES", rest)
    releases.run(release.pk)
    assert (state(release), committed(dataset)) == ("cancelled", 0)


def test_it_finds_a_stored_map_that_was_changed(release):
    releases.run(release.pk)
    Result.objects.update(content=b"x")
    with pytest.raises(ValueError, match="not the one that was published"):
        releases.heatmap_of(release)


def past():
    return timezone.now() - timedelta(seconds=1)


def test_the_sweep_sends_queued_releases_again(
    dataset, analyst, ask, sent, django_capture_on_commit_callbacks
):
    queued = [releases.request_release(analyst, dataset, ask()) for _ in range(2)]
    releases.run(queued[0].pk)
    sent.clear()
    with django_capture_on_commit_callbacks(execute=True):
        releases.sweep()
    assert sent == [("heatmaps.release", str(queued[1].pk))]


def test_the_sweep_cancels_what_expired(dataset, release):
    releases.sweep()
    assert state(release) == "reserved"
    Release.objects.update(expires_at=past())
    releases.sweep()
    assert (state(release), committed(dataset)) == ("cancelled", 0)
    assert dataset.events.latest("sequence").actor is None


def test_the_sweep_fails_what_a_worker_lost(dataset, release):
    transitions.spend(release.pk)
    releases.sweep()
    assert state(release) == "spent"
    Release.objects.update(lease_until=past())
    releases.sweep()
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
        releases.sweep()
    assert ("heatmaps.ingest", str(upload.pk)) in sent


def test_a_start_of_the_only_worker_fails_what_it_was_drawing_before(dataset, release, analyst, ask):
    transitions.spend(release.pk)
    other = releases.request_release(analyst, dataset, ask())
    releases.recover()
    assert (state(release), state(other)) == ("failed", "reserved")
    assert committed(dataset) == ONE
