"""Bodies that nobody wants: one whole answer each, however many come at once and whatever stands in front."""

import logging
import socket
import ssl
import struct
import threading
from collections import Counter
from functools import partial

import pytest

from heatmaps.front import certificate
from heatmaps.front.connection import Connection
from tests.services.front import Front, connected
from tests.services.programs import found_or_skip, wait_until
from tests.services.refused_bodies import CLIENTS, Answers, answered, outcomes, post
from tests.services.tls import Tls, made_certificate

REASONS = {403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 429: "Too Many Requests"}
LARGE = 5_000_000  # more than any address here takes: 413
REQUESTS = [*(post(f"/{status}") for status in REASONS), post("/413", stated=LARGE)]
STATUSES = [*REASONS, 413]
HOST = b"Host: 127.0.0.1\r\n"


def refuse(environ, start_response):
    """Answers without reading: by the status that the path names, a GET by 200."""
    status = int(environ["PATH_INFO"].removeprefix("/") or 200)
    if status == 413:
        environ["wsgi.input"].read()  # would take it: the server itself refuses
    body = b"%d" % status * 500
    start_response(f"{status} {REASONS.get(status, 'OK')}", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def front():
    with Front() as made:
        made.server.application = refuse
        yield made


def single_answers(count):
    """What is to come of `CLIENTS` clients with `count` requests each, a multiple of the five."""
    return {
        (number, Answers((status,), is_whole=True)): CLIENTS * count // len(STATUSES)
        for number, status in enumerate(STATUSES)
    }


@pytest.mark.parametrize("count", [50, pytest.param(2000, marks=pytest.mark.long)])
def test_each_gets_one_whole_answer_and_no_reset(front, caplog, count):
    """Without the lock 5 to 24 of 600 got two answers or a reset, in 30 of 30 runs."""
    assert outcomes(front.port, REQUESTS, count) == single_answers(count)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_so_does_who_says_to_send_nothing_more(front):
    assert outcomes(front.port, REQUESTS, 5, says_end=True) == single_answers(5)


@pytest.mark.long
def test_each_gets_one_whole_answer_by_tls(tmp_path):
    found_or_skip(Tls)
    files = made_certificate(tmp_path)
    trusting = ssl.create_default_context(cafile=files[0])
    wrapped = partial(trusting.wrap_socket, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
    with Front(certificate.context(*files)) as front:
        front.server.application = refuse
        assert outcomes(front.port, REQUESTS, 25, wrapped=wrapped) == single_answers(25)


def test_who_waits_for_a_hundred_gets_it_once(front):
    """Also behind another request on the same connection, when threads say it beside the loop."""
    first = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    second = b"POST /404 HTTP/1.1\r\n" + HOST + b"Connection: close\r\nExpect: 100-continue\r\n"
    request = first + second + b"Content-Length: 300\r\n\r\n"

    assert outcomes(front.port, [request], 25, continuation=b"a" * 300) == {
        (0, Answers((200, 100, 404), is_whole=True)): CLIENTS * 25
    }


def test_a_request_without_a_body_need_not_be_told_to_go_on(front):
    last = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\nExpect: 100-continue\r\n\r\n"

    assert answered(front.port, last).statuses == (100, 200)


def test_nothing_follows_an_answer_that_ends_the_connection(front):
    last = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"

    assert outcomes(front.port, [last + post("/403")], 10) == {
        (0, Answers((200,), is_whole=True)): CLIENTS * 10
    }


def test_only_the_loop_closes_whoever_finds_a_client_gone(front, monkeypatch):
    """What a thread closes could be a new client's by the time the loop looks at it."""
    serving, gone, closing = threading.Event(), threading.Event(), Counter()
    close = Connection.handle_close

    def serve(environ, start_response):
        serving.set()
        assert gone.wait(30)
        return refuse(environ, start_response)

    def close_and_count(connection):
        closing[threading.current_thread().name] += 1
        close(connection)

    monkeypatch.setattr(Connection, "handle_close", close_and_count)
    front.server.application = serve
    request = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    waiting = b"POST /404 HTTP/1.1\r\n" + HOST + b"Content-Length: 300\r\nExpect: 100-continue\r\n\r\n"
    for _ in range(25):
        serving.clear()
        gone.clear()
        with connected(front.port) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # resets
            client.sendall(request + waiting)
            assert serving.wait(30)
        gone.set()
        wait_until(lambda: not front.server.active_channels, seconds=30, what="its end")

    assert set(closing) == {front.thread.name}
