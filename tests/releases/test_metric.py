"""emd-linear, geo-local and frequency on a dataset of declared persons: charged, drawn, published."""

import numpy as np
import pytest

from heatmaps.releases import lifecycle
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import Point
from tests.services.draws import carry_out

ONE = 10**12


@pytest.fixture
def panel(make_dataset, add_checkins):
    """About 157 km across, 50 persons enrolled, radius 50 km."""
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits={"record": "9", "radius": "9"})
    add_checkins(made)
    return made


def published(analyst, panel, request):
    release = lifecycle.request_release(analyst, panel, request)
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"
    return release


def committed(dataset):
    return {str(account.kind): account.committed for account in dataset.accounts.all()}


def test_a_mean_location_is_charged_more_for_a_whole_record(analyst, panel, ask):
    release = published(analyst, panel, ask(mechanism="emd-linear", resolution=None, epsilon="0.5"))
    point, charged = lifecycle.result_of(release), committed(panel)
    assert isinstance(point, Point)
    assert ONE // 2 * 0.999 <= charged["radius"] <= ONE // 2
    assert 1.4 * ONE < charged["record"] < 1.7 * ONE  # 0.5 · 157 km / 50 km
    other = lifecycle.quote(panel, ask(mechanism="exponential", resolution=None, epsilon="0.5"))
    assert point.expected_m == release.expected_error["expected_m"] < 0.6 * other.expected_error.expected_m


def test_a_point_of_blurred_reports_is_simulated_and_far_less_exact(analyst, panel, ask):
    release = published(analyst, panel, ask(mechanism="geo-local", resolution=None, epsilon="0.5"))
    charged, promise = committed(panel), Guarantee.from_json(release.guarantee)
    assert isinstance(lifecycle.result_of(release), Point)
    assert (promise.trust, promise.simulated, promise.delta) == (Trust.CENTRAL, True, 0)
    assert ONE // 2 * 0.999 <= charged["radius"] <= ONE // 2
    assert 1.4 * ONE < charged["record"] < 3 * ONE  # both axes of the region, one after the other
    trusted = lifecycle.quote(panel, ask(mechanism="emd-linear", resolution=None, epsilon="0.5"))
    # √50 times the noise, were it not for the region, which no point is outside of
    assert release.expected_error["expected_m"] > 4 * trusted.expected_error.expected_m


def test_a_map_of_sampled_check_ins_is_charged_the_same_on_both(analyst, panel, ask):
    release = published(analyst, panel, ask(mechanism="frequency", resolution=16, epsilon="2"))
    heatmap, charged = lifecycle.heatmap_of(release), committed(panel)
    assert isinstance(heatmap, Heatmap)
    assert 2 * ONE * 0.999 <= charged["radius"] == charged["record"] <= 2 * ONE
    assert charged["delta"] == 0
    assert release.parameters == {
        "expected_persons": 50,
        "district_levels": release.parameters["district_levels"],
    }
    assert heatmap.dense().sum() == pytest.approx(1)
    assert heatmap.significant is None
    assert np.isnan(heatmap.standard_errors).all()  # none that would hold after the nearest map was found
