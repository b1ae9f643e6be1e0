"""Mean distances to places: what is only theirs of the page, and that the answer is near the truth."""

import pytest
from django.urls import reverse

from heatmaps import masses
from heatmaps.data_slice import WHOLE
from heatmaps.releases import lifecycle
from heatmaps.releases.question import latest_version
from heatmaps.releases.request import Plan
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.linear.answers import PARTS
from tests.pages.questions import PLACES


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"latitude": "0.5"}, "longitude"),
        ({"longitude": "0.5"}, "latitude"),
        ({"latitude": "91", "longitude": "0.5"}, "latitude"),
        ({"latitude": "0.5", "longitude": "40"}, "places"),  # not in the region
    ],
)
def test_errors_are_beside_their_fields(client_of, panel, typed, field):
    data = {"epsilon": "2", "act": "quote", "places": PLACES.text} | typed
    answer = client_of("analyst").post(reverse("release-distances", args=[panel.slug]), data)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert answer.context["quote"] is None


def test_the_answer_is_near_the_truth(panel):
    """With 10 absent ones of 50 in the middle, seed's check-ins are as far."""
    request = lifecycle.ReleaseRequest(mechanism="emd-distances", epsilon="20", parameters=PLACES.parameters)
    draw, version = Plan.of(panel, request).draw, latest_version(panel)
    records = masses.read_items(panel, version, level=draw.mechanism.level)
    found, mechanism = draw.draw(panel, version, WHOLE, SeededSource(5)), draw.mechanism
    sums = draw.mechanism.sums(records).sums[0]
    truth_m = (sums / panel.persons + int(mechanism.absent[0])) / PARTS * float(mechanism.query.reach_m)
    assert abs(found.distances_m[0] - truth_m) < 8 * found.standard_error_m
    assert 20_000 < truth_m < 60_000
