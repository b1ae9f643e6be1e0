"""Data versions of lakes: who looks at the tables, and that a version appears at its public moment alone."""

from datetime import timedelta

import pyarrow as pa
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps import sources
from heatmaps.broker import queue
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import scheduled, surveys
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger.verification import verify
from heatmaps.models import Enrolment, Ledger, Membership, SourceState, SourceSurvey
from heatmaps.releases import clock as moments
from heatmaps.sources.engine import QuestionFailed, ServerAway, ServerRefused
from mechanisms.guarantee import Relation

pytestmark = pytest.mark.django_db(transaction=True)

SLOT = timedelta(seconds=900)
INSTANT = timedelta(microseconds=1)


@pytest.fixture(autouse=True)
def slots(settings):
    settings.SOURCE_SLOT_SECONDS = SLOT.total_seconds()


@pytest.fixture
def dataset(reading, clock, make_dataset):
    return make_dataset()


def survey_of(dataset):
    return SourceSurvey.objects.get(pk=dataset.pk)


def failure_of(dataset):
    survey = survey_of(dataset)
    assert (survey.state, survey.lease_until) == ("failed", None)
    return survey.failure


def numbers(dataset):
    return list(dataset.versions.order_by("number").values_list("number", flat=True))


def test_a_version_appears_at_its_moment_and_not_before(steward, dataset, clock, sent):
    began = clock(timedelta(0))
    survey = surveys.advance_by(steward, dataset)
    assert survey.appears_at == began + SLOT
    assert sent == [(queue.SURVEY, str(dataset.pk))]
    surveys.run(dataset.pk)
    assert survey_of(dataset).state == "done"
    clock(survey.appears_at - INSTANT)
    moments.tick()
    assert numbers(dataset) == []
    clock(survey.appears_at)
    moments.tick()
    version = dataset.versions.get()
    assert (version.number, version.created_by, version.due_at) == (1, steward, None)
    assert not SourceSurvey.objects.exists()
    state = SourceState.objects.get(version=version)
    assert (state.rows, state.invalid["no_lon"]) == (2, 0)
    assert sources.tables_of(version).checkins.paths
    assert sources.is_as_pinned(version)
    moments.tick()
    assert numbers(dataset) == [1]
    verify(dataset)


def test_a_version_that_is_late_appears_a_slot_later(steward, dataset, clock):
    due = surveys.advance_by(steward, dataset).appears_at
    clock(due)
    moments.tick()
    assert survey_of(dataset).appears_at == due + SLOT
    clock(due + 3 * SLOT + INSTANT)  # the clock was away
    moments.tick()
    assert survey_of(dataset).appears_at == due + 4 * SLOT
    surveys.run(dataset.pk)
    moments.tick()
    assert numbers(dataset) == []
    clock(due + 4 * SLOT)
    moments.tick()
    assert numbers(dataset) == [1]


def test_one_survey_is_under_way_at_a_time(steward, dataset, reading, sent):
    surveys.advance_by(steward, dataset)
    for _ in range(2):
        with pytest.raises(UploadError) as refused:
            surveys.advance_by(steward, dataset)
        assert refused.value.code == "survey_under_way"
        surveys.run(dataset.pk)  # done, and not told yet: the same
    assert len(sent) == 1


def test_a_survey_is_a_stewards_act(dataset):
    stranger, analyst = User.objects.create_user("stranger"), User.objects.create_user("analyst")
    Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
    for person, refusal in ((stranger, Http404), (analyst, PermissionDenied)):
        with pytest.raises(refusal):
            surveys.advance_by(person, dataset)
    assert not SourceSurvey.objects.exists()


def test_who_looks_is_alone_until_the_lease_is_over(steward, dataset, reading, clock):
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk + 1)  # no such dataset
    seen = []

    def another(_question):
        seen.append(survey_of(dataset).attempts)
        surveys.run(dataset.pk)

    reading.during = another
    surveys.run(dataset.pk)
    assert (survey_of(dataset).state, seen) == ("done", [1])
    surveys.run(dataset.pk)
    assert len(reading.asked) == 1


def test_who_comes_back_after_the_lease_keeps_nothing(steward, dataset, reading, clock):
    surveys.advance_by(steward, dataset)
    states = []

    def hangs(_question):
        reading.during = lambda _: None
        clock(surveys.LEASE + INSTANT)
        SourceSurvey.objects.update(lease_until=clock(timedelta(0)) - INSTANT)
        surveys.run(dataset.pk)
        states.append(survey_of(dataset).found_id)

    reading.during = hangs
    surveys.run(dataset.pk)
    assert survey_of(dataset).attempts == 2
    assert [survey_of(dataset).found_id] == states
    assert SourceState.objects.count() == 1


