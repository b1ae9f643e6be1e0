"""Shares in zones: what is only theirs of the page, and that the answer is near the truth."""

import pytest
from django.urls import reverse

from heatmaps import masses
from heatmaps.data_slice import WHOLE
from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.releases.question import latest_version
from heatmaps.releases.request import Plan
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.linear.answers import PARTS
from tests.pages.questions import ZONES

BOX = ZONES.boxes


@pytest.fixture
def send(client_of, panel):
    def send(**typed):
        data = {"epsilon": "2", "act": "quote", "zones": ZONES.text} | typed
        return client_of("analyst").post(reverse("release-zones", args=[panel.slug]), data)

    return send


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"margin_m": "0.5"}, "margin_m"),
        (BOX | {"east": "0.5"}, "east"),
        (BOX | {"north": "0.5"}, "north"),
        (BOX | {"north": ""}, "north"),
        (BOX | {"west": "40", "east": "41"}, "zones"),  # not in the region
    ],
)
def test_errors_are_beside_their_fields(send, typed, field):
    answer = send(**typed)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert answer.context["quote"] is None


@pytest.mark.parametrize(("typed", "margin_m"), [("", "10000"), ("2500", "2500")])
def test_the_edge_is_two_radii_wide_where_nothing_is_typed(send, client_of, typed, margin_m):
    quoted = send(margin_m=typed)
    made = send(**dict(quoted.context["typed"]), key="k1")
    assert Release.objects.get().parameters["margin_m"] == margin_m
    page = client_of("analyst").get(made["Location"]).content.decode()
    assert f'<dt>Soft edge</dt><dd class="number">{margin_m} m</dd>' in page


def test_the_answer_is_near_the_truth(panel):
    """seed's check-ins; at a very large ε the share is that of the records."""
    request = lifecycle.ReleaseRequest(
        mechanism="emd-zones", epsilon="20", parameters=ZONES.parameters | {"margin_m": "20000"}
    )
    draw, version = Plan.of(panel, request).draw, latest_version(panel)
    records = masses.read_items(panel, version, level=draw.mechanism.level)
    found = draw.draw(panel, version, WHOLE, SeededSource(5))
    truth = draw.mechanism.sums(records).sums[0] / PARTS / panel.persons
    assert abs(found.shares[0] - truth) < 6 * found.standard_error
    assert 0 < truth < 1
