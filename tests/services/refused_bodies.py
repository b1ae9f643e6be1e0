"""Clients that send more than is taken, at the same time, and what each of them gets."""

import contextlib
import re
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice

from tests.services.front import connected

CLIENTS = 12
SENT_BYTES, STATED_BYTES = 20_000, 300_000


@dataclass(frozen=True)
class Answers:
    """All that came on one connection until its end."""

    statuses: tuple[int, ...]
    is_whole: bool  # the bytes that the last answer states, and nothing behind them
    was_reset: bool = False


def outcomes(port, requests, count, **options):
    """Counts of (number of the request, its answers): every client sends `count` requests, in turns."""

    def answers(client):
        numbers = islice(cycle(range(len(requests))), client, client + count)
        return [(number, answered(port, requests[number], **options)) for number in numbers]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(pair for pairs in pool.map(answers, range(CLIENTS)) for pair in pairs)


def answered(port, request, *, wrapped=contextlib.nullcontext, says_end=False, continuation=b""):
    """Answers to a request of bytes on a connection of its own.

    wrapped: makes a client of TLS of a connection. says_end: the client says that it sends nothing more.
    continuation: is sent once the server says to continue.
    """
    came, was_reset = bytearray(), False
    with connected(port, timeout=60) as plain, wrapped(plain) as client:
        try:
            client.sendall(request)
            if says_end:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            was_reset = True
        try:
            while more := client.recv(65536):
                came += more
                if continuation and b" 100 Continue\r\n" in came:
                    client.sendall(continuation)
                    continuation = b""
        except OSError:
            was_reset = True
    statuses = tuple(map(int, re.findall(rb"HTTP/1\.[01] (\d{3}) ", came)))
    head, _, body = bytes(came).rpartition(b"HTTP/1.")[2].partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return Answers(statuses, length is not None and len(body) == int(length[1]), was_reset)


def post(path, *lines, stated=STATED_BYTES, sent=SENT_BYTES):
    """A request whose body is longer than what is sent of it."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {stated}", *lines, "", ""]
    return "\r\n".join(head).encode() + b"a" * sent
