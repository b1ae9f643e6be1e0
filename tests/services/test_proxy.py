"""Behind a proxy: scheme and client address come from it, and from nobody else."""

import contextlib
import http.client
import threading

import pytest
import waitress
from django.test import override_settings

from heatmaps.serve import proxy_options

CLAIMS = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7, 203.0.113.9"}


def seen(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    forwarded = environ.get("HTTP_X_FORWARDED_PROTO", "-")
    return [f"{environ['wsgi.url_scheme']} {environ['REMOTE_ADDR']} {forwarded}".encode()]


@pytest.fixture
def ask():
    """What the application sees of one request to a real server with the options of the moment."""
    stop, servers, threads = threading.Event(), [], []

    def asked():
        server = waitress.create_server(seen, host="127.0.0.1", port=0, threads=1, **proxy_options())
        thread = threading.Thread(target=step, args=(server, stop))
        servers.append(server)
        threads.append(thread)
        thread.start()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.effective_port)) as connection:
            connection.request("GET", "/", headers=CLAIMS)
            return connection.getresponse().read().decode()

    yield asked
    stop.set()
    for server, thread in zip(servers, threads, strict=True):
        thread.join(10)
        server.task_dispatcher.shutdown()
        server.asyncore.close_all(server._map)


def step(server, stop):
    while not stop.is_set():
        server.asyncore.loop(timeout=0.05, map=server._map, count=1)


@override_settings(CSRF_TRUSTED_ORIGINS=["https://maps.example.org"])
def test_it_believes_the_nearest_proxy(ask):
    assert ask() == "https 203.0.113.9 https"


@override_settings(CSRF_TRUSTED_ORIGINS=[])
def test_it_believes_nobody_without_one(ask):
    assert ask() == "http 127.0.0.1 -"
