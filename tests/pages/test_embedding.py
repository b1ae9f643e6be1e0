"""Public maps in pages of other websites: who may frame them, what they know of the reader, and their end."""

import re

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse

from heatmaps.front.cookies import drop_cookies
from heatmaps.models import Dataset
from heatmaps.releases import publication
from tests.pages.policies import directives

NEWS = ["https://news.example", "https://b.example:8443"]


@pytest.fixture
def shown(people, published):
    Dataset.objects.update(embed_origins=NEWS)
    return publication.set_public(people["steward"], published, public=True)


@pytest.fixture
def address(shown):
    return reverse("embed", args=[shown.pk])


def without_number(answer):
    return {name: value for name, value in answer.items() if name != "X-Request-ID"}


def test_listed_websites_may_frame_it_and_no_others(client_of, address, shown):
    answer = client_of("anonymous").get(address)
    assert directives(answer)["frame-ancestors"] == " ".join(NEWS)
    assert "X-Frame-Options" not in answer
    Dataset.objects.update(embed_origins=[])
    closed = client_of("anonymous").get(address)
    assert directives(closed)["frame-ancestors"] == "'none'"
    assert closed["X-Frame-Options"] == "DENY"
    for name in ("release", "release-map", "release-sheet"):
        other = client_of("anonymous").get(reverse(name, args=[shown.pk]))
        assert directives(other)["frame-ancestors"] == "'self'"
        assert other["X-Frame-Options"] == "SAMEORIGIN"


def test_it_says_the_same_to_everybody_and_asks_for_no_cookie(client_of, address):
    plain = client_of("anonymous").get(address)
    for person in ("steward", "stranger"):
        client = client_of(person)
        client.cookies["csrftoken"] = "of no valid form"  # would be replaced by a new one
        answer = client.get(address)
        assert answer.content == plain.content
        assert without_number(answer) == without_number(plain)
        assert not answer.cookies
    assert plain.get("Vary", "") == ""


def test_no_cookie_reaches_it_and_none_leaves_it():
    seen = []

    def careless(request):
        seen.append(request.COOKIES)
        answer = HttpResponse()
        answer.set_cookie("a", "b")
        return answer

    for address, cookies in (("/embed/x/", {}), ("/public/", {"sessionid": "secret"})):
        request = RequestFactory().get(address, headers={"cookie": "sessionid=secret"})
        answer = drop_cookies(careless)(request)
        assert seen.pop() == cookies
        assert bool(answer.cookies) is bool(cookies)


def test_it_has_no_form_and_one_link_which_tells_nobody_where_it_was(client_of, address, shown, dataset):
    answer = client_of("anonymous").get(address)
    page = answer.content.decode()
    assert not re.search(r"<(form|input|button|iframe|meta http-equiv=.refresh)", page)
    assert "csrf" not in page
    links = re.findall(r"<a [^>]+>", page)
    page_of = reverse("release", args=[shown.pk])
    assert links == [f'<a href="{page_of}" target="_blank" rel="noopener noreferrer">']
    assert directives(answer)["form-action"] == "'none'"
    assert dataset.title in page
    assert 'aria-label="Legend"' in page
    for secret in (reverse("dataset", args=[dataset.slug]), "steward", "analyst"):
        assert secret not in page


def test_scripts_of_ours_are_allowed_and_none_in_its_text(client_of, address):
    first, second = (client_of("anonymous").get(address) for _ in range(2))
    assert first["Content-Security-Policy"] == second["Content-Security-Policy"]
    assert "nonce" not in first["Content-Security-Policy"] + first.content.decode()
    assert directives(first)["script-src"] == "'self'"


def test_hiding_ends_it_at_once(client_of, people, address, shown):
    known = {"If-None-Match": client_of("anonymous").get(address)["ETag"]}
    kept = client_of("anonymous").get(address, headers=known)
    assert (kept.status_code, kept["Cache-Control"]) == (304, "public, no-cache")
    assert directives(kept)["frame-ancestors"] == " ".join(NEWS)
    publication.set_public(people["steward"], shown, public=False)
    for person in ("anonymous", "steward"):
        assert client_of(person).get(address, headers=known).status_code == 404


def test_a_copy_with_another_list_of_websites_is_no_longer_good(client_of, address):
    """Browsers keep the policy of what they are told is unchanged."""
    known = {"If-None-Match": client_of("anonymous").get(address)["ETag"]}
    Dataset.objects.update(embed_origins=NEWS[:1])
    assert client_of("anonymous").get(address, headers=known).status_code == 200


def test_readers_are_counted_by_address_whoever_they_are(client_of, address, settings):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"public_address": 1}
    assert client_of("steward").get(address).status_code == 200
    assert client_of("steward").get(address).status_code == 429


def test_a_steward_lists_websites_with_a_reason_that_all_may_read(client_of, dataset):
    page = reverse("embedding", args=[dataset.slug])
    assert "Now: no website." in client_of("steward").get(page).content.decode()
    lines = "https://NEWS.example/\r\nhttps://b.example:8443\r\n"
    typed = {"embed_origins": lines, "reason": "for the article"}
    assert client_of("steward").post(page, typed).status_code == 302
    assert Dataset.objects.get().embed_origins == NEWS
    assert f"Now: {', '.join(NEWS)}." in client_of("steward").get(page).content.decode()
    ledger = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()
    assert "Websites that may embed public maps set" in ledger
    assert "for the article" in ledger


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        (
            {"embed_origins": "https://*.news.example"},
            "embed_origins",
            "news.example is not allowed",
        ),
        ({"embed_origins": "http://news.example"}, "embed_origins", "Allowed: https:// with a host name"),
        ({"embed_origins": "", "reason": ""}, "reason", "required"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client_of, dataset, typed, field, said):
    answer = client_of("steward").post(reverse("embedding", args=[dataset.slug]), {"reason": "x"} | typed)
    assert answer.status_code == 422
    assert said in str(answer.context["form"].errors[field])
