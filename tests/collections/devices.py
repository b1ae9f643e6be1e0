"""Devices and a shuffler for tests of the analyser: they seal for real."""

import base64
import hashlib
import json
import secrets

from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from heatmaps.collections.handover import ShufflerPart

SUITE = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)


def letters(key):
    return base64.urlsafe_b64encode(key).rstrip(b"=").decode()


class Shuffler:
    """Its part of a round, and batches of messages."""

    def __init__(self):
        public = X25519PrivateKey.generate().public_key()
        self.key = letters(public.public_bytes(Encoding.Raw, PublicFormat.Raw))

    def part(self, invitations=40):
        secrets_of_all = sorted(hashlib.sha256(secrets.token_bytes(16)).digest() for _ in range(invitations))
        digest = hashlib.sha256(b"".join(secrets_of_all)).hexdigest()
        return ShufflerPart(key=self.key, invitations=invitations, invitations_sha256=digest)


def sealed(facts, messages):
    """Each message of bytes by itself, to the analyser of a round's facts."""
    key = json.loads(facts)["analyser"]["key"]
    public = X25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key + "="))
    info = b"hazemap message 1\x00" + hashlib.sha256(facts.encode()).digest()
    return [SUITE.encrypt(message, public, info) for message in messages]


def batch_of(texts):
    """(bytes, SHA-256) of sealed messages as a shuffler hands them over."""
    batch = b"".join(sorted(texts))
    return batch, hashlib.sha256(batch).hexdigest()


def bits_of(facts, ones):
    """Bits of one report in unary: so many ones on each axis."""
    encoding = json.loads(facts)["encoding"]
    return [
        bytes([2 * axis + (place < ones[axis])]) for axis in (0, 1) for place in range(encoding["places"])
    ]
