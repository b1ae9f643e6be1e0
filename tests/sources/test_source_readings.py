"""Readings of lakes: read again for the same charge, drawn from once, told at public moments."""

from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pytest

from heatmaps.broker import queue
from heatmaps.ledger.errors import SourceChanged
from heatmaps.ledger.verification import verify
from heatmaps.models import Drawing, Release, SourceReading
from heatmaps.releases import clock as moments
from heatmaps.releases import lifecycle, source_readings, sweep
from heatmaps.sources.engine import QuestionFailed
from heatmaps.sources.sources_file import SourcesFileError
from mechanisms.check import ParameterError
from tests.services import seed
from tests.sources.moments import INSTANT, REQUEST, SLOT, committed, drawing_of, public_state, state_of

pytestmark = pytest.mark.django_db(transaction=True)


# --- releases -----------------------------------------------------------------------------------------


def test_a_release_is_read_drawn_and_told_at_its_moment(spent, reading, clock):
    asked = len(reading.asked)
    lifecycle.run(spent.pk)
    lifecycle.run(spent.pk)
    assert len(reading.asked) == asked + 1
    assert drawing_of(spent).state == "drawn"
    clock(spent.visible_at - INSTANT)
    moments.tick()
    assert state_of(spent) == "spent"
    assert public_state(spent, clock) == "published"
    assert lifecycle.heatmap_of(spent) is not None
    verify(spent.dataset)


def test_a_spark_that_dies_is_asked_again_for_the_same_charge(spent, reading, clock, sent):
    charge = committed(spent.dataset)

    def die(_question):
        reading.during = lambda _: None
        raise QuestionFailed("SparkConnectGrpcException")

    reading.during = die
    lifecycle.run(spent.pk)
    assert not Drawing.objects.exists()
    sent.clear()
    sweep.sweep()
    assert sent == []
    clock(source_readings.PAUSE + INSTANT)
    sweep.sweep()
    assert sent == [(queue.SOURCE_RELEASE, str(spent.pk))]
    lifecycle.run(spent.pk)
    assert public_state(spent, clock) == "published"
    assert committed(spent.dataset) == charge
    kinds = list(spent.dataset.events.values_list("kind", flat=True))
    assert (kinds.count("spend"), kinds.count("publish")) == (1, 1)


def test_a_store_that_does_not_answer_is_asked_again_for_the_same_charge(spent, clock, monkeypatch):
    """A file that cannot be seen is not one that changed."""
    with monkeypatch.context() as patch:
        patch.setattr("heatmaps.sources.manifest._footer", unavailable)
        lifecycle.run(spent.pk)
    assert not Drawing.objects.exists()
    clock(source_readings.LONG_PAUSE + INSTANT)
    lifecycle.run(spent.pk)
    assert public_state(spent, clock) == "published"


def test_a_folder_that_is_not_mounted_is_waited_for(spent, lake, clock):
    """It is not there, with all that is in it: nothing was changed."""
    away = lake.checkins.rename(lake.root / "unmounted")
    lifecycle.run(spent.pk)
    assert not Drawing.objects.exists()
    away.rename(lake.checkins)
    clock(source_readings.LONG_PAUSE + INSTANT)
    lifecycle.run(spent.pk)
    assert public_state(spent, clock) == "published"


# --- what the administrator's file says -----------------------------------------------------------------


def renamed(lake):
    lake.sources_file.write_text(lake.sources_file.read_text().replace('"trips"', '"walks"'))


def broken(lake):
    lake.sources_file.write_text("not TOML")


@pytest.mark.parametrize("spoilt", [renamed, broken])
def test_nothing_is_asked_for_or_spent_where_the_file_does_not_name_it(reserved, lake, clock, sent, spoilt):
    dataset = reserved.dataset
    spoilt(lake)
    with pytest.raises(SourcesFileError):
        lifecycle.request_release(reserved.requested_by, dataset, replace(REQUEST, epsilon="0.4"))
    assert Release.objects.count() == 1
    clock(reserved.starts_at)
    moments.tick()
    assert state_of(reserved) == "cancelled"
    assert committed(dataset) == 0
    assert (queue.SOURCE_RELEASE, str(reserved.pk)) not in sent
    verify(dataset)


