"""Large releases: shares of the persons, read by whoever comes, drawn once. PostgreSQL only."""

from datetime import timedelta
from importlib import import_module
from threading import Event, Thread
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from heatmaps import masses, queue, releases, shards
from heatmaps.ledger.verification import verify
from heatmaps.models import FanOut, Release, Shard, ShardPiece, Upload
from mechanisms.central.exponential import Exponential
from mechanisms.central.sparse_emd import SparseEmd
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.programs import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SHARDS = 4


@pytest.fixture(autouse=True)
def only_on_postgresql():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is read by one process; tests/services runs this file on PostgreSQL")


@pytest.fixture(autouse=True)
def small_shards(settings):
    settings.ROWS_PER_SHARD = 3 * seed.PERSONS // SHARDS


@pytest.fixture
def dataset(make_dataset, add_checkins):
    made = make_dataset()
    add_checkins(made)
    Upload.objects.update(rows_accepted=3 * seed.PERSONS)
    return made


@pytest.fixture
def draws(monkeypatch):
    """What each draw was given."""
    seen, draw = [], SparseEmd.release

    def noted(mechanism, read, rng):
        seen.append(read)
        return draw(mechanism, read, rng)

    monkeypatch.setattr(SparseEmd, "release", noted)
    return seen


@pytest.fixture
def release(analyst, dataset, ask):
    made = releases.request_release(analyst, dataset, ask())
    releases.run(made.pk)
    return made


def state(release):
    return Release.objects.get(pk=release.pk).state


def waiting(sent):
    """Shards that workers were told of, in order; the messages are taken."""
    found = [UUID(shard) for name, shard in sent if name == queue.SHARD]
    sent.clear()
    return found


def lease_over():
    Shard.objects.filter(state="claimed").update(lease_until=timezone.now() - timedelta(seconds=1))
    Release.objects.filter(state="spent").update(lease_until=timezone.now() - timedelta(seconds=1))


def test_it_draws_once_from_all_shares(release, sent, draws):
    told = waiting(sent)
    assert len(told) == SHARDS
    assert state(release) == "spent"
    assert draws == []
    for shard in told[::-1]:
        releases.read_shard(shard)
    assert state(release) == "published"
    truth = masses.read(release.dataset, release.version, level=4, unit=draws[0].unit)
    assert len(draws) == 1
    assert (draws[0].cells == truth.cells).all()
    assert (draws[0].masses == truth.masses).all()
    assert not FanOut.objects.exists()
    assert not Shard.objects.exists()
    assert verify(release.dataset).problem == ""


def parts_besides(claim):
    return sorted(b"".join(part) for part in shards.parts_besides(claim))


def test_nothing_is_drawn_where_a_share_is_missing(release, sent, draws):
    told = waiting(sent)
    for shard in told[:-1]:
        releases.read_shard(shard)
    ShardPiece.objects.filter(shard=told[0]).delete()
    releases.read_shard(told[-1])
    assert state(release) == "failed"
    assert draws == []


def test_what_the_elected_worker_read_is_not_stored_and_counts_once(release, sent):
    told = waiting(sent)
    claims = [shards.claim(shard) for shard in told]
    finished = [claim.finish([b"part", b" %d" % place]) for place, claim in enumerate(claims)]
    assert finished == [False] * (SHARDS - 1) + [True]
    last = Shard.objects.get(pk=told[-1])
    assert (last.state, last.pieces.count()) == ("done", 0)
    others = [b"part %d" % place for place in range(SHARDS - 1)]
    assert parts_besides(claims[-1]) == others


@pytest.mark.parametrize("dies", [False, True])
def test_who_comes_while_another_stores_waits_to_learn_whether_it_is_the_last(
    release, sent, monkeypatch, dies
):
    claims = {f"part {place}".encode(): shards.claim(told) for place, told in enumerate(waiting(sent))}
    *first, one, other = claims
    assert [claims[part].finish([part]) for part in first] == [False] * (SHARDS - 2)
    store, elected, storing, goes_on = shards._store, {}, Event(), Event()

    def stored(shard_id, part):
        if part == [one]:
            storing.set()
            goes_on.wait(30)
            if dies:
                raise RuntimeError("killed")
        store(shard_id, part)

    def finish(part):
        try:
            elected[part] = claims[part].finish([part])
        except RuntimeError:
            pass
        finally:
            connection.close()

    monkeypatch.setattr(shards, "_store", stored)
    threads = [Thread(target=finish, args=[part], daemon=True) for part in (one, other)]
    threads[0].start()
    assert storing.wait(30)
    threads[1].start()
    wait_until(somebody_waits, seconds=30, what="the wait for a lock")
    goes_on.set()
    for thread in threads:
        thread.join(60)
    if dies:
        assert elected == {other: False}
        assert FanOut.objects.get().left == 1
    else:
        assert elected == {one: False, other: True}
        assert FanOut.objects.get().left == 0
        assert parts_besides(claims[other]) == sorted(set(claims) - {other})


def somebody_waits():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0] > 0


def test_an_upgrade_while_shares_are_read_has_them_read_again(release, sent, draws):
    """Their partial sums went with the column they were in; whoever was elected is left alone."""
    told = waiting(sent)
    for shard in told[:-1]:
        releases.read_shard(shard)
    upgrade = import_module("heatmaps.migrations.0018_shard_pieces").read_again
    ShardPiece.objects.all().delete()
    upgrade(apps, None)
    assert FanOut.objects.get().left == SHARDS
    for shard in told:
        releases.read_shard(shard)
    assert state(release) == "published"
    assert len(draws) == 1


def test_messages_sent_again_change_nothing(release, sent, draws):
    told = waiting(sent)
    for shard in [told[0], *told, *told]:
        releases.read_shard(shard)
    releases.run(release.pk)
    assert state(release) == "published"
    assert len(draws) == 1


