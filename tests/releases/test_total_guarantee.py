"""What all releases of a dataset promise together is the plain sum of theirs, and read by one query."""

from datetime import timedelta
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.transitions import Unknown
from heatmaps.ledger.verification import verify
from heatmaps.models import AccountKind, Release
from heatmaps.queries import total_guarantee
from heatmaps.releases import lifecycle
from heatmaps.wording.release import for_dataset
from mechanisms.guarantee import INFINITY, Guarantee, Relation
from tests.services.draws import carry_out


@pytest.fixture
def reserve(analyst, ask, settings):
    """Releases that can be cancelled for a minute."""
    settings.START_SECONDS = 60

    def make(dataset, epsilon, **changes):
        return lifecycle.request_release(analyst, dataset, ask(epsilon=epsilon, **changes))

    return make


def loss(dataset):
    return total_guarantee(dataset).loss(INFINITY)


def test_it_adds_up_what_is_not_cancelled_from_the_moment_it_is_reserved(dataset, analyst, reserve):
    assert total_guarantee(dataset) == Guarantee(relation=Relation.ADD_REMOVE)
    first, second = reserve(dataset, "0.25"), reserve(dataset, "0.25", resolution=32)
    third = reserve(dataset, "0.125")
    assert loss(dataset) == Fraction("0.625")
    assert len(total_guarantee(dataset).terms) == 1
    lifecycle.cancel(analyst, second)
    assert loss(dataset) == Fraction("0.375")
    for release in (first, third):
        carry_out(release.pk)
        assert loss(dataset) == Fraction("0.375")


@pytest.mark.unguarded
def test_no_state_but_cancelled_changes_it(dataset, reserve):
    """What is drawn, and whether it failed, nobody learns by a total."""
    release = reserve(dataset, "0.25")
    totals = []
    for state in ("reserved", "spent", "published", "failed", "cancelled"):
        Release.objects.filter(pk=release.pk).update(state=state)
        totals.append(total_guarantee(dataset))
    assert len(set(totals[:-1])) == 1
    assert totals[-1].loss(INFINITY) == 0


def test_what_was_charged_after_a_restore_counts_at_any_distance(make_dataset, add_checkins, reserve):
    limits = {"record": "90", "radius": "30"}
    panel = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits=limits)
    add_checkins(panel)
    reserve(panel, "0.5")
    before = total_guarantee(panel)
    charges = {AccountKind.RECORD: 3 * 10**12, AccountKind.RADIUS: 10**12, AccountKind.DELTA: 10**12}
    for _ in range(2):
        transitions.restore(panel, Unknown(charges=charges, other_copy="gone", reason="the disk broke"))

    total = total_guarantee(panel)

    assert total.loss(1) == before.loss(1) + 6
    assert total.delta == before.delta + Fraction(2, 10**6)


@pytest.mark.unguarded
def test_it_takes_as_many_queries_however_many_releases_there_are(dataset, reserve):
    release = reserve(dataset, "0.25")
    few = queries_of(dataset)
    rows = []
    for number in range(20):
        row = Release.objects.get(pk=release.pk)
        row.pk, row._state.adding = None, True
        row.id = Release._meta.get_field("id").get_default()
        row.guarantee = Guarantee.flat(relation="add_remove", epsilon=Fraction(1, 10 + number)).to_json()
        row.requested_at = timezone.now() + timedelta(seconds=number)
        rows.append(row)
    Release.objects.bulk_create(rows)

    assert queries_of(dataset) == few
    assert loss(dataset) == Fraction(1, 4) + sum(Fraction(1, 10 + number) for number in range(20))
    assert len(total_guarantee(dataset).terms) == 1
    assert "all releases of this dataset so far together" in " ".join(for_dataset(dataset))


@pytest.mark.unguarded
def test_nothing_is_kept_that_could_differ_from_the_ledger(dataset, reserve):
    """Whoever changes what a total is made of changes a release, and is found."""
    release = reserve(dataset, "0.25")
    loss(dataset)
    assert verify(dataset).ok
    small = Guarantee.flat(relation="add_remove", epsilon=Fraction(1, 100)).to_json()
    Release.objects.filter(pk=release.pk).update(guarantee=small)

    assert loss(dataset) == Fraction(1, 100)
    assert "its question was changed" in verify(dataset).problem


def queries_of(dataset):
    with CaptureQueriesContext(connection) as captured:
        total_guarantee(dataset)
    return len(captured)
