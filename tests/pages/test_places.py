"""The search of places: open to everybody, limited as other open pages are, and in no address."""

import pytest
from django.urls import reverse

SEARCH = "place-search"


@pytest.fixture
def search(client_of):
    client = client_of("anonymous", enforce_csrf_checks=True)
    return lambda **body: client.post(reverse(SEARCH), body, REMOTE_ADDR="192.0.2.9")


def test_it_answers_those_without_an_account(search):
    (found, *_) = search(text="hoboken").json()["places"]
    assert found == {
        "name": "Hoboken",
        "area": "New Jersey, United States",
        "also": "",
        "lat": 40.74399,
        "lon": -74.03236,
        "inside": True,
        "extent": [-74.07, 40.72, -74.0, 40.77],
    }
    assert search(text="no such place").json() == {"places": []}


def test_it_says_what_lies_outside_of_a_map(search):
    (found, *_) = search(text="hoboken", region="4.2,51,4.5,51.3").json()["places"]
    assert (found["area"], found["inside"]) == ("Belgium", True)
    assert not any(one["inside"] for one in search(text="hoboken", region="0,0,1,1").json()["places"])
    assert search(text="hoboken", region="1,0,0,1").status_code == 400


def test_it_is_no_address_and_no_copy_of_it_is_kept(search, client_of):
    assert client_of("analyst").get(reverse(SEARCH), {"text": "hoboken"}).status_code == 405
    assert "no-store" in search(text="hoboken")["Cache-Control"]


def test_it_limits_who_asks_too_often(search, settings):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"public_address": 3}
    assert [search(text="x").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_form_in_no_encoding_of_text_is_read_all_the_same(client_of):
    form = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\nhoboken\r\n--x--\r\n'
    named = "multipart/form-data; boundary=x; charset=base64"
    answer = client_of("anonymous").generic("POST", reverse(SEARCH), form, content_type=named)
    assert answer.json()["places"][0]["name"] == "Hoboken"
