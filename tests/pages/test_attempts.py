"""How often pages without an account may be asked for; counted together with the API's."""

import re
from ipaddress import ip_network

import pytest
from django.test import RequestFactory
from django.urls import reverse

from heatmaps.http import attempt_limits, counters
from heatmaps.releases import publication
from tests.services.programs import wait_until

PASSWORD = "long enough to pass"
TOKEN = {"name": "x", "scopes": ["read"]}


@pytest.fixture
def try_(client_of, people):
    """One sign-in; people have `PASSWORD`."""
    for name in ("analyst", "administrator"):
        people[name].set_password(PASSWORD)
        people[name].save()

    def attempt(name, password="wrong", *, address="192.0.2.1", **headers):
        typed = {"login": name, "password": password}
        return client_of("anonymous").post(
            reverse("account_login"), typed, REMOTE_ADDR=address, headers=headers
        )

    return attempt


@pytest.fixture
def ask_for_token(client_of):
    def ask(name, address="192.0.2.1", *, password="wrong"):
        body = TOKEN | {"username": name, "password": password}
        return client_of("anonymous").post(
            reverse("api:tokens"), body, content_type="application/json", REMOTE_ADDR=address
        )

    return ask


def test_it_stops_who_guesses_passwords_of_one_name(try_):
    """Also when the right one comes then; the page says how long to wait, and nothing else."""
    assert {try_("administrator").status_code for _ in range(10)} == {200}

    stopped = try_("administrator", PASSWORD)

    assert stopped.status_code == 429
    wait = int(stopped["Retry-After"])
    assert 0 < wait <= 60
    assert re.search(rf"Try again in <strong>{wait} seconds?</strong>", stopped.content.decode())
    assert "sessionid" not in stopped.cookies
    assert "no-store" in stopped["Cache-Control"]


def test_names_that_are_there_and_names_that_are_not_are_answered_alike(try_):
    told = {}
    for name in ("analyst", "nobody!"):
        answers = [try_(name) for _ in range(11)]
        told[name] = [(answer.status_code, plain(answer, name)) for answer in answers]

    assert told["analyst"] == told["nobody!"]


def plain(answer, name):
    """Without what differs between any two answers."""
    changing = r'value="\w{64}"|nonce="[^"]*"|<code>[a-z-]+</code>|\d+ seconds?'
    text = re.sub(changing, "", answer.content.decode())
    return text.replace(name, "NAME")


OWN, NEW = "198.51.100.1", "203.0.113.7"  # where the owner signed in before, and where not


def test_nobody_locks_out_a_person_elsewhere(try_):
    """Who fails under a name from one address, or from many, does not stop its owner where he was before."""
    assert try_("analyst", PASSWORD, address=OWN).status_code == 302
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        for _ in range(11):
            stopped = try_("analyst", address=address)
        assert stopped.status_code == 429

    assert try_("analyst", PASSWORD, address=OWN).status_code == 302


def test_an_address_for_each_guess_does_not_help(try_, ask_for_token, settings, monkeypatch):
    """As where the trusted proxy is not in front, and whoever asks writes the header himself."""
    settings.TRUSTED_PROXIES = [ip_network("192.0.2.1")]
    monkeypatch.setitem(settings.MOST_A_MINUTE, "sign_in_address", 1_000)
    assert try_("analyst", PASSWORD, **{"x-forwarded-for": OWN}).status_code == 302

    guesses = [try_("analyst", **{"x-forwarded-for": f"10.0.0.{number}"}) for number in range(22)]

    assert [guess.status_code for guess in guesses] == [200] * 19 + [429] * 3  # one was the owner
    assert 0 < int(guesses[-1]["Retry-After"]) <= 60
    assert ask_for_token("Analyst", NEW).status_code == 429  # pages and API count together
    assert try_("nobody", **{"x-forwarded-for": "10.0.0.1"}).status_code == 200
    assert try_("analyst", PASSWORD, **{"x-forwarded-for": OWN}).status_code == 302
    assert try_("analyst", PASSWORD, **{"x-forwarded-for": NEW}).status_code == 429


def test_an_owner_at_a_new_address_waits_no_longer_than_a_minute(try_, monkeypatch):
    monkeypatch.setattr(attempt_limits, "PERIOD_SECONDS", 1)
    for number in range(22):
        attempt_limits.sign_in("analyst", f"10.0.0.{number}")
    assert try_("analyst", PASSWORD, address=NEW).status_code == 429
    wait_until(
        lambda: try_("analyst", PASSWORD, address=NEW).status_code == 302, seconds=60, what="the next minute"
    )


