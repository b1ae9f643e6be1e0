"""Keeps a round's packets in room made beforehand, so that no file tells when or in which order they came.

The file has a slot for every report that the round takes: first all heads (digest of the invitation, check),
then all packets; an empty slot is zeros. The slot of an invitation is its digest's place in ascending order;
for an open link it is drawn from those that are free. So the bytes follow from the set of packets, or from
fair draws. A check is the SHA-256 of digest and packet: what was half written when the power failed is empty.

Two copies of the file from different moments do tell what came in between, and so may old blocks below a file
system that writes elsewhere (most flash, and those that copy on write).
"""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from heatmaps.shuffler import files, sealing
from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.models import Round

_DIGEST_BYTES: Final = 32
_HEAD_BYTES: Final = 2 * _DIGEST_BYTES
_TIMES: Final = (0, 0)  # of reading and changing: copies carry them along


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketFile:
    """Stores one round's packets.

    Callers exclude each other by a transaction of the database, which closing is, too.
    """

    path: Path
    places: int
    packet_bytes: int

    @classmethod
    def of_round(cls, owner: Round) -> Self:
        return cls(
            path=round_files.folder(owner.pk) / round_files.PACKETS,
            places=owner.places,
            packet_bytes=sealing.packet_bytes(owner.messages, owner.message_bytes),
        )

    @property
    def size(self) -> int:
        """Returns the bytes of the whole file."""
        return self.places * (_HEAD_BYTES + self.packet_bytes)

    def make(self) -> None:
        """Writes all slots, empty. Errors: OSError where the disk has no room."""
        files.write_zeros(self.path, self.size)
        self.hide_times()

    def hide_times(self) -> None:
        """Sets the file's times to a constant; when the system saw the last change, to now."""
        os.utime(self.path, _TIMES)

    def count(self) -> int:
        """Counts the slots that are taken."""
        return int(np.count_nonzero(self._heads()[:, 0]))

    def slot_of(self, digest: bytes) -> int | None:
        """Returns the slot that a report of this digest has taken."""
        heads, words = self._heads(), np.frombuffer(digest, np.uint64)
        alike = np.flatnonzero(heads[:, 0] == words[0])
        return next((int(slot) for slot in alike if (heads[slot, : len(words)] == words).all()), None)

    def free_slot(self) -> int | None:
        """Draws a slot that is not taken; each has the same probability."""
        slots = np.flatnonzero(self._heads()[:, 0] == 0)
        return int(secrets.choice(slots)) if len(slots) else None

    def read(self, slot: int) -> bytes | None:
        """Returns the packet of a slot; None where there is none, or not the whole of it."""
        with self._opened(os.O_RDONLY) as file:
            return self._read(file, slot)

    def packets(self) -> Iterator[bytes]:
        """Yields all packets that are whole, by slot."""
        with self._opened(os.O_RDONLY) as file:
            for slot in np.flatnonzero(self._heads()[:, 0]):
                if (packet := self._read(file, int(slot))) is not None:
                    yield packet

    def write(self, slot: int, digest: bytes, packet: bytes) -> None:
        """Fills a slot; on disk when this returns. Errors: OSError; then the slot is empty."""
        with self._opened(os.O_WRONLY) as file:
            try:
                self._write(file, slot, digest + _check(digest, packet), packet)
            except OSError:
                # Else the same packet again would get its receipt without having reached the disk.
                self._write(file, slot, bytes(_HEAD_BYTES), bytes(self.packet_bytes))
                raise

    def sync(self) -> None:
        """Returns when what was written is on disk, also by a process that was killed before it was."""
        with self._opened(os.O_WRONLY) as file:
            os.fdatasync(file)

    def _write(self, file: int, slot: int, head: bytes, packet: bytes) -> None:
        # The head first: whoever sends again after a kill in between gets the same slot.
        _write_at(file, head, slot * _HEAD_BYTES)
        _write_at(file, packet, self._packet_at(slot))
        os.fdatasync(file)
        os.utime(file, _TIMES)

    def _read(self, file: int, slot: int) -> bytes | None:
        head = os.pread(file, _HEAD_BYTES, slot * _HEAD_BYTES)
        digest, check = head[:_DIGEST_BYTES], head[_DIGEST_BYTES:]
        packet = os.pread(file, self.packet_bytes, self._packet_at(slot))
        return packet if check == _check(digest, packet) else None

    def _packet_at(self, slot: int) -> int:
        return self.places * _HEAD_BYTES + slot * self.packet_bytes

    def _heads(self) -> NDArray[np.uint64]:
        """Returns a row of words a slot: the first one is 0 where it is empty (of a digest: once in 2^64)."""
        return np.memmap(self.path, np.uint64, "r", shape=(self.places, _HEAD_BYTES // 8))

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        file = os.open(self.path, flags)
        try:
            yield file
        finally:
            os.close(file)


def _check(digest: bytes, packet: bytes) -> bytes:
    return hashlib.sha256(digest + packet).digest()


def _write_at(file: int, content: bytes, start: int) -> None:
    """Writes bytes at a place. Errors: OSError, also where less was written."""
    if os.pwrite(file, content, start) != len(content):
        raise OSError("a packet was written in part")
