"""Calibrates mechanisms in a child: public parameters in, a mechanism and its promise out."""

import pickle
import struct
import sys
from typing import BinaryIO, Final

from heatmaps.children.calibrated import Asked

LENGTH: Final = struct.Struct("<Q")


def main() -> None:
    """One question after the other, until nobody asks."""
    while isinstance(asked := received(sys.stdin.buffer), Asked):
        send(asked.answer(), sys.stdout.buffer)


def send(value: object, stream: BinaryIO) -> None:
    content = pickle.dumps(value)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def received(stream: BinaryIO) -> object | None:
    """What the other side sent; None at its end. Between processes of this program alone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    return None if len(content) < length else pickle.loads(content)  # noqa: S301 - of our own child or parent
