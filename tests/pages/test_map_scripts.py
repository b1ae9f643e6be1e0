"""Scripts of pages with a map: one file each beside Leaflet, served like a static file."""

import re

import pytest
from django.urls import reverse

from heatmaps.maps.scripts import ENTRIES, script_of

LOADED = re.compile(r'<script[^>]* src="([^"]+)"')


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_is_served_to_everybody_as_it_is_joined(client_of, entry, django_assert_max_num_queries):
    client, address = client_of("steward"), reverse("map-script", args=[entry])
    with django_assert_max_num_queries(1):  # whether the server is on hold
        answer = client.get(address)
    assert answer.content.decode() == script_of(entry)
    assert answer["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer["Cache-Control"] == "public, max-age=60"
    assert "Vary" not in answer
    assert not answer.cookies
    assert client_of("anonymous").get(address).content == answer.content
    again = client.get(address, headers={"if-none-match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["heat.js", "released_map", "..%2Fleaflet%2Fleaflet.js", "new_release.js"])
def test_no_other_module_is_joined(client_of, name):
    assert client_of("steward").get(f"/scripts/{name}").status_code == 404


def test_the_page_of_a_map_asks_for_one_script_beside_leaflet(client_of, addresses):
    page = client_of("steward").get(addresses["release-map"]).content.decode()
    assert LOADED.findall(page) == ["/static/leaflet/leaflet.js", "/scripts/released_map.js"]


@pytest.mark.parametrize(
    ("name", "entry"), [("dataset-new", "new_dataset.js"), ("release-new", "new_release_map.js")]
)
def test_a_form_with_a_map_asks_for_one_script_of_it(client_of, addresses, name, entry):
    page = client_of("steward").get(addresses[name]).content.decode()
    classic = [
        tag for tag in re.findall(r"<script[^>]*>", page) if 'type="module"' not in tag and "src" in tag
    ]
    assert [LOADED.match(tag)[1] for tag in classic] == ["/static/leaflet/leaflet.js", f"/scripts/{entry}"]
    assert all(" defer " in tag and " nonce=" in tag for tag in classic)
