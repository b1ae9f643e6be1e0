"""A shuffler and an analyser on loopback, small and real: they serve, take packets and open them."""

import base64
import hashlib
import json
import mimetypes
import re
import secrets
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from heatmaps.page_bundle import PAGE, bundle, canonical
from tests.contribute.node import CONTRIBUTE, SEALING

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml"}


class Role:
    """One origin. `asked` are the requests it got: method, path, headers, body."""

    def __init__(self):
        self.asked = []
        self.rounds = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @contextmanager
    def running(self):
        thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            thread.join()
            self.server.server_close()

    def answer(self, method, path, headers, body):
        """(status, content, headers)"""
        raise NotImplementedError

    def facts(self, path):
        found = re.fullmatch(r"/rounds/([0-9a-f-]{36})/facts\.json", path)
        return self.rounds[found[1]].text if found and found[1] in self.rounds else None

    def _handler(self):
        role = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                role.asked.append((self.command, self.path, dict(self.headers), body))
                status, content, headers = role.answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in ({"Cache-Control": "no-cache"} | headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_OPTIONS = handle_one  # noqa: N815 - names of http.server

            def log_message(self, *args):
                pass

        return Handler


_CORS = {"Access-Control-Allow-Origin": "*"}


class Analyser(Role):
    def answer(self, method, path, headers, body):
        text = self.facts(path)
        return (404, b"", _CORS) if text is None else (200, text, _CORS)


class Shuffler(Role):
    """With the page as the product has it, or with other `files`."""

    def __init__(self, analyser_url):
        super().__init__()
        self.policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"connect-src 'self' {analyser_url}; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        )
        self.files = files()
        self.listed = None  # another list of files than theirs
        self.invitations = {}
        self.packets = {}
        self.refusal = None  # (status, code) of whatever comes; it keeps what came
        self.receives = True  # a shuffler that breaks off takes a packet, and answers nothing of use

    def invite(self, found):
        self.rounds[found.id] = found
        secret = secrets.token_urlsafe(16)
        self.invitations[secret] = found.id
        return f"{self.url}/contribute/#{found.id}.{secret}"

    def answer(self, method, path, headers, body):
        if path.startswith("/contribute/"):
            return self._file(path.removeprefix("/contribute/"))
        text = self.facts(path)
        if text is not None:
            return 200, text, {}
        found = re.fullmatch(r"/rounds/([0-9a-f-]{36})/(table\.bin|reports/|invitations/)", path)
        if not found or found[1] not in self.rounds:
            return problem(404, "unknown_round")
        if found[2] == "table.bin":
            return 200, self.rounds[found[1]].table, {}
        if found[2] == "invitations/":
            secret = secrets.token_urlsafe(16)
            self.invitations[secret] = found[1]
            return 201, json.dumps({"invitation": secret}).encode(), {"Content-Type": "application/json"}
        return self._take(self.rounds[found[1]], headers["Hazemap-Invitation"], body)

    def _take(self, found, secret, packet):
        if self.refusal:
            self.packets[secret] = packet
            return problem(*self.refusal)
        if self.invitations.get(secret) != found.id:
            return problem(403, "unknown_invitation")
        if len(packet) != 48 + found.plan.messages * (48 + found.plan.message_bytes):
            return problem(422, "wrong_size")
        again = self.packets.get(secret)
        if again not in (None, packet):
            return problem(409, "invitation_used")
        self.packets[secret] = packet
        if not self.receives:
            return 503, b"", {}
        receipt = json.dumps({"receipt": hashlib.sha256(packet).hexdigest()}).encode()
        return 200 if again else 201, receipt, {"Content-Type": "application/json"}

    def _file(self, name):
        headers = {"Content-Security-Policy": self.policy, "X-Content-Type-Options": "nosniff"}
        if name == "bundle.json":
            return (
                200,
                canonical(self.listed or self.manifest),
                headers | {"Content-Type": "application/json"},
            )
        if name not in self.files:
            return problem(404, "not_found")
        suffix = "." + name.rsplit(".", 1)[-1]
        kind = TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "text/html; charset=utf-8"
        return 200, self.files[name], headers | {"Content-Type": kind}

    @property
    def manifest(self):
        return [
            [name, base64.b64encode(hashlib.sha384(content).digest()).decode()]
            for name, content in sorted(self.files.items())
            if name != "places.json"
        ]


def files():
    """What the page is made of, by path below /contribute/."""
    manifest, _ = bundle(CONTRIBUTE, SEALING)
    found = {"": PAGE.read_bytes()}
    for name, _ in manifest:
        if name:
            folder = SEALING if name.startswith("hpke/") else CONTRIBUTE
            found[name] = (folder / name.removeprefix("hpke/")).read_bytes()
    return found


def opened(found, packet):
    """The messages of a packet, opened as the two roles open them."""
    joined = SUITE.decrypt(packet, found.shuffler, b"hazemap packet 1\0" + found.sha256)
    size = 48 + found.plan.message_bytes
    sealed = [joined[at : at + size] for at in range(0, len(joined), size)]
    return [SUITE.decrypt(one, found.analyser, b"hazemap message 1\0" + found.sha256) for one in sealed]


def problem(status, code):
    return status, json.dumps({"code": code}).encode(), {"Content-Type": "application/problem+json"}


@contextmanager
def both():
    with ExitStack() as stack:
        analyser = stack.enter_context(Analyser().running())
        shuffler = stack.enter_context(Shuffler(analyser.url).running())
        yield shuffler, analyser