def test_a_right_password_ends_the_count_of_its_name(try_, ask_for_token):
    for _ in range(3):
        for _ in range(9):
            assert try_("administrator").status_code == 200
        assert try_("administrator", PASSWORD).status_code == 302
    assert {ask_for_token("administrator", password=PASSWORD).status_code for _ in range(20)} == {201}


def test_nobody_ends_the_count_of_another_name(try_, client_of):
    """Not by signing in under his own, nor by posting the form while signed in."""
    for _ in range(9):
        try_("administrator")
    assert try_("analyst", PASSWORD).status_code == 302
    typed = {"login": "administrator", "password": "wrong"}
    for _ in range(2):
        client_of("analyst").post(reverse("account_login"), typed, REMOTE_ADDR="192.0.2.1")

    assert try_("administrator", PASSWORD).status_code == 429


def test_it_stops_who_guesses_names(try_):
    statuses = [try_(f"name{number}").status_code for number in range(61)]

    assert statuses == [200] * 60 + [429]
    assert try_("analyst", address="192.0.2.2").status_code == 200


def test_pages_and_api_count_together(try_, ask_for_token):
    for _ in range(8):
        try_("analyst")
    assert [ask_for_token("analyst").status_code for _ in range(3)] == [401, 401, 429]

    assert try_("analyst", PASSWORD).status_code == 429
    assert try_("Analyst").status_code == 429  # another spelling is no other name
    assert ask_for_token("analyst", "192.0.2.2").status_code == 401


def test_it_believes_nobody_about_his_address(try_):
    for number in range(10):
        try_("analyst", **{"x-forwarded-for": f"10.0.0.{number}"})

    assert try_("analyst", **{"x-forwarded-for": "10.0.0.99"}).status_code == 429


def test_an_open_form_is_not_counted(client_of):
    answers = {client_of("anonymous").get(reverse("account_login")).status_code for _ in range(70)}

    assert answers == {200}


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("unknown", "unknown"),
    ],
)
def test_whose_address_it_is(remote, address):
    """Of IPv6 the network, as its holder has all addresses of it."""
    assert attempt_limits.address_of(RequestFactory().get("/", REMOTE_ADDR=remote)) == address


def test_behind_a_proxy_it_believes_nobody_else(try_, settings):
    """`HAZEMAP_ORIGINS` alone says nothing about who may name addresses."""
    settings.CSRF_TRUSTED_ORIGINS = ["https://maps.example.org"]
    settings.PROXIES = 1  # as it was told before there was HAZEMAP_PROXY
    settings.TRUSTED_PROXIES = [ip_network("198.51.100.0/28")]
    said = [{"x-forwarded-for": f"10.0.0.{number}"} for number in range(11)]

    assert [try_("analyst", **each).status_code for each in said] == [200] * 10 + [429]
    proxied = [try_("administrator", address="198.51.100.3", **each).status_code for each in said]
    assert proxied == [200] * 11


def test_asking_under_many_names_ends_no_count(try_):
    """Not from the guesser's own address, nor from many others."""
    assert {try_("administrator").status_code for _ in range(10)} == {200}
    for number in range(800):
        attempt_limits.sign_in(f"name{number}", "192.0.2.1" if number < 40 else f"10.0.0.{number % 250}")

    assert try_("administrator", PASSWORD).status_code == 429


def test_an_address_that_waits_adds_nothing():
    for number in range(1000):
        attempt_limits.sign_in(f"name{number}", "192.0.2.1")

    assert len(counters.own()._tables[attempt_limits.SIGN_IN_NAME].storage) == 60


PAGES = ["release", "release-map", "release-sheet", "release-download"]


@pytest.fixture
def shown(people, published):
    return publication.set_public(people["steward"], published, public=True)


@pytest.mark.parametrize("name", ["public", *PAGES])
def test_it_stops_who_reads_public_maps_all_the_time(client_of, shown, settings, name):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"public_address": 3}
    address = {"public": reverse("public")}.get(name) or address_of(name, shown)
    visitor = client_of("anonymous")

    answers = [visitor.get(address) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert "sign in" in answers[-1].content.decode()
    assert visitor.get(address, REMOTE_ADDR="192.0.2.7").status_code == 200
    assert client_of("analyst").get(address).status_code == 200


def test_public_pages_and_the_api_count_together(client_of, shown):
    visitor = client_of("anonymous")
    api = reverse("api:release", args=[shown.pk])
    for _ in range(60):
        assert visitor.get(api).status_code == 200
        assert visitor.get(reverse("public")).status_code == 200

    assert visitor.get(address_of("release-download", shown)).status_code == 429
    assert visitor.get(api).status_code == 429
    assert client_of("analyst").get(address_of("release-download", shown)).status_code == 200


def address_of(name, release):
    return reverse(name, args=[release.pk, *(["npy"] if name == "release-download" else [])])
