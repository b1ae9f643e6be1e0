"""Limits of a connection: times in seconds, sizes in bytes."""

from typing import Final

from django.conf import settings
from django.urls import Resolver404, resolve

from heatmaps.http.content_length import MOST_BYTES

CONNECTIONS: Final = 1000
CONNECTIONS_OF_ADDRESS: Final = 100  # of an IPv6 network of 64 bits; a trusted proxy stands for many clients
HEADER_BYTES: Final = 64 * 2**10
HEADER_SECONDS: Final = 10.0  # from a request's first byte, or the connection's, to the header's end
IDLE_SECONDS: Final = 30.0  # between two requests
# A body may take so long, and a second more for so many bytes that have come.
BODY_SECONDS: Final = 30.0
BODY_BYTES_A_SECOND: Final = 2000
STALLED_SECONDS: Final = 30.0  # the client takes nothing of its answer
LINGER_SECONDS: Final = 5.0  # a client that still sends would else lose the answer
DRAIN_READS: Final = 64  # at a time, of `UNASKED_BYTES` each: more than the system keeps of a connection
FORM_BYTES: Final = 64 * 2**10  # what a form takes beside its contents
UNASKED_BYTES: Final = 64 * 2**10  # of a body that is taken before the program is asked
IN_MEMORY_BYTES: Final = 256 * 2**10  # of a body; more goes to disk
# Of an answer that a thread leaves to the loop, on disk; only beyond this a slow reader holds a thread.
UNSENT_BYTES: Final = 256 * 2**20
CHUNK_LINE_BYTES: Final = 4096  # the line before a chunk; nobody needs its extensions


def most_body_bytes(path: str) -> int:
    """Returns the bytes of the largest body that the view of this path takes; `path` as WSGI has it."""
    try:
        view = resolve(path.encode("latin-1").decode(errors="replace")).func
    except Resolver404:
        view = None
    for marked in (view, getattr(view, "cls", None)):
        if most := getattr(marked, MOST_BYTES, None):
            return int(most())
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + FORM_BYTES
