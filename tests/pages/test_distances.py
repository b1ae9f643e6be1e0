"""Mean distances to places: what is only theirs of the page, and that the answer is near the truth."""

import pytest
from django.urls import reverse

from heatmaps import quotes, releases
from heatmaps.lengths import measured_words
from heatmaps.masses import EVERYBODY
from heatmaps.slices import WHOLE
from mechanisms.experiments.seeded import SeededSource
from mechanisms.metric.linear_answers import PARTS
from tests.pages.asked import PLACES


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


@pytest.mark.parametrize(
    ("length_m", "error_m", "words"),
    [
        (44_335.6, 27.3, "44.34 km"),
        (44_335.6, 2_700, "44 km"),
        (812.36, 0.31, "812.4 m"),
        (812.36, 120, "800 m"),
        (999.7, 1, "1.000 km"),
        (12, 500, "0 m"),
        (3, 0, "3.00 m"),
    ],
)
def test_a_length_is_told_to_the_first_digit_of_its_error(length_m, error_m, words):
    assert measured_words(length_m, error_m) == words


def test_the_answer_is_near_the_truth(panel):
    """With 10 absent ones of 50 in the middle, seed's check-ins are as far."""
    request = releases.ReleaseRequest(mechanism="emd-distances", epsilon="20", parameters=PLACES.parameters)
    draw, version = quotes.plan(panel, request).draw, quotes.latest_version(panel)
    found, mechanism = draw.draw(panel, version, WHOLE, SeededSource(5)), draw.mechanism
    sums = draw._sums(panel, version, WHOLE, EVERYBODY).sums[0]
    truth_m = (sums / panel.persons + int(mechanism.absent[0])) / PARTS * float(mechanism.query.reach_m)
    assert abs(found.distances_m[0] - truth_m) < 8 * found.standard_error_m
    assert 20_000 < truth_m < 60_000
