"""Central points on the pages: the form by kind, the quote, the result and its files."""

import csv
import io
import re
from fractions import Fraction

import pytest
from django.urls import reverse

from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.guarantee import Relation
from tests.pages.word_count import RELEASE, released_words
from tests.services import seed
from tests.services.draws import carry_out


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits={"record": "3", "radius": "2"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def point(people, panel):
    request = ReleaseRequest(mechanism="exponential", epsilon="0.5")
    release = lifecycle.request_release(people["analyst"], panel, request)
    carry_out(release.pk)
    release.refresh_from_db()
    return release


def new_release(client, dataset, method="get", **typed):
    return getattr(client, method)(reverse("release-new", args=[dataset.slug]), typed)


def test_the_form_offers_points_where_the_relation_allows_them(client_of, dataset, panel):
    analyst = client_of("analyst")
    assert "Central point of all people" in new_release(analyst, panel, open="method").content.decode()
    assert 'value="emd-linear"' in new_release(analyst, panel, kind="centroid").content.decode()
    assert "?kind=centroid" in new_release(analyst, panel).content.decode()
    page = new_release(analyst, dataset, open="method").content.decode()
    assert "Central point" not in page
    assert "?kind=centroid" not in page
    assert "One central point" not in page


def test_the_form_is_grouped_by_kind_in_plain_words(client_of, panel):
    page = new_release(client_of("analyst"), panel, open="method").content.decode()
    assert page.index("<legend>A map of where people are</legend>") < page.index("<legend>One central point")
    assert 'value="exponential" data-kind="centroid"' in page


def test_a_quote_shows_both_charges_and_the_distance(client_of, panel):
    # Without scripts the resolution is sent, too: it belongs to maps.
    typed = {"mechanism": "exponential", "epsilon": "0.5", "resolution": "256", "act": "more"}
    page = new_release(client_of("analyst"), panel, **typed).content.decode()
    assert "Cost: whole record" in page
    assert "How far off the point will be" in page
    assert "km</strong>" in page
    assert 'name="resolution"' not in page.split('method="post"')[1].split("</form>")[0]


def test_a_refusal_stands_beside_its_field(client_of, panel):
    typed = {"mechanism": "exponential", "epsilon": "0.5", "exponential.spacing_m": "0.001"}
    answer = new_release(client_of("analyst"), panel, **typed)
    assert answer.status_code == 422
    assert "with this epsilon, region and radius" in answer.content.decode()


def test_a_map_without_a_resolution_is_refused_beside_it(client_of, panel):
    answer = new_release(client_of("analyst"), panel, mechanism="sparse-emd", epsilon="0.5")
    assert answer.status_code == 422
    assert "a power of two" in answer.content.decode()


def test_asking_leads_to_the_release(client_of, panel):
    answer = new_release(client_of("analyst"), panel, "post", mechanism="exponential", epsilon="0.5")
    release = Release.objects.get()
    assert answer.url == reverse("release", args=[release.pk])
    assert release.resolution is None


def test_the_result_says_the_point_in_numbers(client_of, point):
    released = lifecycle.result_of(point)
    page = client_of("analyst").get(reverse("release", args=[point.pk])).content.decode()
    assert f"<strong>{released.lat:.6f}</strong>" in page
    assert "What this point promises" in page
    assert len(released_words(page)) <= RELEASE
    assert "with probability 95 %" in page
    assert "heatmap.npy" not in page
    assert "heatmap.tif" not in page


def test_the_map_draws_the_point(client_of, point):
    page = client_of("analyst").get(reverse("release-map", args=[point.pk])).content.decode()
    assert f'"lat": {lifecycle.result_of(point).lat}' in page
    assert '"function": "point"' in page


@pytest.mark.parametrize("suffix", ["png", "html", "geojson", "csv", "csv.zip", "json", "yaml"])
def test_every_file_can_be_had(client_of, point, suffix):
    answer = client_of("analyst").get(reverse("release-download", args=[point.pk, suffix]))
    assert answer.status_code == 200
    content = b"".join(answer.streaming_content)
    assert len(content) > 40
    if suffix == "csv":
        (row,) = csv.DictReader(io.StringIO(content.decode()))
        assert float(row["lat"]) == lifecycle.result_of(point).lat


@pytest.mark.parametrize("suffix", ["npy", "tif", "npy.zip"])
def test_files_of_maps_are_not_there(client_of, point, suffix):
    assert client_of("analyst").get(reverse("release-download", args=[point.pk, suffix])).status_code == 404


def test_dataset_ledger_and_sheet_show_it(client_of, panel, point):
    analyst = client_of("analyst")
    for name, about in (("dataset", panel.slug), ("release-sheet", point.pk)):
        assert analyst.get(reverse(name, args=[about])).status_code == 200
    assert client_of("auditor").get(reverse("ledger", args=[panel.slug])).status_code == 200


def offered(page):
    """Mechanisms that are shown, of those the form has."""
    return re.findall(r'data-protects="\w+"><input type="radio" name="mechanism" value="([\w-]+)"', page)


def test_it_says_who_is_trusted_and_what_is_protected_and_offers_what_fits(client_of, panel, dataset):
    analyst = client_of("analyst")
    page = new_release(analyst, panel, open="method").content.decode()
    assert "Who may be trusted?" in page
    assert "moves within 50 km most, longer ones less" in page
    assert "Trusted: this server, which simulates a shuffler." in page
    assert "Trusted: this server, which simulates devices." in page
    assert {"laplace", "exponential", "sgdl-shuffle", "geo-local"} < set(offered(page))
    moves = new_release(analyst, panel, trusted="server", protects="moves").content.decode()
    assert "exponential" in offered(moves)
    assert not {"laplace", "sgdl-shuffle"} & set(offered(moves))
    assert 'id="nothing-fits" hidden' in moves
    shuffled = new_release(analyst, panel, trusted="shuffler", protects="moves").content.decode()
    assert offered(shuffled) == ["emd-itemwise", "sgdl-shuffle", "geo-shuffle", "rr-shuffle"]
    assert re.search('value="emd-itemwise" data-kind="heatmap" data-epsilon="[0-9.]+" checked', shuffled)
    city = new_release(analyst, dataset, open="method").content.decode()
    assert "That a person is in the data at all" in city


def test_where_nobody_is_trusted_it_says_what_remains(client_of, panel):
    for person, remains in (("steward", reverse("blur", args=["panel"])), ("analyst", "manage.py obfuscate")):
        page = new_release(client_of(person), panel, trusted="nobody").content.decode()
        assert offered(page) == []
        assert 'id="nothing-fits" hidden' not in page
        assert remains in page


def test_a_shuffled_point_is_quoted_with_its_delta_and_released(client_of, make_dataset):
    limits = {"record": None, "radius": "2", "delta": "0.000001"}
    free = make_dataset("free", Relation.REPLACE, radius_m=50_000, limits=limits)
    seed.add_checkins(free)
    typed = {
        "mechanism": "sgdl-shuffle",
        "epsilon": "0.5",
        "delta": "0.00000001",
        "sgdl-shuffle.cell_m": "50000",
        "act": "more",
    }
    client = client_of("analyst")
    page = new_release(client, free, **typed).content.decode()
    assert "Cost: δ" in page
    assert "On people’s own devices the same protocol would promise as much" in page
    assert "devices would do was simulated on stored check-ins" in page
    assert "km</strong>" in page
    assert '<input type="hidden" name="delta" value="0.00000001">' in page
    assert new_release(client, free, "post", **typed | {"act": "spend"}).status_code == 302
    release = Release.objects.get()
    assert release.delta == Fraction(1, 10**8)
    carry_out(release.pk)
    shown = client.get(reverse("release", args=[release.pk])).content.decode()
    assert "δ asked for" in shown
    assert "with probability 95 %" in shown
    sheet = client.get(reverse("release-sheet", args=[release.pk])).content.decode()
    assert "δ = 0.00000001" in sheet
    assert "devices would do was simulated" in sheet
    wrong = new_release(client, free, **typed | {"delta": "0.5"})
    assert wrong.status_code == 422
    assert "from 1e-18 to 0.001" in wrong.content.decode()
