"""Parses requests, and refuses those that are too large or that two servers could read in two ways."""

import time
from collections import Counter
from typing import Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import BadRequest, RequestEntityTooLarge

from heatmaps.front import limits


class Request(HTTPRequestParser):  # type: ignore[misc]  # waitress carries no types
    """Parses one request of a connection."""

    asks = False  # whether the program has still to say that the body is welcome
    admitted = False  # it said so
    waits_for_continue = False
    most_body = 0

    def __init__(self, adjustments: Any) -> None:
        super().__init__(adjustments)
        self.began = self.body_began = time.time()

    def received(self, data: bytes) -> int:
        count: int = super().received(data)
        if self.error is None and self.chunked:
            self._check_chunks()
        return count

    def parse_header(self, header_plus: bytes) -> None:
        """Parses the header. Errors: ParsingError, which is answered by 400."""
        names = _names(header_plus)
        super().parse_header(header_plus)
        if names[b"transfer-encoding"] and (names[b"content-length"] or self.version != "1.1"):
            raise ParsingError("two lengths of one body")
        if max(names[b"transfer-encoding"], names[b"content-length"], names[b"host"]) > 1:
            raise ParsingError("a header twice that there is once")
        if self.version == "1.1" and not names[b"host"]:
            raise ParsingError("no host")
        self.body_began = time.time()
        self._limit_body()

    @property
    def is_too_large(self) -> bool:
        """Returns whether it is, by what it says, or by what came of it in chunks."""
        return bool(max(self.content_length, self.body_bytes_received) > self.most_body)

    def refuse(self, error: BadRequest) -> None:
        """Answers with the error instead of going on."""
        self.error, self.completed = error, True
        self.asks = self.expect_continue = False

    def _limit_body(self) -> None:
        self.most_body = limits.most_body_bytes(self.path)
        if self.chunked or self.content_length > limits.UNASKED_BYTES:
            self.asks = True
            self.waits_for_continue, self.expect_continue = self.expect_continue, False

    def _check_chunks(self) -> None:
        receiver = self.body_rcv
        if self.is_too_large:
            self.refuse(RequestEntityTooLarge(""))
        elif (
            len(receiver.control_line) > limits.CHUNK_LINE_BYTES
            or len(receiver.trailer) > limits.HEADER_BYTES
        ):
            self.refuse(BadRequest(""))


def _names(header: bytes) -> Counter[bytes]:
    """Counts how often each header is there. Errors: ParsingError where a line goes on in the next."""
    lines = header.split(b"\r\n")[1:]
    if any(line.startswith((b" ", b"\t")) for line in lines):
        raise ParsingError("a folded header")
    return Counter(line.partition(b":")[0].lower() for line in lines)