def unavailable(_path):
    raise OSError("When reading information for key 'unmistakable': HTTP status 503")


def test_a_spark_that_never_answers_leaves_no_result(spent, reading, clock):
    def die(_question):
        raise QuestionFailed("SparkConnectGrpcException")

    reading.during, asked = die, len(reading.asked)
    for _ in range(source_readings.MOST_ATTEMPTS + 1):
        lifecycle.run(spent.pk)
        clock(source_readings.PAUSE + INSTANT)
    assert len(reading.asked) == asked + source_readings.MOST_ATTEMPTS
    assert public_state(spent, clock) == "failed"


@pytest.mark.parametrize("during", [False, True])
def test_files_that_change_after_the_spend_end_the_release_and_the_charge_stays(
    spent, reading, clock, lake, during
):
    charge = committed(spent.dataset)
    if during:
        reading.during = lambda _question: lake.put_opt_outs(["a"])
    else:
        lake.put_opt_outs(["a"])
    lifecycle.run(spent.pk)
    assert drawing_of(spent).state == "failed"
    assert public_state(spent, clock) == "failed"
    assert committed(spent.dataset) == charge > 0


@pytest.mark.parametrize(
    "answer",
    [
        {"mass": pa.array([-1])},
        {"mass": pa.array([0])},
        {"mass": pa.array([None], pa.int64())},
        {"mass": pa.array([1.5])},
        {"mass": pa.array(["7654321"])},
        {"mass": pa.array([2**62])},
        {"cell_row": pa.array([16])},
        {"cell_column": pa.array([-1])},
        {"cell_row": pa.array([3, 3])},
    ],
    ids=["negative", "zero", "none", "fraction", "text", "too_many", "north", "west", "twice"],
)
def test_what_is_no_sum_is_never_drawn_from(spent, reading, clock, monkeypatch, answer):
    """Of a Spark that answers nonsense nothing is released, and the charge stays."""
    charge = committed(spent.dataset)
    count = max(len(column) for column in answer.values())
    table = {name: pa.array([1] * count) for name in ("cell_row", "cell_column", "mass")} | answer
    monkeypatch.setattr(reading, "ask", lambda _question: pa.table(table))
    for _ in range(source_readings.MOST_ATTEMPTS):
        lifecycle.run(spent.pk)
        clock(source_readings.PAUSE + INSTANT)
    assert drawing_of(spent).state == "failed"
    assert public_state(spent, clock) == "failed"
    assert committed(spent.dataset) == charge


def test_a_release_without_any_mass_is_published(spent, reading, clock):
    reading.masses = []
    lifecycle.run(spent.pk)
    assert public_state(spent, clock) == "published"


def test_who_comes_back_late_with_masses_does_not_draw(spent, reading, clock):
    def late(_question):
        reading.during = lambda _: None
        SourceReading.objects.update(lease_until=clock(timedelta(0)) - INSTANT)
        lifecycle.run(spent.pk)

    reading.during = late
    lifecycle.run(spent.pk)
    drawing = drawing_of(spent)
    assert drawing.state == "drawn"
    lifecycle.run(spent.pk)
    assert drawing_of(spent).sha256 == drawing.sha256
    assert public_state(spent, clock) == "published"


# --- before the spend ---------------------------------------------------------------------------------


def test_a_question_about_files_that_changed_is_refused_before_it_is_charged(steward, make_surveyed, lake):
    dataset = make_surveyed()
    lake.put_opt_outs(["a"])
    with pytest.raises(SourceChanged):
        lifecycle.request_release(steward, dataset, REQUEST)
    assert not Release.objects.exists()
    (lake.opt_outs / "part-0.parquet").unlink()
    with pytest.raises(SourceChanged):
        lifecycle.request_release(steward, dataset, REQUEST)


