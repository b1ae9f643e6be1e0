"""The web server's limits: what is refused, what ends, and that others are served meanwhile."""

import re
import time
from ipaddress import ip_network

import pytest

from heatmaps.front import headers, limits
from tests.services.front import (
    Front,
    connected,
    exchange,
    rest_of,
    sent_until_ended,
    statuses,
)
from tests.services.installation import ROOT
from tests.services.programs import wait_until

HOST = b"Host: 127.0.0.1\r\n"
PATH = b"POST /api/v1/tokens/ HTTP/1.1\r\n"
POST = PATH + HOST
BODY = b"2\r\n{}\r\n0\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\n" + HOST + b"\r\n"
# What two servers could read in two ways, or what is no HTTP.
AMBIGUOUS = {
    "both lengths": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY + HIDDEN,
    "both, the other order": POST + b"transfer-encoding: chunked\r\ncontent-length: 13\r\n\r\n" + BODY,
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}" + HIDDEN,
    "the same length twice": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "lengths in a list": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a folded length": POST + b"Content-Length:\r\n 2\r\n\r\n{}",
    "a folded header": POST + b"X-A: b\r\n\tc\r\nContent-Length: 2\r\n\r\n{}",
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY,
    "chunked of HTTP/1.0": PATH.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + BODY,
    "chunks in two codings": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + BODY,
    "a coding in disguise": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + BODY,
    "a bare line feed": POST + b"X-A: b\nContent-Length: 2\r\n\r\n{}",
    "a bare carriage return": POST + b"X-A: b\rContent-Length: 2\r\n\r\n{}",
    "a blank before the colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "a null": POST + b"X-A: b\x00c\r\nContent-Length: 2\r\n\r\n{}",
    "no host": PATH + b"Content-Length: 2\r\n\r\n{}",
    "two hosts": POST + HOST + b"Content-Length: 2\r\n\r\n{}",
    "a chunk that is longer": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "a chunk's length with a sign": POST + b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
    "a chunk's line feed alone": POST + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
    "an endless chunk's line": POST + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 5000,
}


@pytest.fixture
def front():
    with Front() as made:
        yield made


@pytest.mark.parametrize("request_", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_it_refuses_what_could_be_read_in_two_ways(front, request_):
    """Once, ending the connection: nothing hidden behind it is ever a request of its own."""
    answered = exchange(front.port, request_)

    assert statuses(answered) in ([400], [501])
    assert b"\r\nConnection: close\r\n" in answered
    assert front.seen == []


def test_it_takes_what_is_clear(front):
    plain = POST + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    chunked = POST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + BODY

    assert [statuses(exchange(front.port, data)) for data in (plain, chunked)] == [[200], [200]]
    assert front.seen == [("POST", "/api/v1/tokens/", 2)] * 2


@pytest.mark.parametrize("path", [b"/api/v1/tokens/", b"/sign-in/"])
def test_its_refusals_carry_the_headers_and_repeat_nothing(front, path):
    answered = exchange(
        front.port, b"POST " + path + b" HTTP/1.1\r\n" + HOST + HOST + b"X-Marker: m4rker\r\n\r\n"
    )

    told = answered.decode().split("\r\n")
    for name, value in headers.ALWAYS.items():
        assert f"{name}: {value}" in told
    assert f"Content-Security-Policy: {headers.NOTHING_LOADED}" in told
    assert ("Content-Type: application/problem+json" in told) == path.startswith(b"/api")
    assert b"m4rker" not in answered


@pytest.mark.parametrize(("path", "most"), [(b"/api/v1/tokens/", 2 * 2**20), (b"/nothing", 2 * 2**20)])
def test_it_takes_no_more_than_an_address_does(front, path, most):
    """Said beforehand: refused before a byte of it; not said: cut off while it comes."""
    head = b"POST " + path + b" HTTP/1.1\r\n" + HOST
    assert statuses(exchange(front.port, head + b"Content-Length: %d\r\n\r\n" % (2 * most))) == [413]
    with connected(front.port) as client:
        client.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        sent_until_ended(client, b"%x\r\n" % 65536 + b"a" * 65536 + b"\r\n", 2 * most)
        assert statuses(rest_of(client)) == [413]
    assert front.seen == []


def test_a_header_without_end_is_refused(front):
    assert statuses(exchange(front.port, b"GET / HTTP/1.1\r\nX-A: " + b"a" * limits.HEADER_BYTES)) == [431]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /",
        POST + b"X-A",
        POST + b"Content-Length: 2\r\n\r\n{",
        POST + b"Content-Length: 90000\r\n\r\n{",
    ],
    ids=["nothing", "half a line", "half a header", "half a body", "a welcome body's beginning"],
)
def test_who_keeps_it_waiting_is_ended(front, monkeypatch, sent):
    for name in ("HEADER_SECONDS", "IDLE_SECONDS", "BODY_SECONDS"):
        monkeypatch.setattr(limits, name, 0.4)
    began = time.monotonic()
    with connected(front.port) as client:
        client.sendall(sent)
        rest_of(client)
    assert 0.2 < time.monotonic() - began < 8  # unset, ten and more