def test_a_survey_that_dies_three_times_is_given_up(steward, dataset, reading, clock, sent):
    surveys.advance_by(steward, dataset)

    def die(_question):
        raise KeyboardInterrupt

    reading.during = die
    for attempt in range(surveys.MOST_ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            surveys.run(dataset.pk)
        assert (survey_of(dataset).state, survey_of(dataset).attempts) == ("waiting", attempt + 1)
        surveys.sweep()
        assert len(sent) == 1 + attempt  # its lease may be somebody's
        clock(surveys.LEASE + INSTANT)
        surveys.sweep()
        assert len(sent) == 2 + attempt
    surveys.run(dataset.pk)
    assert "interrupted again and again" in failure_of(dataset)


@pytest.mark.parametrize(
    "error", [QuestionFailed("AnalysisException"), ServerAway("SparkConnectGrpcException")]
)
def test_a_spark_that_does_not_answer_is_asked_again_after_a_pause(steward, dataset, reading, clock, error):
    surveys.advance_by(steward, dataset)

    def fail(_question):
        raise error

    reading.during = fail
    for _ in range(surveys.MOST_ATTEMPTS - 1):
        surveys.run(dataset.pk)
        surveys.run(dataset.pk)  # at once: nothing
        assert survey_of(dataset).state == "waiting"
        clock(surveys.PAUSE + INSTANT)
    surveys.run(dataset.pk)
    assert len(reading.asked) == surveys.MOST_ATTEMPTS
    assert failure_of(dataset) == f"Spark did not answer ({error}); is it running, and does it see the files?"
    clock(SLOT)
    moments.tick()
    assert numbers(dataset) == []


def test_what_is_wrong_with_the_tables_is_told_to_stewards(steward, dataset, reading, lake):
    def refusal(during=lambda _: None):
        reading.during = during
        surveys.advance_by(steward, dataset)
        surveys.run(dataset.pk)
        return failure_of(dataset)

    def raising(error):
        def fail(_question):
            raise error

        return fail

    assert refusal(raising(ServerRefused("the Spark server has x"))) == "the Spark server has x"
    assert "files of the table changed while" in refusal(lambda _: lake.put_opt_outs(["z"]))
    reading.missing = 1
    assert "Spark reads 1 check-ins and" in refusal()
    reading.missing = 0
    lake.put(pa.table({"user": ["a"]}), "part-1")
    assert "part-1.parquet has no column lat" in refusal()
    (lake.checkins / "part-1.parquet").unlink()
    (lake.opt_outs / "part-0.parquet").unlink()
    assert refusal() == "the table has no files"
    lake.put_opt_outs([])
    lake.time_zone = "Europe/Vienna"
    lake.write()
    assert "the source trips was changed since the dataset was made" in refusal()
    lake.sources_file.unlink()
    message = refusal()
    assert "administrator" in message
    assert "FileNotFoundError" not in message
    lake.time_zone = "UTC"
    lake.write()
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    assert survey_of(dataset).state == "done"
    assert SourceState.objects.count() == 1


def test_a_store_that_does_not_answer_is_asked_again_after_a_pause(steward, dataset, clock, monkeypatch):
    footer, looks = sources.manifest._footer, []

    def away_when_looked_at_again(path):
        looks.append(path)
        if len(looks) > 2:
            raise OSError(path)
        return footer(path)

    monkeypatch.setattr("heatmaps.sources.manifest._footer", away_when_looked_at_again)
    surveys.advance_by(steward, dataset)
    for _ in range(surveys.MOST_ATTEMPTS):
        assert survey_of(dataset).state == "waiting"
        looks.clear()
        surveys.run(dataset.pk)
        clock(surveys.PAUSE + INSTANT)
    assert failure_of(dataset) == "the store of the files did not answer; try again"


def test_users_who_are_numbers_in_the_opt_outs_alone_are_refused(steward, dataset, lake):
    """007 would be 7 there, and whoever is called so would be read."""
    lake.put_opt_outs(pa.table({"user": [7]}))
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    assert failure_of(dataset) == (
        "users are text in the check-ins and numbers in the opt-outs, where 007 is 7: write text in both"
    )


def test_trouble_with_one_dataset_does_not_hold_up_the_others(steward, dataset, reading, clock, make_dataset):
    other = make_dataset("other")
    for each in (dataset, other):
        surveys.advance_by(steward, each)
        surveys.run(each.pk)
    Ledger.objects.filter(dataset=dataset).delete()
    clock(SLOT)
    moments.tick()
    assert (numbers(dataset), numbers(other)) == ([], [1])


# --- declared persons ---------------------------------------------------------------------------------


@pytest.fixture
def declared(reading, clock, make_dataset):
    return make_dataset("declared", Relation.REPLACE, persons=3)


def next_version(steward, dataset, clock):
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    clock(SLOT)
    moments.tick()


def test_everybody_who_was_in_the_table_stays_enrolled(steward, declared, reading, clock):
    next_version(steward, declared, clock)
    reading.users = ["b", "c"]
    next_version(steward, declared, clock)
    assert numbers(declared) == [1, 2]
    assert Enrolment.objects.filter(dataset=declared).count() == 3
    assert "LIMIT 4" in reading.asked[-1]  # one more than may be there


def test_more_users_than_declared_are_refused_and_nobody_is_enrolled(steward, declared, reading, clock):
    reading.users = ["a", "b", "c", "d"]
    next_version(steward, declared, clock)
    assert "at least 4 different users, but 3 people were declared" in failure_of(declared)
    assert (Enrolment.objects.count(), SourceState.objects.count(), numbers(declared)) == (0, 0, [])
    reading.users = ["a", "b"]
    next_version(steward, declared, clock)
    reading.users = ["c", "d"]  # with those who left
    next_version(steward, declared, clock)
    assert "at least 4 different users" in failure_of(declared)
    assert (Enrolment.objects.count(), numbers(declared)) == (2, [1])


def test_whoever_loses_its_lease_while_it_enrols_leaves_nobody_enrolled(
    steward, declared, reading, clock, monkeypatch
):
    """The row is locked only after all are: the clock never waits for that."""
    enrol = surveys._enrol

    def enrol_slowly(*arguments):
        enrol(*arguments)
        assert Enrolment.objects.count() == 2
        survey_of(declared).delete()

    monkeypatch.setattr(surveys, "_enrol", enrol_slowly)
    next_version(steward, declared, clock)
    assert (Enrolment.objects.count(), SourceState.objects.count(), numbers(declared)) == (0, 0, [])


def test_nobody_is_asked_for_where_persons_are_secret(steward, dataset, reading):
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    assert len(reading.asked) == 1
    assert not Enrolment.objects.exists()


# --- schedules ----------------------------------------------------------------------------------------


def test_a_schedule_has_the_tables_looked_at(steward, reading, clock, make_dataset, sent):
    dataset = make_dataset("daily", schedule=Schedule(every="daily", hour=3))
    with pytest.raises(UploadError, match="public schedule"):
        surveys.advance_by(steward, dataset)
    due = dataset.next_version_at
    clock(due + timedelta(minutes=2))
    scheduled.sweep()
    survey = survey_of(dataset)
    assert (survey.due_at, survey.appears_at, survey.requested_by) == (due, due + SLOT, None)
    assert numbers(dataset) == []
    clock(due + timedelta(days=1, minutes=2))  # nobody looked yet: one version, not two
    scheduled.sweep()
    assert survey_of(dataset).due_at == due
    moments.tick()
    surveys.run(dataset.pk)
    clock(survey_of(dataset).appears_at)
    moments.tick()
    version = dataset.versions.get()
    assert (version.created_by, version.due_at) == (None, due)
    dataset.refresh_from_db()
    assert dataset.next_version_at == due + timedelta(days=2)


def test_a_failed_survey_is_followed_by_the_next_that_is_due(reading, clock, make_dataset, lake):
    dataset = make_dataset("daily", schedule=Schedule(every="daily", hour=3))
    (lake.opt_outs / "part-0.parquet").unlink()
    for day in range(2):
        due = dataset.next_version_at
        clock(due)
        scheduled.sweep()
        surveys.run(dataset.pk)
        if not day:
            assert failure_of(dataset) == "the table has no files"
            lake.put_opt_outs([])
        dataset.refresh_from_db()
    clock(due + SLOT)
    moments.tick()
    assert (numbers(dataset), dataset.versions.get().due_at) == ([1], due)
