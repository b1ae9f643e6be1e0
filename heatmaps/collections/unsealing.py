"""Opens the sealed messages that people's devices sent in a round."""

from typing import Final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from heatmaps.collections import round_draws

SUITE: Final = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
_MESSAGE: Final = b"hazemap message 1\x00"


def opened(
    batch: bytes, key: X25519PrivateKey, *, facts_sha256: bytes, message_bytes: int
) -> NDArray[np.uint8]:
    """Opens the sealed messages that can be opened, `(n, message_bytes)`, in order; drops the rest."""
    sealed, info = message_bytes + round_draws.SEALED_BYTES, _MESSAGE + facts_sha256
    texts = []
    for start in range(0, len(batch), sealed):
        try:
            text = SUITE.decrypt(batch[start : start + sealed], key, info)
        except (InvalidTag, ValueError):
            continue  # of a dishonest device, or of one that knows another round
        if len(text) == message_bytes:
            texts.append(text)
    return np.frombuffer(b"".join(texts), np.uint8).reshape(-1, message_bytes)
