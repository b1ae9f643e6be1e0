"""Servers of a test's own on loopback: one that answers as it is told, and one that loses an answer."""

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def answering(answer):
    """A server whose every answer is `answer(handler)`: (status, headers, body). It keeps what was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            asked.append((self.command, self.path, dict(self.headers)))
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join(10)


@contextlib.contextmanager
def losing_answers(port, *, of, times):
    """A way to a server on which the first answers to requests that begin with `of` are lost.

    They are read whole before they are lost: the server did what it was asked for.
    """
    lost = []

    def pass_on(near):
        with contextlib.suppress(OSError), near, socket.create_connection(("127.0.0.1", port)) as far:
            asked = _request(near)
            far.sendall(asked.replace(b"Connection: keep-alive", b"Connection: close", 1))
            answer = b"".join(iter(lambda: far.recv(65536), b""))
            if asked.startswith(of) and len(lost) < times:
                lost.append(answer)
            else:
                near.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, pass_on))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", lost
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _accept(listener, pass_on):
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=pass_on, args=(listener.accept()[0],), daemon=True).start()


def _request(near):
    """Head and body of one request."""
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += near.recv(65536)
    head, _, body = asked.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
    )
    while len(body) < length:
        body += near.recv(65536)
    return head + b"\r\n\r\n" + body
