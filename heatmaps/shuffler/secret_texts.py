"""Makes secrets of invitations, their digests, and what a round commits to."""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final

_SECRET_BYTES: Final = 16
_MARK_BYTES: Final = 8  # of an open link's secret; the other half is random
_KEY_BYTES: Final = 32
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


def new() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def new_link_key() -> bytes:
    return secrets.token_bytes(_KEY_BYTES)


def new_of_link(key: bytes) -> str:
    """Makes an open link's secret, which its key recognizes: rows would keep the order of arrival."""
    nonce = secrets.token_bytes(_SECRET_BYTES - _MARK_BYTES)
    return urlsafe_b64encode(nonce + _mark(nonce, key)).rstrip(b"=").decode()


def is_of_link(secret: str, key: bytes) -> bool:
    """Returns whether a text of a secret's form was made by this key: a guess is with probability 2^-64."""
    content = urlsafe_b64decode(secret + "==")
    nonce, mark = content[:-_MARK_BYTES], content[-_MARK_BYTES:]
    is_canonical = urlsafe_b64encode(content).rstrip(b"=").decode() == secret
    return hmac.compare_digest(mark, _mark(nonce, key)) and is_canonical


def _mark(nonce: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(nonce, key=key, digest_size=_MARK_BYTES).digest()


def is_one(text: str) -> bool:
    """Returns whether a text has the form of a secret."""
    return _FORM.fullmatch(text) is not None


def digest(secret: str) -> str:
    """Returns the SHA-256 of the secret's 22 characters, hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def commitment(digests: Iterable[str]) -> str:
    """Computes SHA-256 over the ascending, joined digests: an order that says nothing of people's."""
    return hashlib.sha256(b"".join(bytes.fromhex(text) for text in sorted(digests))).hexdigest()
