"""Keeps the analyser's private key of each round in a file until its messages were read."""

import base64
import os
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from django.conf import settings

from heatmaps import spool
from heatmaps.pseudonyms.keys import KeyMissing

KEY_BYTES: Final = 32
KEY_LETTERS: Final = 43  # of a public key in base64url


def create(round_id: UUID) -> str:
    """Makes a key on disk, and returns its public part in base64url."""
    key = X25519PrivateKey.generate()
    descriptor = os.open(_path(round_id), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()).hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return letters(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def load(round_id: UUID) -> X25519PrivateKey:
    """Reads the private key of a round. Errors: `KeyMissing`."""
    path = _path(round_id)
    try:
        return X25519PrivateKey.from_private_bytes(bytes.fromhex(spool.key_text(path).strip()))
    except (OSError, ValueError) as error:
        raise KeyMissing(
            path.name, f"the key of this round cannot be read: the key folder must have the file {path.name}"
        ) from error


def destroy(round_id: UUID) -> None:
    """Overwrites and unlinks a key; again: nothing. What a disk keeps of old blocks is not ours to reach."""
    path = _path(round_id)
    with suppress(OSError), os.fdopen(spool.descriptor(path, os.O_RDWR), "r+b") as file:
        file.write(b"0" * min(os.fstat(file.fileno()).st_size, spool.LONGEST_KEY))
        file.flush()
        os.fsync(file.fileno())
    path.unlink(missing_ok=True)


def rounds() -> list[UUID]:
    """Returns the rounds whose keys are on disk."""
    return list(spool.ids(Path(settings.KEY_DIR), prefix=_PREFIX, suffix=".key"))


def letters(key: bytes) -> str:
    return base64.urlsafe_b64encode(key).rstrip(b"=").decode("ascii")


def key_bytes(text: str) -> bytes | None:
    """Returns the 32 bytes of a public key in base64url; None for anything else."""
    if len(text) != KEY_LETTERS or not text.isascii():
        return None
    try:
        key = base64.b64decode(text + "=", altchars=b"-_", validate=True)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES and letters(key) == text else None


_PREFIX: Final = "round-"


def _path(round_id: UUID) -> Path:
    return Path(settings.KEY_DIR) / f"{_PREFIX}{round_id}.key"
