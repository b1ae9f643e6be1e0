"""Makes secrets of invitations, their digests, and what a round commits to."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from typing import Final

_SECRET_BYTES: Final = 16
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


def new() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def is_one(text: str) -> bool:
    """Whether a text has the form of a secret."""
    return _FORM.fullmatch(text) is not None


def digest(secret: str) -> str:
    """SHA-256 of the secret's 22 characters, hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def commitment(digests: Iterable[str]) -> str:
    """SHA-256 over the ascending, joined digests: an order that says nothing of people's."""
    return hashlib.sha256(b"".join(bytes.fromhex(one) for one in sorted(digests))).hexdigest()
