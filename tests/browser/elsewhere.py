"""Websites of somebody else on this machine: each port is an origin of its own."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Website:
    """Answers every address with `body` in a page."""

    def __init__(self):
        self.body = ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def origin(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def _handler(website):  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                page = f"<!doctype html><title>News</title><h1>News</h1>{website.body}".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_arguments):
                pass

        return Handler

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield self
        self._server.shutdown()
        self._server.server_close()
        thread.join()
