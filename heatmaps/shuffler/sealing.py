"""Opens packets by HPKE (RFC 9180) as docs/explanation/collections.md fixes it."""

import hashlib
from base64 import urlsafe_b64encode
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
OVERHEAD_BYTES: Final = 48  # the encapsulated key and the tag
_PACKET: Final = b"hazemap packet 1\0"


def new_key() -> tuple[bytes, str]:
    """Makes a private key from the system's randomness, and its public one as text."""
    key = X25519PrivateKey.generate()
    return key.private_bytes_raw(), text_of(key.public_key().public_bytes_raw())


def text_of(content: bytes) -> str:
    """Encodes as base64url without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def packet_bytes(messages: int, message_bytes: int) -> int:
    """Returns the size of every packet of a round."""
    return OVERHEAD_BYTES + messages * (OVERHEAD_BYTES + message_bytes)


class PacketOpener:
    """Opens the packets of one round."""

    def __init__(self, private_key: bytes, facts: str) -> None:
        self._key = X25519PrivateKey.from_private_bytes(private_key)
        self._info = _PACKET + hashlib.sha256(facts.encode()).digest()

    def opened(self, packet: bytes) -> bytes | None:
        """Returns the sealed messages, joined; None where it was sealed to another key or for other facts."""
        try:
            return SUITE.decrypt(packet, self._key, self._info)
        except InvalidTag:
            return None
