"""Behind a proxy: scheme and client address come from it, and from nobody else."""

from ipaddress import ip_network

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from heatmaps.config import environment
from heatmaps.front import proxy
from heatmaps.front.proxy import believe_proxy

PROXY, STRANGER = "10.1.2.3", "192.0.2.1"
CLAIMS = {
    "x-forwarded-for": "198.51.100.7, 203.0.113.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "elsewhere.example.org",
    "x-forwarded-port": "99",
    "forwarded": "for=198.51.100.7",
    "x-real-ip": "198.51.100.7",
}
HTTPS = ["https://maps.example.org"]


@pytest.fixture
def seen(settings):
    """Scheme and address that the product sees, and what is left of claims."""
    settings.TRUSTED_PROXIES = [ip_network("10.1.2.0/24"), ip_network("2001:db8::7")]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    def see(peer, **claims):
        request = RequestFactory().get("/", headers=CLAIMS | claims, REMOTE_ADDR=peer)
        believe_proxy(lambda _request: HttpResponse())(request)
        left = [name for name in request.META if "FORWARDED" in name or "REAL_IP" in name]
        return request.scheme, request.META["REMOTE_ADDR"], left

    return see


@pytest.mark.parametrize("peer", [PROXY, "2001:db8::7", f"::ffff:{PROXY}"])
def test_it_believes_what_the_proxy_added(seen, peer):
    """Only that: what stands before it, a client wrote."""
    assert seen(peer) == ("https", "203.0.113.9", ["HTTP_X_FORWARDED_PROTO"])


@pytest.mark.parametrize("peer", [STRANGER, "10.1.3.3", "2001:db8::8", "", "10.1.2.3.4"])
def test_it_believes_nobody_else(seen, peer):
    assert seen(peer) == ("http", peer, [])


def test_what_the_proxy_does_not_say_is_not_made_up(seen):
    assert seen(PROXY, **{"x-forwarded-for": "", "x-forwarded-proto": "ftp"}) == ("http", PROXY, [])
    assert seen(PROXY, **{"x-forwarded-for": "203.0.113.9, unknown"})[1] == PROXY


def test_a_proxy_that_names_no_client_is_logged_once(settings, caplog):
    """But for the health check, which is asked on its machine."""
    settings.TRUSTED_PROXIES = [ip_network("10.1.2.0/24")]
    answer = believe_proxy(lambda _request: HttpResponse())
    answer(RequestFactory().get("/healthz", REMOTE_ADDR=PROXY))
    answer(RequestFactory().get("/", headers={"x-forwarded-for": "203.0.113.9"}, REMOTE_ADDR=PROXY))
    answer(RequestFactory().get("/", REMOTE_ADDR=STRANGER))
    assert "proxy.names_no_client" not in caplog.text
    for _ in range(2):
        answer(RequestFactory().get("/", REMOTE_ADDR=PROXY))
    assert caplog.text.count("proxy.names_no_client") == 1


def test_a_proxy_without_an_origin_is_doubted(settings):
    settings.TRUSTED_PROXIES, settings.CSRF_TRUSTED_ORIGINS = [ip_network("127.0.0.1")], []
    assert "unset HAZEMAP_PROXY where no proxy is in front" in proxy.doubt()
    settings.CSRF_TRUSTED_ORIGINS = ["http://maps.local"]
    assert proxy.doubt() == ""
    settings.TRUSTED_PROXIES, settings.CSRF_TRUSTED_ORIGINS = [], []
    assert proxy.doubt() == ""


@pytest.mark.parametrize(
    ("text", "networks"),
    [
        ("127.0.0.1", ["127.0.0.1/32"]),
        (" 10.1.2.0/24 , ::1", ["10.1.2.0/24", "::1/128"]),
    ],
)
def test_it_takes_addresses_and_networks(monkeypatch, text, networks):
    monkeypatch.setenv("HAZEMAP_PROXY", text)

    assert [str(network) for network in environment.trusted_proxies(HTTPS)] == networks


@pytest.mark.parametrize("text", ["proxy.example.org", "10.1.2.3/24", "*", "127.0.0.1;::1"])
def test_it_refuses_what_is_neither(monkeypatch, text):
    monkeypatch.setenv("HAZEMAP_PROXY", text)

    with pytest.raises(RuntimeError, match="HAZEMAP_PROXY"):
        environment.trusted_proxies([])


def test_it_does_not_start_with_https_and_nobody_to_believe(world, tmp_path, monkeypatch):
    monkeypatch.delenv("HAZEMAP_PROXY", raising=False)
    assert environment.trusted_proxies([]) == environment.trusted_proxies(["http://maps.local"]) == []
    with pytest.raises(RuntimeError, match=r"HAZEMAP_ORIGINS says https.* set HAZEMAP_PROXY"):
        environment.trusted_proxies(HTTPS)

    made = world.installation(tmp_path, others={"HAZEMAP_ORIGINS": HTTPS[0]})
    refused = made.manage("serve", "--port", "0", check=False)
    assert refused.returncode == 1
    assert "HAZEMAP_ORIGINS says https" in refused.stderr.splitlines()[-1]
