"""Rounds for tests of the device client: facts with real keys, small tables of every kind."""

import base64
import hashlib
import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

REGION = ["16.18", "48.11", "16.58", "48.33"]
INSIDE = (48.2, 16.37)
ALONE = {"epsilon": "7", "delta": "0", "radius_m": "600", "record_epsilon": "inf"}


def numbers(*values, width=8):
    return b"".join(value.to_bytes(width, "big") for value in values)


def axis(side):
    """A law on `side` offsets, far of which are as likely as near ones: (fields, running sums)."""
    ends = [1000 * (place + 1) for place in range(side)]
    return {"uniform": 3, "total": ends[-1] + 3 * side}, numbers(*ends)


def squares(domains=(40, 30)):
    return {
        "width_um": 30_000_000_000,
        "height_um": 24_000_000_000,
        "cell_um": 800_000_000,
        "domains": [*domains],
    }


def unary(padding=6):
    """Noise with more weight in the middle; numbers of two bytes."""
    ends = [65536 * (k + 1) // (2 * padding + 1) for k in range(2 * padding)]
    domain = 40
    encoding = {
        "kind": "unary", **squares(), "domain": domain, "padding": padding, "places": domain + 2 * padding,
        "number_bytes": 2,
    }  # fmt: skip
    return encoding, numbers(*ends, width=2), 2 * (domain + 2 * padding), 1


def flips():
    return {"kind": "flips", **squares(), "flips": [2**30, 2**30]}, b"", 70, 1


def axes():
    (across, columns), (along, rows) = axis(8), axis(5)
    return {"kind": "axes", "columns": 8, "rows": 5, "across": across, "along": along}, columns + rows, 1, 4


def items(samples=7):
    encoding, table, _, size = axes()
    return {**encoding, "kind": "items", "samples": samples}, table, samples, size


def offsets():
    law, table = axis(40)
    return {"kind": "offsets", "columns": 8, "rows": 5, **law, "total": 40_000 + 3 * 40}, table, 1, 4


def rows():
    table = b"".join(numbers(*(100 * (cell + 1) for cell in range(6))) for _ in range(6))
    return {"kind": "rows", "columns": 3, "rows": 2, "total": 600}, table, 1, 4


def gkrr():
    weights = {"own": 2**60 + 1, "near": 2**59, "far": 2**40}
    written = {name: str(weight) if weight >= 2**53 else weight for name, weight in weights.items()}
    return {"kind": "gkrr", "level": 3, "districts": 4, "district_cells": 16, **written}, b"", 1, 4


def shares(levels=(1, 2), count=4):
    encoding = {
        "kind": "shares", "levels": [*levels], "parts": 1024, "shares": count, "modulus": 2**30,
        "value_bytes": 4, "scales": ["2049/16"] * len(levels), "cluster_entries": [2] * len(levels),
        "number_bytes": 2,
    }  # fmt: skip
    table = numbers(30_000, 60_000, width=2) * len(levels)
    return encoding, table, count * sum(4**level for level in levels), 8


def quiet_shares(levels=(1, 2)):
    """Without noise but once in 2^120 coordinates: what is sent sums to the place itself."""
    encoding, _, messages, size = shares(levels)
    encoding = {**encoding, "number_bytes": 16, "cluster_entries": [1] * len(levels)}
    return encoding, b"\xff" * 16 * len(levels), messages, size


def masses(messages, modulus=2**30):
    """Sums of shares by coordinate, those that are not 0."""
    sums = Counter()
    for message in messages:
        sums[int.from_bytes(message[:4], "big")] += int.from_bytes(message[4:], "big")
    return {coordinate: value % modulus for coordinate, value in sums.items() if value % modulus}


KINDS = {
    "axes": axes, "flips": flips, "gkrr": gkrr, "items": items, "offsets": offsets, "rows": rows,
    "shares": shares, "unary": unary,
}  # fmt: skip


def public(key):
    return base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).decode().rstrip("=")


def role(operator, url, key):
    return {"operator": operator, "url": url, "key": public(key)}


def written(facts):
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()


@dataclass
class Round:
    """A round with its two keys; `facts` may be changed before it is served."""

    kind: tuple = field(default_factory=unary)
    url: str = "http://127.0.0.1:1"
    reports_per_person: int = 2
    open_link: bool = False
    changes: dict = field(default_factory=dict)
    opens_at: int = 0
    closes_at: int = 0
    analyser_key: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    shuffler_key: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def __post_init__(self):
        encoding, self.table, messages, message_bytes = self.kind
        now = int(time.time())
        is_local = encoding["kind"] in ("axes", "gkrr", "offsets", "rows")
        self.facts = {
            "kind": "hazemap round", "version": 1, "round": self.id, "collection": "commute", "number": 3,
            "title": "Ways to work", "question": "Where do you work?", "region": REGION,
            "mechanism": "sgdl-shuffle", "trust": "local" if is_local else "shuffle", "encoding": encoding,
            "table_sha256": hashlib.sha256(self.table).hexdigest(), "messages": messages,
            "message_bytes": message_bytes, "reports_per_person": self.reports_per_person, "invitations": 20,
            "invitations_sha256": "00" * 32, "open_link": self.open_link, "least_honest": 9,
            "dishonest_share": "0.1", "least_reports": 10, "opens_at": self.opens_at or now - 60,
            "closes_at": self.closes_at or now + 3600,
            "analyser": role("City", f"{self.url}/analyser", self.analyser_key),
            "shuffler": role("Union", f"{self.url}/shuffler", self.shuffler_key),
            "loss": {"epsilon": "1/2", "delta": "1/1000000", "radius_m": "600", "record_epsilon": "inf"},
            "page_sha384": "", **self.changes,
        }  # fmt: skip
        is_alone = is_local or self.facts["open_link"]
        self.facts.setdefault("loss_alone", self.facts["loss"] if is_alone else ALONE)

    @property
    def content(self):
        return written(self.facts)