def test_a_small_release_is_not_spread(analyst, dataset, ask, *, sent, draws, settings):
    settings.ROWS_PER_SHARD = 3 * seed.PERSONS
    made = releases.request_release(analyst, dataset, ask())
    releases.run(made.pk)
    assert waiting(sent) == []
    assert state(made) == "published"
    assert len(draws) == 1


@pytest.mark.parametrize(("checkins", "count"), [(5, 5), (64, 64), (65, 128), (129, 192)])
def test_many_shards_are_equal_parts_of_slots(dataset, release, settings, checkins, count):
    settings.ROWS_PER_SHARD = 1
    Upload.objects.update(rows_accepted=checkins)
    assert shards.wanted(release) == count
    masses.Share(count - 1, count)  # which refuses what slots cannot be shared out in


def test_a_shard_whose_worker_died_is_read_again(release, sent, draws):
    told = waiting(sent)
    for shard in told[1:]:
        releases.read_shard(shard)
    dead = shards.claim(told[0])
    assert shards.claim(told[0]) is None  # held
    releases.sweep()
    assert waiting(sent) == []
    lease_over()

    releases.sweep()

    assert state(release) == "spent"
    again = waiting(sent)
    assert again == told[:1]
    releases.read_shard(*again)
    assert state(release) == "published"
    assert not dead.finish([b""])
    assert len(draws) == 1


def test_who_lost_a_shard_stores_nothing(release, sent):
    told = waiting(sent)
    slow = shards.claim(told[0])
    lease_over()
    fast = shards.claim(told[0])
    assert not slow.finish([b"slow"])
    slow.give_back()
    assert not fast.finish([b"fa", b"st"])  # there are others left
    shard = Shard.objects.get(pk=told[0])
    pieces = shard.pieces.order_by("number").values_list("content", flat=True)
    assert (shard.state, b"".join(pieces)) == ("done", b"fast")
    assert FanOut.objects.get().left == SHARDS - 1


def test_a_lost_message_is_sent_again(release, sent, draws):
    told = waiting(sent)
    lease_over()
    releases.sweep()
    assert sorted(waiting(sent)) == sorted(told)
    assert state(release) == "spent"


def test_a_shard_that_kills_its_workers_ends_the_release(release, sent, draws):
    told = waiting(sent)
    for _ in range(shards.MOST_ATTEMPTS):
        assert shards.claim(told[0]) is not None
        lease_over()
    assert shards.claim(told[0]) is None
    releases.sweep()
    releases.sweep()
    assert state(release) == "failed"
    assert not FanOut.objects.exists()
    assert draws == []
    assert release.dataset.accounts.get(kind="presence").committed == 10**12 // 2


def test_errors_while_reading_are_tried_again_then_end_it(release, sent, monkeypatch, caplog):
    told = waiting(sent)

    def fails(*_args, **_options):
        raise ZeroDivisionError("4711")

    monkeypatch.setattr(masses, "read", fails)
    for attempt in range(shards.MOST_ATTEMPTS):
        assert state(release) == "spent", attempt
        releases.read_shard(told[0])
    assert state(release) == "failed"
    assert not Shard.objects.exists()
    assert "4711" not in caplog.text
    for shard in told:
        releases.read_shard(shard)  # nothing is left to do


def test_a_dead_draw_is_never_made_again(release, sent, draws, monkeypatch):
    """Elected, then dead: as any release whose worker died after the spend."""
    told = waiting(sent)
    monkeypatch.setattr(releases, "_finish", lambda *_args: None)
    for shard in told:
        releases.read_shard(shard)
    assert FanOut.objects.get().elected
    monkeypatch.undo()
    lease_over()
    releases.sweep()
    for shard in told:
        releases.read_shard(shard)
    releases.sweep()
    assert state(release) == "failed"
    assert draws == []
    assert not FanOut.objects.exists()


def test_a_release_that_was_failed_meanwhile_is_not_drawn(release, sent, draws):
    told = waiting(sent)
    for shard in told[1:]:
        releases.read_shard(shard)
    releases._fail(release.pk)
    releases.read_shard(told[0])
    releases.sweep()
    assert state(release) == "failed"
    assert draws == []
    assert not FanOut.objects.exists()


def test_nobody_is_told_that_a_release_was_spread(release, sent):
    """States and events are those of any release that is being drawn; messages carry random names."""
    assert Release.objects.get(pk=release.pk).public_state == "queued"
    assert [event.kind for event in release.dataset.events.order_by("sequence")][-2:] == ["reserve", "spend"]
    numbers = {str(shard.pk) for shard in Shard.objects.all()}
    assert {message[1:] for message in sent if message[0] == queue.SHARD} == {(name,) for name in numbers}


def test_a_central_point_is_drawn_from_shares(analyst, make_dataset, add_checkins, *, sent, monkeypatch):
    panel = make_dataset("panel", Relation.REPLACE, limits={"record": None, "radius": "2"})
    version = add_checkins(panel)
    Upload.objects.update(rows_accepted=3 * seed.PERSONS)
    seen, draw = [], Exponential.release
    monkeypatch.setattr(
        Exponential, "release", lambda own, read, rng: (seen.append(read), draw(own, read, rng))[1]
    )
    request = releases.ReleaseRequest(mechanism="exponential", epsilon="0.5")
    made = releases.request_release(analyst, panel, request)
    releases.run(made.pk)
    told = waiting(sent)
    assert len(told) == SHARDS
    for shard in told:
        releases.read_shard(shard)
    assert state(made) == "published"
    truth = masses.read_means(panel, version, enrolled=50)
    assert [(read.persons, read.x, read.y) for read in seen] == [(50, truth.x, truth.y)]
