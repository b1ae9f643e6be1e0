"""Keeps one secret key per dataset as a file outside the database.

A thief of the database alone can neither recognise a user name nor a file he holds. A key is made once,
with its dataset, and never changes: with another key the same person would become a second one.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import Final, Self

import numpy as np
from django.conf import settings

from heatmaps import spool
from heatmaps.models import Dataset, UserForm
from heatmaps.pseudonyms import user_names
from heatmaps.pseudonyms.person_hashes import NARROW_BITS, PERSON, Persons
from heatmaps.spool import sync_folder

KEY_BYTES: Final = 32
MOST_KNOWN: Final = 100_000  # names of a file and their hashes in memory, some 150 bytes each

# What a digest is for goes in as BLAKE2's `person` field, so that one key serves them all apart.
_FINGERPRINT: Final = b"hm-fingerprint"
_PERSON: Final = b"hm-person"
_CONTENT: Final = b"hm-content"


class KeyFileError(RuntimeError):
    """Says that the dataset's key cannot be used; `file_name` is relative to the key folder."""

    code = "key_file"

    def __init__(self, file_name: str, message: str) -> None:
        self.file_name = file_name
        super().__init__(message)


class KeyMissing(KeyFileError):  # noqa: N818 - reads as the other domain errors do
    """Says that the key folder has no such file."""

    code = "key_missing"


class KeyMismatch(KeyFileError):  # noqa: N818 - reads as what it says
    """Says that the file is there, but is not the key this dataset was made with."""

    code = "key_mismatch"


def create(dataset: Dataset) -> str:
    """Makes the dataset's key and returns its fingerprint, which the caller stores with the dataset.

    The file is on disk when this returns. Should the dataset not come to be, `discard` it.
    """
    key = secrets.token_bytes(KEY_BYTES)
    fingerprint = _fingerprint(key)
    _write_once(_folder() / _file_name(dataset.slug, fingerprint), key.hex() + "\n")
    return fingerprint


def load(dataset: Dataset) -> bytes:
    """Returns the dataset's key. Errors: `KeyMissing`, `KeyMismatch`, which say which file is expected."""
    name = _file_name(dataset.slug, dataset.key_fingerprint)
    try:
        text = spool.key_text(_folder() / name)
    except OSError as error:
        raise KeyMissing(
            name,
            f"the key of this dataset cannot be read: the key folder (HAZEMAP_KEY_DIR) must have the file "
            f"{name}; restore it from the backup of the keys",
        ) from error
    key = _parsed(text)
    if key is None or not secrets.compare_digest(_fingerprint(key), dataset.key_fingerprint):
        raise KeyMismatch(
            name,
            f"the file {name} in the key folder (HAZEMAP_KEY_DIR) is not the key this dataset was made "
            f"with; restore it from the backup of the keys",
        )
    return key


def discard(dataset: Dataset) -> None:
    """Deletes the key of a dataset that never came to be."""
    (_folder() / _file_name(dataset.slug, dataset.key_fingerprint)).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonHasher:
    """Turns user names into keyed hashes, as wide as the dataset's are, of names in the dataset's form."""

    key: bytes = field(repr=False)
    bits: int
    form: str

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """Makes a hasher by the dataset's key. Errors: as `load`."""
        return cls(key=load(dataset), bits=dataset.person_bits, form=dataset.user_form)

    def hashes(self, users: list[str]) -> Persons:
        """Returns hashes, `(k,)`; each distinct name of the batch is hashed once."""
        names = users if self.form == UserForm.AS_SENT else user_names.normal(users)
        distinct = list(set(names))
        places = dict(zip(distinct, range(len(distinct)), strict=True))
        return self._distinct(distinct)[np.fromiter(map(places.__getitem__, names), np.intp, len(names))]

    def _distinct(self, names: Iterable[str]) -> Persons:
        size = 8 if self.bits == NARROW_BITS else 16
        # surrogatepass: total over every str, whatever a reader lets through.
        contents = (name.encode("utf-8", "surrogatepass") for name in names)
        digests = b"".join(
            blake2b(content, key=self.key, person=_PERSON, digest_size=size).digest() for content in contents
        )
        if self.bits == NARROW_BITS:
            hashes = np.zeros(len(digests) // size, PERSON)
            hashes["person"] = np.frombuffer(digests, ">u8") >> 1
            return hashes
        return np.frombuffer(digests, [(name, ">i8") for name in PERSON.names or ()]).astype(PERSON)


class KnownPersons:
    """Hashes the names of a file batch by batch, and most of them once: in how many batches they ever are."""

    def __init__(self, hasher: PersonHasher) -> None:
        self._hasher = hasher
        self._places: dict[str, int] = {}
        self._hashes = np.empty(0, PERSON)

    def hashes(self, users: list[str]) -> Persons:
        """Returns hashes, `(k,)`, as `PersonHasher.hashes`, of names that are there once each."""
        places = np.fromiter(map(self._places.get, users, repeat(-1)), np.intp, len(users))
        missing = np.flatnonzero(places < 0)
        if len(self._places) + missing.size > MOST_KNOWN:
            self._places, self._hashes, missing = {}, np.empty(0, PERSON), np.arange(len(users))
        if missing.size:
            new = [users[at] for at in missing.tolist()]
            places[missing] = np.arange(len(self._hashes), len(self._hashes) + len(new))
            self._places |= zip(new, places[missing].tolist(), strict=True)
            self._hashes = np.concatenate((self._hashes, self._hasher.hashes(new)))
        return self._hashes[places]


def content_hasher(key: bytes) -> blake2b:
    """Makes a keyed hasher for the bytes of an uploaded file."""
    return blake2b(key=key, person=_CONTENT, digest_size=32)


def _fingerprint(key: bytes) -> str:
    return blake2b(key=key, person=_FINGERPRINT, digest_size=32).hexdigest()


def _folder() -> Path:
    return Path(settings.KEY_DIR)


def _file_name(slug: str, fingerprint: str) -> str:
    # With the fingerprint, a file left behind by a crash never stands in the way of a new dataset.
    return f"{slug}-{fingerprint[:12]}.key"


def _parsed(text: str) -> bytes | None:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def _write_once(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)
