"""Opens the messages of a round and makes its result; draws nothing, so that it may be done again."""

from typing import Final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from heatmaps import spool
from heatmaps.collections import facts, handover, round_draws, round_keys
from heatmaps.models import Release
from mechanisms.results.serialization import Result

SUITE: Final = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
_MESSAGE: Final = b"hazemap message 1\x00"


class TooFew(Exception):  # noqa: N818 - reads as what it says
    """Says that fewer reports came in than the round declared: nothing is published."""


class PromiseChanged(Exception):  # noqa: N818 - reads as what it says
    """Says that today's program would not keep the promise that was charged for."""


FINAL: Final = (TooFew, PromiseChanged)


def is_final(cause: type[Exception]) -> bool:
    """Tells whether the round would fail again, whichever machine reads it."""
    return cause in FINAL


def result_of(release: Release) -> Result:
    """Returns the result of a round; its rows are not read again.

    Errors: TooFew; PromiseChanged; `KeyMissing`; OSError.
    """
    collection_round = release.round
    draw = round_draws.draw_of(collection_round)
    if not (round_draws.keeps_promise(release, draw) and facts.are_of(collection_round, draw)):
        raise PromiseChanged
    if collection_round.reports is None or collection_round.reports < draw.least_reports:
        raise TooFew
    with spool.opened(handover.batch_path(release.pk)) as file:
        batch = file.read()
    messages = opened(
        batch,
        round_keys.load(release.pk),
        facts_sha256=bytes.fromhex(collection_round.facts_sha256),
        message_bytes=draw.device.message_bytes,
    )
    return draw.device.analyse(messages, collection_round.reports)


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
