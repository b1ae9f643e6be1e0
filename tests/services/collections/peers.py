"""What one role may do to the other one, and an honest product would not."""

import hashlib
import json
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.collections.devices import Shuffler, bits_of, sealed

ROUNDS = "/api/v1/shuffler/rounds/"


class HostileShuffler:
    """Has a collection's token, and hands over what it likes."""

    def __init__(self, port, token, made):
        self.port, self.token, self.path = port, token, f"{ROUNDS}{made.id}/"
        self.facts, self.honest = "", []

    def ask(self, method, path, body=None, **headers):
        """(status, answer)."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            own = {"Authorization": f"Bearer {self.token}"}
            connection.request(method, path, body, own | headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        finally:
            connection.close()

    def take_part(self, invitations):
        part = Shuffler().part(invitations)
        told = {name: getattr(part, name) for name in ("key", "invitations", "invitations_sha256")}
        answer = self.ask("PUT", self.path, json.dumps(told), **{"Content-Type": "application/json"})
        self.facts = answer[1].get("facts", "")
        return answer

    def reports(self, count, ones=(3, 5)):
        """Messages of so many honest reports."""
        return [one for _ in range(count) for one in sealed(self.facts, bits_of(self.facts, ones))]

    def hand_over(self, messages, *, reports, order=sorted):
        batch = b"".join(order(messages))
        headers = {"Hazemap-Batch": hashlib.sha256(batch).hexdigest(), "Hazemap-Reports": str(reports)}
        headers["Content-Type"] = "application/octet-stream"
        return self.ask("PUT", f"{self.path}batch/", batch, **headers)


class Between(BaseHTTPRequestHandler):
    """Hands everything on to the analyser; what devices are told of a round may be forged."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.hand_on(None)

    def do_PUT(self):
        self.hand_on(self.rfile.read(int(self.headers["Content-Length"])))

    def hand_on(self, body):
        connection = HTTPConnection("127.0.0.1", self.server.analyser_port, timeout=60)
        headers = {name: text for name, text in self.headers.items() if name.lower() != "host"}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if self.path.endswith("facts.json") and self.server.forge is not None:
            content = self.server.forge(content)
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def between(analyser_port):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Between)
    server.daemon_threads, server.analyser_port, server.forge = True, analyser_port, None
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