def test_trickling_a_header_does_not_help(front, monkeypatch):
    monkeypatch.setattr(limits, "HEADER_SECONDS", 0.5)
    with connected(front.port) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert sent_until_ended(client, b"X-A: b\r\n", 1600, pause=0.05) < 1200


def test_a_body_may_take_its_time_as_long_as_it_comes(front, monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.4)
    monkeypatch.setattr(limits, "BODY_BYTES_A_SECOND", 100)
    with connected(front.port) as client:
        client.sendall(POST + b"Connection: close\r\nContent-Length: 10000\r\n\r\n" + b"a" * 1000)
        for _ in range(9):
            time.sleep(0.1)
            client.sendall(b"a" * 1000)
        assert statuses(rest_of(client)) == [200]


def test_who_does_not_read_is_ended(front, monkeypatch):
    """And holds no thread: both would be held here by the first two."""
    big = b"a" * 20_000_000  # more than the system's own buffers take
    front.server.application = lambda _environ, start: (
        start("200 OK", [("Content-Length", str(len(big)))]),
        [big],
    )[1]
    waiting = [connected(front.port) for _ in range(4)]
    for client in waiting:
        client.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")

    assert len(exchange(front.port, b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")) > len(big)

    monkeypatch.setattr(limits, "STALLED_SECONDS", 0.2)
    wait_until(lambda: not front.server.active_channels, seconds=60, what="the end of all four")
    assert all(len(rest_of(client)) < len(big) for client in waiting)
    for client in waiting:
        client.close()


def test_who_idles_longest_makes_room(front, monkeypatch):
    """Not who is served, nor who came last."""
    monkeypatch.setattr(limits, "CONNECTIONS_OF_ADDRESS", 20)
    served = connected(front.port)
    served.sendall(POST + b"Connection: close\r\nContent-Length: 2\r\n\r\n{")
    idle = [connected(front.port) for _ in range(60)]
    wait_until(lambda: len(front.server.active_channels) <= 21, seconds=30, what="room")
    idle[-1].sendall(b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    served.sendall(b"}")

    assert statuses(rest_of(idle[-1])) == statuses(rest_of(served)) == [200]
    assert all(rest_of(client) == b"" for client in idle[:40])
    for client in (served, *idle):
        client.close()


def test_a_proxy_may_have_more_connections_but_not_all(front, monkeypatch, settings):
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8")]
    monkeypatch.setattr(limits, "CONNECTIONS_OF_ADDRESS", 5)
    monkeypatch.setattr(limits, "CONNECTIONS", 30)
    some = [connected(front.port) for _ in range(25)]
    wait_until(lambda: len(front.server.active_channels) == 25, seconds=30, what="all of them")
    more = [connected(front.port) for _ in range(25)]
    wait_until(lambda: len(front.server.active_channels) == 30, seconds=30, what="room")
    for client in some + more:
        client.close()


def test_it_has_as_many_lines_as_its_decision_says():
    decision = (ROOT / "docs" / "decisions" / "0008-web-server.md").read_text()
    most = int(re.search(r"We maintain (\d+) lines at most", decision)[1])
    lines = sum(len(file.read_text().splitlines()) for file in (ROOT / "heatmaps" / "front").glob("*.py"))

    assert most - 50 < lines <= most
