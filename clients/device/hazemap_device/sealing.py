"""Seals messages to the analyser and packets to the shuffler, with HPKE (RFC 9180)."""

from typing import Final

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

OVERHEAD: Final = 48  # bytes that sealing adds: an encapsulated key of 32 and a tag of 16
_MESSAGE: Final = b"hazemap message 1\0"
_PACKET: Final = b"hazemap packet 1\0"
_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def packet_bytes(messages: int, message_bytes: int) -> int:
    """Counts the bytes of a packet: the same for every report of a round."""
    return OVERHEAD + messages * (OVERHEAD + message_bytes)


def sealed_packet(
    messages: list[bytes], *, analyser_key: bytes, shuffler_key: bytes, facts_sha256: bytes
) -> bytes:
    """Seals every message by itself, joins them and seals the whole.

    Every message has an encapsulated key of its own, so that nothing ties those of one report together once
    the shuffler has mixed them.
    """
    to_analyser = X25519PublicKey.from_public_bytes(analyser_key)
    to_shuffler = X25519PublicKey.from_public_bytes(shuffler_key)
    info = _MESSAGE + facts_sha256
    sealed_messages = b"".join(_SUITE.encrypt(message, to_analyser, info) for message in messages)
    return _SUITE.encrypt(sealed_messages, to_shuffler, _PACKET + facts_sha256)
