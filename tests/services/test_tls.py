"""A server at https, behind a proxy or with a certificate: headers, cookies, redirection, who is believed."""

import re
import sqlite3
import ssl
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import CommandError, call_command

from tests.pages.test_headers import POLICY, documented, plain
from tests.services.programs import found_or_skip, free_port
from tests.services.tls import Tls, made_certificate

# `test_encrypted_front.py` has what the connections do; starting another server takes seconds.
ITSELF = pytest.param("itself", marks=pytest.mark.long)
PASSWORD = "long enough to pass"
FORM = "application/x-www-form-urlencoded"
# Kind of answer: what is asked, and its status.
ASKED = {
    "page": ("/help/", {}, 200),
    "redirection": ("/datasets/", {}, 302),
    "static": ("/static/hazemap/hazemap.css", {}, 200),
    "admin": ("/admin/login/", {}, 302),
    "api": ("/api/schema/", {}, 200),
    "401": ("/api/v1/datasets/", {}, 401),
    "403": ("/sign-in/", {"Content-Type": FORM}, 403),
    "404": ("/api/v9/", {}, 404),
    "400": ("/help/", {"Host": "elsewhere.example"}, 400),
}


@dataclass
class Site:
    port: int
    context: ssl.SSLContext  # trusts its certificate
    server: int  # the port of the server itself

    @property
    def origin(self):
        return f"https://127.0.0.1:{self.port}"


@pytest.fixture(scope="module", params=["by a proxy", ITSELF])
def site(request, world, tmp_path_factory):
    """An embedded server that knows that TLS is ended before it, or ends it itself."""
    found_or_skip(Tls)
    made = world.installation(tmp_path_factory.mktemp("tls"))
    add_analyst(made.folder / "hazemap.sqlite3")
    ends = behind_proxy if request.param == "by a proxy" else with_certificate
    with ends(made) as site:
        yield site


@contextmanager
def behind_proxy(made):
    port = free_port()
    with Tls.before(port) as proxy:
        site = Site(port=proxy.port, context=proxy.context, server=port)
        made.others = {"HAZEMAP_ORIGINS": site.origin, "HAZEMAP_PROXY": "127.0.0.1"}
        with made.serving(port=port):
            yield site


@contextmanager
def with_certificate(made):
    port, (certificate, key) = free_port(), made_certificate(made.folder)
    site = Site(port=port, context=ssl.create_default_context(cafile=certificate), server=port)
    key.chmod(0o644)
    made.others = {"HAZEMAP_ORIGINS": site.origin, "HAZEMAP_PROXY": "none"}
    options = ("--certificate", certificate, "--key", key)
    with made.serving(*options, port=port, is_up=lambda _port: is_healthy(site)):
        assert f"Hazemap is at {site.origin}" in made.output()
        assert f"the private key {key} is open to other accounts" in made.output()
        yield site


def is_healthy(site):
    try:
        return by_tls(site, "GET", "/healthz").status == 200
    except OSError:
        return False


def add_analyst(path):
    """Without a process of the product, which would take seconds to start."""
    row = {"username": "analyst", "password": PBKDF2PasswordHasher().encode(PASSWORD, "salt")}
    row |= dict.fromkeys(["first_name", "last_name", "email"], "") | {"date_joined": "2026-01-01"}
    row |= {"is_superuser": 0, "is_staff": 0, "is_active": 1}
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        values = ", ".join("?" * len(row))
        database.execute(f"INSERT INTO auth_user ({', '.join(row)}) VALUES ({values})", list(row.values()))


def asked(connection, method, path, body=None, headers=None):
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def by_tls(site, method, path, body=None, headers=None):
    connection = HTTPSConnection("127.0.0.1", site.port, context=site.context, timeout=30)
    return asked(connection, method, path, body, headers)


def cookies_of(answer):
    return SimpleCookie("\r\n".join(answer.headers.get_all("Set-Cookie", [])))


@pytest.mark.parametrize("kind", ASKED)
def test_every_answer_has_the_headers(site, kind):
    path, headers, status = ASKED[kind]

    answer = by_tls(site, "POST" if kind == "403" else "GET", path, b"" if kind == "403" else None, headers)

    assert answer.status == status
    for name, value in documented().items():
        told = answer.headers.get_all(name, [])
        assert [plain(text) if name == POLICY else text for text in told] == [value], name


def test_cookies_are_bound_to_this_host_and_to_tls(site):
    first = by_tls(site, "GET", "/sign-in/")
    csrf = cookies_of(first)["__Host-csrftoken"]
    body = urlencode({"login": "analyst", "password": PASSWORD, "csrfmiddlewaretoken": csrf.value})
    told = {"Content-Type": FORM, "Cookie": f"__Host-csrftoken={csrf.value}", "Origin": site.origin}

    signed_in = by_tls(site, "POST", "/sign-in/", body, told)

    assert signed_in.status == 302
    given = {**cookies_of(first), **cookies_of(signed_in)}
    assert set(given) == {"__Host-csrftoken", "__Host-sessionid"}
    for cookie in given.values():
        assert cookie["secure"]
        assert cookie["httponly"]
        assert (cookie["path"], cookie["domain"], cookie["samesite"]) == ("/", "", "Lax")
    session = f"__Host-sessionid={given['__Host-sessionid'].value}"
    assert by_tls(site, "GET", "/datasets/", headers={"Cookie": session}).status == 200
    assert by_tls(site, "GET", "/datasets/", headers={"Cookie": session.replace("__Host-", "")}).status == 302


@pytest.mark.parametrize("site", [ITSELF], indirect=True)
def test_a_port_of_tls_answers_nothing_else(site):
    with pytest.raises((OSError, HTTPException)):
        asked(HTTPConnection("127.0.0.1", site.server, timeout=30), "GET", "/help/")


@pytest.mark.parametrize("site", [ITSELF], indirect=True)
def test_nobody_is_believed_about_scheme_and_address_where_there_is_no_proxy(site):
    answer = by_tls(site, "GET", "/help/", headers={"X-Forwarded-Proto": "http"})
    assert answer.status == 200


@pytest.mark.parametrize("site", ["by a proxy"], indirect=True)
def test_who_comes_without_tls_is_sent_to_it(site):
    plainly = HTTPConnection("127.0.0.1", site.server, timeout=30)

    answer = asked(plainly, "GET", "/help/?a=b", headers={"X-Forwarded-Proto": "http"})

    assert answer.status == 301
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+/help/\?a=b", answer.headers["Location"])
    assert answer.headers["Strict-Transport-Security"] is None
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("https", "given", "reason"),
    [
        (False, True, r"--certificate needs HAZEMAP_ORIGINS=https://\.\.\."),
        (True, False, "give --certificate and --key, or name a proxy"),
    ],
)
def test_it_serves_only_as_its_origin_says(tmp_path, settings, https, given, reason):
    found_or_skip(Tls)
    settings.HTTPS, settings.TRUSTED_PROXIES = https, []
    certificate, key = made_certificate(tmp_path) if given else (None, None)
    with pytest.raises(CommandError, match=reason):
        call_command("serve", port=0, certificate=certificate, key=key)


def test_it_says_in_a_line_what_is_wrong_with_a_file(tmp_path):
    with pytest.raises(CommandError) as refusal:
        call_command("serve", port=0, certificate=tmp_path / "absent", key=tmp_path / "key")
    assert str(refusal.value) == f"{tmp_path / 'absent'}: No such file or directory"
