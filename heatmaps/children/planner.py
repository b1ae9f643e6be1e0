"""Calibrates mechanisms in a child: public parameters in, a mechanism and its promise out."""

import struct
import sys
from typing import BinaryIO, Final

from heatmaps.children import messages
from heatmaps.children.calibrated import Calibration, MechanismQuestion, Refused
from heatmaps.children.messages import MessageError

LENGTH: Final = struct.Struct("<Q")
_LONGEST_QUESTION: Final = 2**25  # bytes; a person's request has a limit of its own
_LONGEST_ANSWER: Final = 2**17


def main() -> None:
    """Answers one question after the other, until nobody asks."""
    while (content := _received(sys.stdin.buffer, _LONGEST_QUESTION)) is not None:
        question = messages.question_from(content)
        _send(messages.answer_bytes(question, question.answer()), sys.stdout.buffer)


def answer(question: MechanismQuestion, to: BinaryIO, back: BinaryIO) -> Calibration | Refused | None:
    """Returns a child's answer; None where it ended. Errors: BrokenPipeError, MessageError."""
    _send(messages.question_bytes(question), to)
    content = _received(back, _LONGEST_ANSWER)
    return None if content is None else messages.answer_from(question, content)


def _send(content: bytes, stream: BinaryIO) -> None:
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def _received(stream: BinaryIO, longest: int) -> bytes | None:
    """Returns the other side's message; None at its end. Errors: MessageError above `longest` bytes."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > longest:
        raise MessageError
    content = stream.read(length)
    return None if len(content) < length else content
