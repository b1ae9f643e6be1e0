"""Facts of a round with real keys, as both roles serve them."""

import base64
import hashlib
import json
import math
import time
import uuid
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.mechanisms.devices.plans import REGION, plan


@dataclass
class Round:
    """A round that takes reports; `changes` replaces what its facts say."""

    mechanism: str = "planar-geometric"
    changes: dict = field(default_factory=dict)
    opens_in: int = -3600  # seconds
    closes_in: int = 90
    analyser_url: str = "http://127.0.0.1:9"
    shuffler_url: str = "http://127.0.0.1:8"
    operators: tuple = ("Statistics Office", "Mixing Trust")

    def __post_init__(self):
        self.id = str(uuid.uuid4())
        self.analyser, self.shuffler = X25519PrivateKey.generate(), X25519PrivateKey.generate()
        self.plan = plan(self.mechanism)
        self.table = self.plan.table
        self.text = canonical(self.complete(self.facts()))
        self.sha256 = hashlib.sha256(self.text).digest()

    def complete(self, facts):
        """With the loss without a shuffler, where nothing else was said of it."""
        is_alone = facts["trust"] == "local" or facts["open_link"]
        return {"loss_alone": facts["loss"] if is_alone else {**facts["loss"], "epsilon": "7"}, **facts}

    def facts(self):
        now = int(time.time())
        shuffled = str(self.plan.trust) == "shuffle"
        return {
            "kind": "hazemap round",
            "version": 1,
            "round": self.id,
            "collection": "evening-walks",
            "number": 3,
            "title": "Evening walks in Zürich–Süd",
            "question": "Where did you take your last walk after six in the evening?",
            "region": [repr(edge) for edge in REGION],
            "mechanism": self.mechanism,
            "trust": str(self.plan.trust),
            "encoding": self.plan.encoding,
            "table_sha256": hashlib.sha256(self.table).hexdigest(),
            "messages": self.plan.messages,
            "message_bytes": self.plan.message_bytes,
            "reports_per_person": 1,
            "invitations": 500,
            "invitations_sha256": "0" * 64,
            "open_link": False,
            "least_honest": 100,
            "dishonest_share": "1/5",
            "least_reports": 125,
            "opens_at": now + self.opens_in,
            "closes_at": now + self.closes_in,
            "analyser": role(self.operators[0], self.analyser_url, self.analyser),
            "shuffler": role(self.operators[1], self.shuffler_url, self.shuffler),
            "loss": {
                "epsilon": "1" if shuffled else claimed(self.plan, 600),
                "delta": "0.000001" if shuffled else "0",
                "radius_m": "600",
                "record_epsilon": "inf" if shuffled else claimed(self.plan, REGION.diameter_m),
            },
            "page_sha384": "",
            **self.changes,
        }


def claimed(plan, metres):
    """What one report costs at a distance, as a decimal that is rounded up."""
    return str(math.ceil(plan.per_report.loss(metres) * 10**6) / 10**6)


def canonical(facts):
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def role(operator, url, key):
    public = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).rstrip(b"=").decode()
    return {"operator": operator, "url": url, "key": public}
