"""Centres with their areas, one grid, and simulated shuffling: from the question to the page."""

import pytest
from django.urls import reverse

from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.guarantee import Relation
from mechanisms.results.areas import Areas
from tests.services import seed
from tests.services.draws import carry_out


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits={"record": "9", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def published(people, panel):
    def publish(mechanism, **parameters):
        request = ReleaseRequest(mechanism=mechanism, epsilon="2", resolution=64, parameters=parameters)
        release = lifecycle.request_release(people["analyst"], panel, request)
        carry_out(release.pk)
        release.refresh_from_db()
        return release

    return publish


def body(client, name, release):
    answer = client.get(reverse(name, args=[release.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_centres_stand_on_the_map_and_in_the_table(client_of, published):
    release, analyst = published("k-median", centres="3"), client_of("analyst")
    result = lifecycle.result_of(release)
    assert isinstance(result, Areas)
    assert 1 <= result.centres.size <= 3
    assert '"function": "centres"' in body(analyst, "release-map", release)
    page = body(analyst, "release", release)
    assert "The centres and all that is nearest to each" in page
    assert page.count('data-label="Area"') == result.centres.size


def test_a_simulated_round_says_so_and_charges_no_delta(client_of, published, panel):
    release = published("shuffle-emd")
    assert "devices would do was simulated" in body(client_of("analyst"), "release-sheet", release)
    assert panel.accounts.get(kind="delta").committed == 0
    assert panel.accounts.get(kind="record").committed == 2 * 10**12


def test_one_grid_takes_the_declared_number_of_persons(published, panel):
    release = published("dense-emd")
    assert release.parameters["expected_persons"] == panel.persons
    assert lifecycle.result_of(release).values.size == 4 ** release_level(panel.persons)


def release_level(persons):
    """⌊log2 √(2 n)⌋ for ε = 2, at least 1, on 64 × 64 cells."""
    return min(max(((2 * persons).bit_length() - 1) // 2, 1), 6)


def test_what_they_need_is_said_in_the_choice(client_of, panel, dataset):
    analyst = client_of("analyst")
    with_number, without = (
        analyst.get(reverse("release-new", args=[each.slug]), {"open": "method"}).content.decode()
        for each in (panel, dataset)
    )
    assert "Sparse reconstruction by shuffling, simulated" in with_number
    assert "Sparse reconstruction by shuffling, simulated" not in without
    for title in ("Centres and their areas", "One grid as fine as the noise allows"):
        assert title in with_number
        assert title in without
