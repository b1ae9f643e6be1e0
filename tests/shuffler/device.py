"""Seals reports as docs/explanation/collections.md says, from the text of the facts alone."""

import hashlib
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def base64url(content):
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def public_key(text):
    return X25519PublicKey.from_public_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def info(what, facts):
    return b"hazemap " + what + b" 1\0" + hashlib.sha256(facts).digest()


def packet(facts, contents):
    """A report whose messages have these contents."""
    sealed = [seal_message(facts, content) for content in contents]
    return seal_packet(facts, b"".join(sealed))


def seal_message(facts, content):
    return SUITE.encrypt(content, public_key(json.loads(facts)["analyser"]["key"]), info(b"message", facts))


def seal_packet(facts, joined):
    return SUITE.encrypt(joined, public_key(json.loads(facts)["shuffler"]["key"]), info(b"packet", facts))


def contents(facts):
    told = json.loads(facts)
    return [os.urandom(told["message_bytes"]) for _ in range(told["messages"])]


def opened(batch, private_key, facts):
    """The contents of a batch, ascending, as the analyser reads them."""
    size = 48 + json.loads(facts)["message_bytes"]
    sealed = [batch[start : start + size] for start in range(0, len(batch), size)]
    assert sealed == sorted(set(sealed))
    return sorted(SUITE.decrypt(one, private_key, info(b"message", facts)) for one in sealed)
