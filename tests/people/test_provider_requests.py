"""A provider that means harm takes little time, little memory, and leads to no other host."""

import socket
import threading
import time

import pytest
import requests

from heatmaps.management.server import WEB_THREADS
from heatmaps.people import provider_requests
from heatmaps.people.provider_requests import ProviderSession

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.fixture
def origin_that():
    """The origin of a server that does something with every connection."""
    servers = []

    def serve(act):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def run():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=quietly, args=(act, connection), daemon=True).start()

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield serve
    for server in servers:
        server.close()


def quietly(act, connection):
    with connection:
        try:
            connection.recv(65536)
            act(connection)
        except OSError:
            pass


def says(content):
    return lambda connection: connection.sendall(content)


def drip(connection):
    while True:
        connection.sendall(b"H")
        time.sleep(0.02)


def flood(connection):
    connection.sendall(HEAD + b"\r\n")
    while True:
        connection.sendall(b" " * 65536)


def test_it_reads_an_answer(origin_that):
    origin = origin_that(says(HEAD + b"Content-Length: 9\r\n\r\n" + b'{"a": 1}\n'))
    assert ProviderSession((origin,)).get(f"{origin}/x").json() == {"a": 1}


def test_it_asks_no_host_that_settings_do_not_name(origin_that):
    asked = []
    origin = origin_that(asked.append)
    for session in (ProviderSession(()), ProviderSession((f"{origin}0", f"{origin}.example.org"))):
        with pytest.raises(requests.RequestException, match="HAZEMAP_OIDC_HOSTS"):
            session.post(f"{origin}/token", data={"client_secret": "s"})
    assert asked == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:1@evil.example/x", "http://127.0.0.1:1.evil.example/"])
def test_it_is_not_fooled_by_how_an_address_is_written(address):
    with pytest.raises(requests.RequestException, match="HAZEMAP_OIDC_HOSTS"):
        ProviderSession(("http://127.0.0.1:1",)).get(address)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_goes_to_no_other_address(origin_that, status):
    asked = []
    other = origin_that(asked.append)
    origin = origin_that(
        says(f"HTTP/1.1 {status} X\r\nLocation: {other}/\r\nContent-Length: 0\r\n\r\n".encode())
    )
    with pytest.raises(requests.TooManyRedirects):
        ProviderSession((origin, other)).post(f"{origin}/token", data={"client_secret": "s"})
    assert asked == []


@pytest.mark.parametrize("act", [drip, lambda connection: connection.recv(1)])
def test_it_waits_for_no_answer_longer_than_said(origin_that, settings, act):
    settings.PROVIDER_SECONDS = 0.3
    origin = origin_that(act)
    begun = time.monotonic()
    with pytest.raises(requests.RequestException):
        ProviderSession((origin,)).get(f"{origin}/x")
    assert time.monotonic() - begun < 30


def test_it_reads_no_answer_without_an_end(origin_that):
    origin = origin_that(flood)
    with pytest.raises(requests.RequestException, match="too long"):
        ProviderSession((origin,)).get(f"{origin}/x")


def test_threads_are_left_for_others_while_the_provider_hangs():
    assert provider_requests.MOST_AT_ONCE <= WEB_THREADS // 2


def test_those_who_wait_are_few(origin_that, monkeypatch, settings):
    """Whoever comes when all places are taken is told so at once; places come back."""
    places = threading.BoundedSemaphore(1)
    settings.PROVIDER_SECONDS = 0.3
    monkeypatch.setattr(provider_requests, "_places", places)
    go_on = threading.Event()

    def drip_until_told(connection):
        while not go_on.wait(0.02):
            connection.sendall(b"H")

    origin = origin_that(drip_until_told)
    session = ProviderSession((origin,))
    for expected in (requests.Timeout, requests.ConnectionError):
        with pytest.raises(expected, match="answer"):
            session.get(f"{origin}/x")
    go_on.set()
    assert places.acquire(timeout=30)
