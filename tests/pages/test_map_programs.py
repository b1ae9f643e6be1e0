"""The release sheet says how map programs read what was released."""

import html
import re

import pytest
from django.urls import reverse

from heatmaps.releases import publication
from heatmaps.releases.lifecycle import ReleaseRequest, request_release
from tests.services.draws import carry_out


@pytest.fixture
def told(client_of):
    """(the card, the addresses in it by their titles), as somebody reads it."""

    def read(release, person="analyst"):
        page = client_of(person).get(reverse("release-sheet", args=[release.pk])).content.decode()
        card = page.partition('id="map-programs-heading"')[2].partition("</section>")[0]
        found = re.findall(r"<dt>(.+?)</dt><dd><code>(.+?)</code>", card)
        return html.unescape(card), {title: html.unescape(text) for title, text in found}

    return read


def test_a_map_leads_to_them(client_of, published):
    page = client_of("analyst").get(reverse("release", args=[published.pk])).content.decode()
    assert f'href="{reverse("release-sheet", args=[published.pk])}#map-programs-heading"' in page


def test_every_address_of_a_map_answers_whoever_reads_it(told, client_of, people, published):
    card, addresses = told(published)
    assert list(addresses) == ["Tiles", "TileJSON", "Cloud-Optimized GeoTIFF", "OGC API"]
    assert "Authorization: Bearer" in card
    assert "ε = 0.5 (presence)" in card
    publication.set_public(people["steward"], published, public=True)
    for person in ("analyst", "anonymous"):
        card, addresses = told(published, person)
        assert "Anyone can use these addresses" in card
        for text in addresses.values():
            place = text.format(z=0, x=0, y=0).removeprefix("http://testserver")
            assert client_of(person).get(place).status_code == 200, text
            assert f'data-text="{text}"' in card


def test_what_is_no_map_has_features_alone(told, people, panel):
    made = request_release(people["analyst"], panel, ReleaseRequest(mechanism="exponential", epsilon="0.5"))
    carry_out(made.pk)
    assert list(told(made)[1]) == ["OGC API"]


@pytest.mark.unguarded
def test_a_very_fine_map_has_no_raster(told, published):
    type(published).objects.filter(pk=published.pk).update(resolution=8192)
    assert list(told(published)[1]) == ["Tiles", "TileJSON", "OGC API"]
