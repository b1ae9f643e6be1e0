"""What is promised in metres, where data versions read different parts of a person's history.

One person has 100 check-ins, and one of them might have been 55 km farther north: a distance of 554 m, as
long as all of them are read. Once the other 99 are too old to be kept, it is the whole record.
"""

import math
from datetime import timedelta
from fractions import Fraction

import pytest

from heatmaps import masses
from heatmaps.ingest import opt_outs, uploads
from heatmaps.models import AccountKind
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.request import Plan
from mechanisms.records.means import PARTS
from tests.geodesics import geodesic_m
from tests.ingest.conftest import REGION, SQLITE, START, time_of

pytestmark = SQLITE
RADIUS_M = 554
SOUTH, NORTH = (41.2, 2.5), (41.699, 2.5)
APART_M = float(geodesic_m(*SOUTH, *NORTH))
QUESTION = ReleaseRequest(mechanism="emd-linear", epsilon="1")


@pytest.fixture
def history(make_dataset, upload, steward, clock):
    """A dataset that keeps check-ins for 30 days, and its versions: at once, and twenty days later."""

    def make(slug, rows, *, opted_out=None):
        clock.now = START
        dataset = make_dataset(slug, "replace", persons=2, radius_m=RADIUS_M, retention_days=30)
        upload(dataset, rows)
        versions = [uploads.advance(steward, dataset)]
        if opted_out:
            opt_outs.opt_out(steward, dataset, [opted_out])
        clock.now += timedelta(days=20)
        return dataset, [*versions, uploads.advance(steward, dataset)]

    return make


def row(place, *, days_ago, user="ann"):
    return (user, time_of(days_ago), *place)


def old(count):
    return [row((41.5, 2.2), days_ago=25) for _ in range(count)]


def losses(mechanism, one, other):
    """Exact, of each version: by how much the noise tells what is read of two histories apart."""
    found = []
    for version, also in zip(one[1], other[1], strict=True):
        read = [
            masses.read_means(dataset, at, enrolled=2)
            for dataset, at in ((one[0], version), (other[0], also))
        ]
        east_m = (read[1].x - read[0].x) / PARTS * REGION.width_m
        north_m = (read[1].y - read[0].y) / PARTS * REGION.height_m
        found.append(math.hypot(east_m, north_m) * 10**6 / float(mechanism.scale_um))
    return found


def test_the_largest_distance_of_all_versions_that_are_read_counts(history):
    one = history("one", [*old(99), row(SOUTH, days_ago=1)])
    other = history("other", [*old(99), row(NORTH, days_ago=1)])
    plan = Plan.of(one[0], QUESTION)
    guarantee, (first, second) = plan.guarantee, losses(plan.mechanism, one, other)
    as_read_m = [APART_M / 100, APART_M]
    assert as_read_m[0] == pytest.approx(RADIUS_M, abs=1)

    # What is left of a record may be a hundred times as far apart as the record was.
    assert 0.99 < first <= 1
    assert second > 80 * float(guarantee.loss(as_read_m[0]))
    assert first <= float(guarantee.loss(as_read_m[0]))
    assert second <= float(guarantee.loss(as_read_m[1]))
    # Both versions read: the sum of what both promise, at the largest distance.
    assert 2 < first + second <= float((guarantee + guarantee).loss(max(as_read_m)))
    assert plan.charges[AccountKind.RADIUS] <= 10**12
    assert plan.charges[AccountKind.RECORD] >= second * 10**12


@pytest.mark.parametrize("opted_out", [None, "ann"])
def test_a_record_that_is_empty_in_one_history_is_covered_by_the_whole_record_loss_alone(history, opted_out):
    """Whose last check-in expires or who opts out: in the region's middle then, from anywhere."""
    days_ago = 25 if opted_out is None else 1
    one = history("one", [row(SOUTH, days_ago=days_ago)], opted_out=opted_out)
    other = history("other", [row(SOUTH, days_ago=0)])
    plan = Plan.of(one[0], QUESTION)
    first, second = losses(plan.mechanism, one, other)
    assert first == 0
    assert second > 50 * float(plan.guarantee.loss(RADIUS_M))
    assert second * 10**12 <= plan.charges[AccountKind.RECORD]
    assert second <= float(plan.guarantee.exchange_loss(Fraction(math.floor(REGION.diameter_m) + 1)))


def test_a_period_stays_charged_as_a_whole_record(history):
    dataset, _ = history("one", [row(SOUTH, days_ago=1)])
    plan = Plan.of(dataset, ReleaseRequest(mechanism="emd-linear", epsilon="1", since="2026-11-01"))
    assert plan.charges[AccountKind.RADIUS] == plan.charges[AccountKind.RECORD] > 80 * 10**12
