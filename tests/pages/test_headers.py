"""The security headers of every kind of answer, as `docs/reference/headers.md` lists them."""

import re

import pytest
from django.conf import settings
from django.db import OperationalError
from django.urls import reverse

from heatmaps.front import headers

POLICY = "Content-Security-Policy"


def documented():
    """Header -> value, of the table; the policy as `plain` says."""
    text = (settings.BASE_DIR / "docs/reference/headers.md").read_text()
    table = dict(re.findall(r"^\| `([A-Z][\w-]+)` \| `(.+)` \|$", text, re.MULTILINE))
    return table | {POLICY: plain(table[POLICY])}


def broken(error):
    def raise_it(*_arguments):
        raise error

    return raise_it


@pytest.fixture
def answers(client_of, addresses, dataset, monkeypatch, settings):
    """(kind, answer) of all kinds that the program itself gives; `secure`: by TLS."""

    def ask(**how):
        analyst = client_of("analyst", raise_request_exception=False)
        stranger = client_of("anonymous")
        for name in ("datasets", "release", "release-map", "release-sheet"):
            yield name, analyst.get(addresses[name], **how)
        yield "page to be framed", analyst.get(addresses["release-map"], **how)
        yield "redirection", stranger.get(reverse("datasets"), **how)
        yield "static", stranger.get("/static/hazemap/hazemap.css", **how)
        yield "no static", stranger.get("/static/nothing.css", **how)
        yield "admin", client_of("administrator").get(reverse("admin:index"), **how)
        yield "admin's door", stranger.get(reverse("admin:login"), **how)
        yield "api", stranger.get(reverse("api:schema"), **how)
        yield "api's pages", stranger.get(reverse("api:docs"), **how)
        yield "401", stranger.get(reverse("api:datasets"), **how)
        yield "415", stranger.post(reverse("api:tokens"), "x", content_type="text/plain", **how)
        yield "health", stranger.get("/healthz", **how)
        yield "400", stranger.get("/help/", headers={"host": "elsewhere.example"}, **how)
        yield "403", analyst.get(reverse("ledger", args=[dataset.slug]), **how)
        yield "404", analyst.get("/nothing/", **how)
        yield "404 of the api", stranger.get("/api/v9/", **how)
        yield "405", analyst.delete(reverse("datasets"), **how)
        settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"public_address": 0}
        yield "429", stranger.get(reverse("public"), **how)
        for status, error in ((500, RuntimeError("x")), (503, OperationalError("x"))):
            monkeypatch.setattr("heatmaps.views.dataset.datasets.cards_of", broken(error))
            answer = analyst.get(reverse("datasets"), **how)
            assert answer.status_code == status
            yield str(status), answer

    return ask


def plain(policy):
    """The policy's directives without nonces, in an order of its own."""
    return sorted(re.sub(r" 'nonce-[\w+/=]+'", "", policy).split("; "))


def test_every_answer_has_all_of_them(answers):
    wanted = documented()
    assert len(wanted) == 8
    del wanted[headers.HSTS]
    for kind, answer in answers():
        told = {name: answer.get(name, "") for name in wanted}
        assert told | {POLICY: plain(told[POLICY])} == wanted, kind
        assert headers.HSTS not in answer, kind  # browsers ignore it by http, and nobody shall send it
        assert "Access-Control-Allow-Origin" not in answer, kind


def test_by_tls_every_answer_has_hsts_too(answers, settings):
    settings.HTTPS = True
    half_a_year = 182 * 24 * 3600
    for kind, answer in answers(secure=True):
        assert answer.get(headers.HSTS) == documented()[headers.HSTS], kind
        assert int(answer[headers.HSTS].removeprefix("max-age=")) > half_a_year


def test_names_below_are_bound_where_the_operator_says_so(client_of, settings):
    settings.HTTPS = settings.HSTS_SUBDOMAINS = True

    answer = client_of("anonymous").get("/help/", secure=True)

    assert answer[headers.HSTS] == "max-age=31536000; includeSubDomains"


def test_cookies_without_tls_are_read_by_no_script_and_sent_to_no_other_site(client_of, people):
    people["analyst"].set_password("long enough to pass")
    people["analyst"].save()
    visitor = client_of("anonymous")
    visitor.get(reverse("account_login"))
    visitor.post(reverse("account_login"), {"login": "analyst", "password": "long enough to pass"})

    assert set(visitor.cookies) == {"csrftoken", "sessionid"}
    for cookie in visitor.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
        assert not cookie["secure"]


def test_messages_go_with_the_session(client_of, people):
    client = client_of("administrator")

    answer = client.post(reverse("sign-up-rule"), {"allowed": "on"})

    assert answer.status_code == 302
    assert set(client.cookies) <= {"sessionid", "csrftoken"}
