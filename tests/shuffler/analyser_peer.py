"""Speaks the analyser's side of docs/explanation/collections.md from a thread, honest or hostile.

It is a peer of the protocol with keys of its own, for what no honest analyser does: other facts, refusals,
errors and answers that do not end.
"""

import contextlib
import hashlib
import json
import math
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.shuffler.device import base64url

TOKEN = "a-token-of-this-collection"
TABLE = b"running sums " * 10
ROUNDS = "/api/v1/shuffler/rounds/"


@dataclass(kw_only=True)
class PeerRound:
    """One round; `opens_at` and `closes_at` are those of its facts."""

    number: int
    collection: str
    opens_at: int
    closes_at: int
    messages: int = 3
    message_bytes: int = 4
    least_honest: int = 3
    dishonest_share: str = "0.1"
    least_reports: int = 4
    open_link: bool = False
    reports_per_person: int = 1
    most_invitations: int = 100
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    state: str = "planned"
    changes: dict = field(default_factory=dict)  # what its facts say instead
    of_shuffler: dict = field(default_factory=dict)  # and of this shuffler
    spelling: dict = field(default_factory=lambda: {"separators": (",", ":")})
    refuses: bool = False  # whatever is committed
    table: bytes = TABLE
    failures: int = 0  # so many batches are answered by 500
    decided: threading.Event = field(default_factory=threading.Event)
    key: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    commitment: dict | None = None
    when_asked: dict = field(default_factory=dict)  # by what comes, what happens before its answer, once
    batches: list = field(default_factory=list)  # body, batch id and number of reports of every attempt

    def listed(self):
        return {
            "round": str(self.id),
            "number": self.number,
            "state": self.state,
            "opens_at": int(time.time()) + 1000,  # there is time until the facts are fixed
            "closes_at": int(time.time()) + 2000,
            "reports_per_person": self.reports_per_person,
            "most_invitations": self.most_invitations,
            "open_link": self.open_link,
            "least_reports": self.least_reports,
            "messages": self.messages,
            "message_bytes": self.message_bytes,
            "facts_sha256": "",
        }

    def facts(self, analyser_url, shuffler):
        told = {
            "kind": "hazemap round",
            "version": 1,
            "round": str(self.id),
            "collection": self.collection,
            "number": self.number,
            "title": "Trees \N{DECIDUOUS TREE}",
            "question": "Where is your nearest tree?",
            "region": ["13.0", "52.3", "13.8", "52.7"],
            "table_sha256": hashlib.sha256(TABLE).hexdigest(),
            "messages": self.messages,
            "message_bytes": self.message_bytes,
            "reports_per_person": self.reports_per_person,
            "invitations": self.commitment["invitations"],
            "invitations_sha256": self.commitment["invitations_sha256"],
            "open_link": self.open_link,
            "least_honest": self.least_honest,
            "dishonest_share": self.dishonest_share,
            "least_reports": self.least_reports,
            "opens_at": self.opens_at,
            "closes_at": self.closes_at,
            "analyser": {
                "operator": "Maps",
                "url": analyser_url,
                "key": base64url(self.key.public_key().public_bytes_raw()),
            },
            "shuffler": shuffler | {"key": self.commitment["key"]} | self.of_shuffler,
        }
        return json.dumps(told | self.changes, sort_keys=True, **self.spelling)

    @property
    def handed_over(self):
        """Body and number of reports of what was acknowledged."""
        assert self.decided.is_set()
        body, _, reports = self.batches[-1]
        return body, reports


class AnalyserPeer:
    """Rounds of any number of collections, behind one token."""

    def __init__(self, shuffler):
        self.shuffler = shuffler  # operator and URL, as the analyser was told of them
        self.rounds = {}
        self.is_away = False  # answers everything by 503
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.peer = self
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def plan(self, *, seconds=600, opens_in=0, **others):
        """A new round that closes so many seconds from now."""
        now = int(time.time())
        number = len(self.rounds) + 1
        made = PeerRound(
            number=number,
            collection="trees",
            opens_at=now + opens_in,
            closes_at=now + math.ceil(seconds),
            **others,
        )
        self.rounds[str(made.id)] = made
        return made

    def take_commitment(self, known, told):
        if known.state == "cancelled" or known.commitment not in (None, told):
            return 409, {"code": "round_is_fixed"}
        if known.refuses:
            return 422, {"code": "invalid"}
        known.commitment = told
        known.state = "ready"
        return 200, {"facts": known.facts(self.url, self.shuffler)}

    def take_batch(self, known, body, batch_id, reports):
        acknowledged = known.batches[-1] if known.decided.is_set() else None
        known.batches.append((body, batch_id, reports))
        if known.failures:
            known.failures -= 1
            return 500, {}
        if hashlib.sha256(body).hexdigest() != batch_id:
            return 422, {"code": "wrong_batch"}
        if acknowledged is not None:
            return (200, {}) if acknowledged == known.batches[-1] else (409, {"code": "batch_differs"})
        known.state = "closed"
        known.decided.set()
        return 201, {}


class Handler(BaseHTTPRequestHandler):
    """A request to the server's `peer`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        peer = self.server.peer
        if self.is_refused():
            return
        if self.path == ROUNDS:
            self.tell(200, {"results": [one.listed() for one in list(peer.rounds.values())]})
        else:
            self.tell_bytes(200, self.known().table)

    def do_PUT(self):
        peer, body = self.server.peer, self.rfile.read(int(self.headers["Content-Length"]))
        if self.is_refused():
            return
        if self.path.endswith("/batch/"):
            self.happens("batch")
            batch_id, reports = self.headers["Hazemap-Batch"], int(self.headers["Hazemap-Reports"])
            self.tell(*peer.take_batch(self.known(), body, batch_id, reports))
            self.happens("batch taken")
        else:
            self.happens("commitment")
            self.tell(*peer.take_commitment(self.known(), json.loads(body)))

    def happens(self, what):
        self.known().when_asked.pop(what, lambda: None)()

    def known(self):
        return self.server.peer.rounds[self.path.removeprefix(ROUNDS).partition("/")[0]]

    def is_refused(self):
        if self.server.peer.is_away:
            self.tell(503, {})
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.tell(401, {"code": "not_authenticated"})
        else:
            return False
        return True

    def tell(self, status, value):
        self.tell_bytes(status, json.dumps(value).encode())

    def tell_bytes(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        with contextlib.suppress(ConnectionError):  # it was killed meanwhile
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def silent_listener():
    """A peer that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