def test_no_period_is_asked_of_a_table_without_times(steward, make_surveyed, lake):
    """Its map would be empty, and paid for."""
    del lake.columns["time"]
    lake.write()
    dataset = make_surveyed()
    for period in ({"since": "2026-01-01T00:00:00Z"}, {"until": "2026-01-01T00:00:00Z"}):
        with pytest.raises(ParameterError, match="no times"):
            lifecycle.request_release(steward, dataset, replace(REQUEST, **period))
    assert lifecycle.request_release(steward, dataset, REQUEST).state == "reserved"


def test_files_that_change_in_the_queue_give_the_charge_back(reserved, lake, clock, sent):
    assert committed(reserved.dataset) > 0
    lake.put_opt_outs(["a"])
    sent.clear()
    clock(reserved.starts_at)
    moments.tick()
    assert state_of(reserved) == "cancelled"
    assert sent == []
    assert committed(reserved.dataset) == 0
    verify(reserved.dataset)


def test_lakes_have_places_of_their_own(make_surveyed, steward, settings, clock):
    settings.SOURCE_PLACES = 1
    settings.DRAW_PLACES = dict.fromkeys(settings.DRAW_PLACES, 1)
    first, second = make_surveyed("first"), make_surveyed("second")
    stored = seed.make_dataset(steward, "stored")
    seed.add_checkins(stored)
    releases = [lifecycle.request_release(steward, each, REQUEST) for each in (first, second, stored)]
    clock(max(each.starts_at for each in releases))
    moments.tick()
    assert [state_of(each) for each in releases] == ["spent", "reserved", "spent"]
    lifecycle.run(releases[0].pk)
    moments.tick()
    assert state_of(releases[1]) == "reserved"  # done, and not told yet
    assert public_state(releases[0], clock) == "published"
    moments.tick()
    assert state_of(releases[1]) == "spent"


# --- moments ------------------------------------------------------------------------------------------


def test_a_release_that_nobody_reads_is_put_off(spent, clock):
    visible_at = spent.visible_at
    assert public_state(spent, clock) == "spent"
    assert spent.visible_at == visible_at + SLOT
    spent.dataset.refresh_from_db()
    assert spent.dataset.slot_doublings == 0


def test_a_lake_that_takes_longer_than_its_slot_doubles_the_next(spent, clock):
    visible_at = spent.visible_at
    assert source_readings.begin(spent.pk) is not None
    assert public_state(spent, clock) == "spent"
    assert spent.visible_at == visible_at + 2 * SLOT
    spent.dataset.refresh_from_db()
    assert spent.dataset.slot_doublings == 1


def test_a_lake_that_is_asked_late_is_told_at_the_end_of_the_next_slot(spent, clock):
    visible_at = spent.visible_at
    clock(visible_at - SLOT / 2 + INSTANT)
    tag = source_readings.begin(spent.pk)
    clock(timedelta(seconds=5))
    assert source_readings.claim(spent, tag)
    source = drawing_of(spent)
    assert visible_at - source.claimed_at < SLOT / 2
    assert public_state(spent, clock) == "spent"
    assert spent.visible_at > visible_at
    spent.dataset.refresh_from_db()
    assert spent.dataset.slot_doublings == 0


def test_reading_again_does_not_count_as_having_begun_late(spent, clock):
    """How long reading takes depends on the data: the first attempt tells when the draw began."""
    assert source_readings.begin(spent.pk) is not None
    clock(spent.visible_at - timedelta(seconds=30))
    lifecycle.run(spent.pk)
    assert drawing_of(spent).state == "drawn"
    assert public_state(spent, clock) == "published"


def test_an_analyst_sees_a_reading_as_queued(spent):
    before = Release.objects.values().get(pk=spent.pk)
    source_readings.begin(spent.pk)
    assert Release.objects.values().get(pk=spent.pk) == before


def test_a_published_answer_is_given_again_whatever_became_of_the_files(spent, reading, clock, steward, lake):
    """Else it tells free of charge, as often as somebody asks, when the lake was written to."""
    lifecycle.run(spent.pk)
    assert public_state(spent, clock) == "published"
    lake.put_opt_outs(["a"])
    assert lifecycle.request_release(steward, spent.dataset, REQUEST) == spent
