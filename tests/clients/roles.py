"""Both roles of a round over HTTP, with real keys: what devices meet."""

import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SECRET = "kZ4Qw7n1S0uYb2c9XeLm3A"


class Roles:
    """Serves one round and takes its packets. What it says can be changed while it runs."""

    def __init__(self, server):
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.round = None
        self.analyser_facts = None  # None: the same as the shuffler's
        self.refusal = None  # (status, code) for packets
        self.redirect = None
        self.invitations = {SECRET}
        self.packets = []  # every packet that arrived, in order, also the same one again
        self.headers = []
        self.clock = time.time
        self.moments = []  # when each packet arrived
        self.before_answer = lambda: None
        self.paths = []

    @property
    def link(self):
        """For a first report, and then one for each further."""
        if self.round.open_link:
            return f"{self.url}/shuffler/contribute/#{self.round.id}"
        secret = SECRET
        while any(headers["Hazemap-Invitation"] == secret for headers in self.headers):
            secret = secrets.token_urlsafe(16)
        self.invitations.add(secret)
        return f"{self.url}/shuffler/contribute/#{self.round.id}.{secret}"

    def got(self, path):
        of_round = {
            f"/shuffler/rounds/{self.round.id}/facts.json": self.round.content,
            f"/analyser/rounds/{self.round.id}/facts.json": self.analyser_facts or self.round.content,
            f"/shuffler/rounds/{self.round.id}/table.bin": self.round.table,
        }
        return (200, of_round[path]) if path in of_round else (404, b"{}")

    def posted(self, path, body, headers):
        if path == f"/shuffler/rounds/{self.round.id}/invitations/" and self.round.open_link:
            secret = hashlib.sha256(bytes(len(self.invitations))).hexdigest()[:22]
            self.invitations.add(secret)
            return 201, {"invitation": secret}
        if path != f"/shuffler/rounds/{self.round.id}/reports/":
            return 404, {"code": "unknown_round"}
        self.headers.append(dict(headers))
        is_new = body not in self.packets
        self.packets.append(body)
        self.moments.append(self.clock())
        self.before_answer()
        if self.refusal:
            return self.refusal[0], {"code": self.refusal[1]}
        if headers["Hazemap-Invitation"] not in self.invitations:
            return 403, {"code": "unknown_invitation"}
        return 201 if is_new else 200, {"receipt": hashlib.sha256(body).hexdigest()}

    def messages(self, packet):
        """Opens a packet as the shuffler does, then every message as the analyser does."""
        sealed = self.sealed(packet)
        digest = hashlib.sha256(self.round.content).digest()
        return [
            SUITE.decrypt(message, self.round.analyser_key, b"hazemap message 1\0" + digest)
            for message in sealed
        ]

    def sealed(self, packet):
        digest = hashlib.sha256(self.round.content).digest()
        joined = SUITE.decrypt(packet, self.round.shuffler_key, b"hazemap packet 1\0" + digest)
        size = 48 + self.round.facts["message_bytes"]
        assert len(joined) == size * self.round.facts["messages"]
        return [joined[at : at + size] for at in range(0, len(joined), size)]


@contextmanager
def roles():
    """Both roles on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.paths.append(self.path)
            if state.redirect:
                self.send_response(302)
                self.send_header("Location", state.redirect)
                self.end_headers()
                return
            self.answer(*state.got(self.path))

        def do_POST(self):
            state.paths.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, value = state.posted(self.path, body, self.headers)
            self.answer(status, json.dumps(value).encode())

        def answer(self, status, content):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Roles(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
