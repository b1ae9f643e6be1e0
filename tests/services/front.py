"""Raw connections to a server of a test, and a server of ours in a thread."""

import contextlib
import socket
import threading
import time

from heatmaps.front import limits, server
from heatmaps.management.server import listen


class Front:
    """Answers every request that gets through with the length of its body; `seen` has what got through."""

    def __init__(self, tls=None):
        self.seen, self._stop = [], threading.Event()
        self._listener = listen("127.0.0.1", 0)
        self.port = self._listener.getsockname()[1]
        self.server = server.create(self._answer, self._listener, threads=2, tls=tls)
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        limits.most_body_bytes("/")  # imports all views, as `serve` does before it listens
        self.thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self.thread.join(10)
        self.server.task_dispatcher.shutdown()
        self.server.asyncore.close_all(self.server._map)

    def _run(self):
        while not self._stop.is_set():
            self.server.next_channel_cleanup = 0  # look for overdue connections each time
            self.server.asyncore.loop(timeout=0.02, map=self.server._map, use_poll=True, count=1)

    def _answer(self, environ, start_response):
        body = environ["wsgi.input"].read()
        self.seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], len(body)))
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
        return [b"done"]


def connected(port, *, timeout=30):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def exchange(port, data, *, timeout=30):
    """Everything that is answered until the server ends the connection. Errors: TimeoutError."""
    with connected(port, timeout=timeout) as client:
        client.sendall(data)
        return rest_of(client)


def rest_of(client):
    """What still comes, until the server ends the connection, in whatever way."""
    answered = b""
    with contextlib.suppress(ConnectionError):
        while more := client.recv(65536):
            answered += more
    return answered


def statuses(answered):
    """Of all answers in what came."""
    lines = [line for line in answered.split(b"\r\n") if line.startswith(b"HTTP/1.")]
    return [int(line.split()[1]) for line in lines]


def sent_until_ended(client, piece, most, *, pause=0):
    """Bytes that went out, in pieces, before the connection broke; at least `most` where it did not."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            client.sendall(piece)
            sent += len(piece)
            time.sleep(pause)
    return sent
