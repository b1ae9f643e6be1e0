"""A mean location and maps of sampled check-ins: offered, released and shown."""

import pytest
from django.urls import reverse

from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.guarantee import Relation
from tests.services import seed
from tests.services.draws import carry_out


@pytest.fixture
def panel(make_dataset):
    limits = {"record": "19", "radius": "9", "delta": "0.0001"}
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits=limits)
    seed.add_checkins(made)
    return made


@pytest.mark.parametrize(
    ("mechanism", "resolution"), [("emd-linear", None), ("frequency", 16), ("emd-itemwise", 16)]
)
def test_it_is_offered_released_and_shown(client_of, people, panel, mechanism, resolution):
    analyst = client_of("analyst")
    offered = analyst.get(reverse("release-new", args=[panel.slug]), {"open": "method"}).content.decode()
    assert f'value="{mechanism}"' in offered
    assert "This server sees the check-ins with every method" in offered
    request = ReleaseRequest(mechanism=mechanism, epsilon="2", resolution=resolution)
    release = lifecycle.request_release(people["analyst"], panel, request)
    carry_out(release.pk)
    for name in ("release", "release-map"):
        answer = analyst.get(reverse(name, args=[release.pk]))
        assert answer.status_code == 200


def test_a_quote_tells_both_accounts_delta_and_what_devices_would_do(client_of, panel):
    typed = {"mechanism": "emd-itemwise", "epsilon": "1", "resolution": "16", "emd-itemwise.samples": "64"}
    typed |= {"act": "more"}
    page = client_of("analyst").get(reverse("release-new", args=[panel.slug]), typed).content.decode()
    assert "simulated on stored check-ins" in page
    assert "On people’s own devices the same protocol would promise as much" in page
    assert "δ = 1 × 10⁻⁹" in page
    assert "How far off the map will be" in page
