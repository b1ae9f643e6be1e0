"""Who may read what at the addresses for map programs, and which websites may show it."""

from uuid import uuid4

import pytest
from django.urls import reverse
from rest_framework.throttling import SimpleRateThrottle

from heatmaps.releases import publication
from tests.addresses import EVERYBODY, by_person

MEMBERS = (200, 200, 200, 200, 404, 401)
# (name, what follows the release in the address, query)
ADDRESSES = (
    ("gis:tilejson", (), ""),
    ("gis:tile", (0, 0, 0), ""),
    ("gis:tile", (0, 0, 0), "?layer=squares&look=dark"),
    ("gis:tile-2x", (0, 0, 0), ""),
    ("gis:collection", (), ""),
    ("gis:items", (), ""),
    ("gis:item", (1,), ""),
    ("gis:coverage", (), ""),
    ("gis:coverage", (), "?bbox=0.1,0.1,0.4,0.6"),
    ("gis:schema", (), ""),
    ("api:heatmap", ("tif",), ""),
)
BY_SESSION = tuple(one for one in ADDRESSES if one[0].startswith("gis:"))
ANYWHERE = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
HERE = {"Access-Control-Allow-Origin": None, "Cross-Origin-Resource-Policy": "same-origin"}


def address(one, release_id):
    name, more, query = one
    return reverse(name, args=[release_id, *more]) + query


def statuses(client, release_id, addresses=ADDRESSES):
    return {one: client.get(address(one, release_id)).status_code for one in addresses}


def elsewhere(answer):
    return {name: answer.get(name) for name in HERE}


@pytest.mark.parametrize("person", EVERYBODY)
def test_a_hidden_map_is_for_members_by_token_and_by_session(api, client_of, published, person):
    wanted = by_person(MEMBERS)[person]

    assert statuses(api(person), published.pk) == dict.fromkeys(ADDRESSES, wanted)
    assert statuses(client_of(person), published.pk, BY_SESSION) == dict.fromkeys(BY_SESSION, wanted)


def test_a_token_needs_the_scope_to_read(api, published, people):
    publication.set_public(people["steward"], published, public=True)

    told = statuses(api("steward", ["release", "steward"]), published.pk)

    assert told == dict.fromkeys(ADDRESSES, 403)


def test_a_wrong_token_reads_nothing_of_a_public_map(client_of_token, published, people):
    publication.set_public(people["steward"], published, public=True)

    told = statuses(client_of_token("0" * 64), published.pk)

    assert told == dict.fromkeys(ADDRESSES, 401)


@pytest.mark.parametrize("person", ["analyst", "stranger", "anonymous"])
def test_queued_and_missing_are_alike_to_strangers_and_members_get_no_map(api, queued, person):
    client, missing = api(person), uuid4()

    for one in ADDRESSES:
        answers = [client.get(address(one, release_id)) for release_id in (queued.pk, missing)]
        assert {answer.status_code for answer in answers} == {401 if person == "anonymous" else 404}, one
        assert elsewhere(answers[0]) == HERE
        if person != "analyst":
            assert answers[0].content == answers[1].content


def test_everybody_reads_a_public_map_until_it_is_hidden(api, people, published):
    publication.set_public(people["steward"], published, public=True)
    clients = [api(person) for person in EVERYBODY]
    kept = {}
    for one in ADDRESSES:
        answers = [client.get(address(one, published.pk)) for client in clients]
        assert {answer.status_code for answer in answers} == {200}, one
        assert {answer["ETag"] for answer in answers} == {answers[0]["ETag"]}
        assert "no-cache" in answers[-1]["Cache-Control"]
        assert "Last-Modified" not in answers[-1].headers
        kept[one] = answers[-1]["ETag"]
        copy = api("anonymous").get(address(one, published.pk), headers={"if-none-match": kept[one]})
        assert (copy.status_code, elsewhere(copy)) == (304, ANYWHERE)
    publication.set_public(people["steward"], published, public=False)

    for one, etag in kept.items():
        answer = api("anonymous").get(address(one, published.pk), headers={"if-none-match": etag})
        assert (answer.status_code, elsewhere(answer)) == (401, HERE), one


def test_other_websites_show_what_everybody_gets_and_nothing_else(api, client_of, people, published):
    """A page elsewhere must not learn by its reader's session or token."""
    for one in ADDRESSES:
        assert elsewhere(api("analyst").get(address(one, published.pk))) == HERE
    publication.set_public(people["steward"], published, public=True)
    for one in ADDRESSES:
        place = address(one, published.pk)
        assert elsewhere(api("anonymous").get(place)) == ANYWHERE, one
        assert elsewhere(api("stranger").get(place)) == HERE, one
        if one in BY_SESSION:
            answer = client_of("stranger").get(place)
            assert elsewhere(answer) == HERE, one
            assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))
        assert "Access-Control-Allow-Credentials" not in api("anonymous").get(place).headers


def test_tiles_and_parts_of_files_have_a_limit_of_their_own(api, client_of, people, published, monkeypatch):
    """A map on a screen asks for dozens of tiles at once; whole files stay as rare as they were."""
    publication.set_public(people["steward"], published, public=True)
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "public_address", "1/min")
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "tiles", "5/min")
    tile, raster = (address(ADDRESSES[at], published.pk) for at in (1, -1))
    client, coverage = api("anonymous"), reverse("gis:coverage", args=[published.pk])
    part = {"range": "bytes=0-9"}

    assert [client.get(raster).status_code for _ in range(2)] == [200, 429]
    assert [client.get(raster, headers=part).status_code, client.get(tile).status_code] == [206, 200]
    assert client.get(coverage, headers=part).status_code == 206
    wholes = ({"range": "x"}, {"range": "bytes=0-1,4-5"}, {"range": "bytes=5-1"}, part | {"if-range": '"x"'})
    for place in (raster, coverage):
        assert {client.get(place, headers=whole).status_code for whole in wholes} == {429}
    # What is made anew, or sent in whole, is a file.
    assert client.get(coverage + "?bbox=0,0,1,1", headers=part).status_code == 429
    for place in (coverage, reverse("gis:collections")):
        assert client.get(place).status_code == 429
    assert [client.get(tile).status_code for _ in range(2)] == [200, 200]
    for refused in (client.get(tile), client.get(raster, headers=part)):
        assert (refused.status_code, elsewhere(refused)) == (429, HERE)
        assert int(refused["Retry-After"]) <= 61
    # Whoever is signed in waits for nobody at the same address.
    inside = client_of("analyst")
    assert [inside.get(tile).status_code for _ in range(6)] == [200] * 5 + [429]
    assert client_of("auditor").get(tile).status_code == 200
