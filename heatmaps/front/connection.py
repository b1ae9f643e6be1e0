"""Bounds what a connection may keep waiting, and how it ends."""

import contextlib
import socket
import time
from typing import Any

from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.utilities import BadRequest, RequestEntityTooLarge

from heatmaps.front import limits
from heatmaps.front.admission import Admission, AnswerTask, RefusalTask
from heatmaps.front.requests import Request
from heatmaps.http.attempt_limits import network_of


class Connection(HTTPChannel):  # type: ignore[misc]  # waitress carries no types
    """Serves one client; `network` is what connections are counted by.

    Every flush holds `outbuf_lock`, as tasks also run while `requests` is empty. Only the loop closes.
    """

    parser_class = Request
    task_class = AnswerTask
    error_task_class = RefusalTask

    is_encrypted = False  # TLS ends here (`tls.TlsConnection`)
    request: Any  # the `Request` that is coming in, or None
    asking = False  # the program is being asked about the body of `request`, and nothing is read meanwhile
    lingers_until = 0.0  # the answer is out, and the client may still be sending

    def __init__(self, server: Any, sock: socket.socket, address: Any, *arguments: Any, **named: Any) -> None:
        self.network = network_of(address[0])
        super().__init__(server, sock, address, *arguments, **named)

    def readable(self) -> bool:
        return bool(self.lingers_until) or (not self.asking and super().readable())

    def handle_read(self) -> None:
        if not self.lingers_until:
            super().handle_read()
            return
        # Past TLS, and all that is there: what were unread at the end would reset the connection.
        with contextlib.suppress(BlockingIOError):
            reads = (socket.socket.recv(self.socket, limits.UNASKED_BYTES) for _ in range(limits.DRAIN_READS))
            if not all(reads):
                self.handle_close()

    def received(self, data: bytes) -> bool:
        went_on: bool = super().received(data)
        with self.requests_lock:
            request = self.request
            if request is not None and request.asks and not self.close_when_flushed:
                request.asks = False
                if self.requests:  # answers keep their order, and this one would come before those under way
                    self._refuse(BadRequest(""))
                else:
                    self.asking = True
                    self.server.add_task(Admission(self, request))
        return went_on

    def handle_write(self) -> None:
        if self.total_outbufs_len:
            self._flush_exception(self._flush_some_if_lockable)
        # In this order: all that is written was counted before the end was set.
        if self.close_when_flushed and self.connected and not self.total_outbufs_len:
            self._linger()
        if self.will_close:
            self.handle_close()

    def send_continue(self) -> None:  # also from threads, which leave closing to the loop
        self.request.expect_continue, self.sent_continue = False, True
        with contextlib.suppress(ClientDisconnected):
            self.write_soon(b"HTTP/1.1 100 Continue\r\n\r\n")

    def decided(self, *, welcome: bool) -> None:
        """Takes the program's word on the body asked about; without a welcome its answer is written."""
        with self.requests_lock:
            self.last_activity = time.time()
            if not (welcome and self.connected):
                self.close_when_flushed = True
            elif self.request.is_too_large:
                self._refuse(RequestEntityTooLarge(""))
            else:
                self.request.admitted = True
                self.request.body_began = self.last_activity
                if self.request.waits_for_continue:
                    self.send_continue()
            self.asking = False
        self.server.pull_trigger()

    def waits_since(self) -> float | None:
        """Returns since when the client has sent no whole header; None while it is served or sends a body."""
        request = self.request  # a thread may end it meanwhile
        if self.requests or self.asking or self.total_outbufs_len:
            return None
        if request is None or self.lingers_until:
            return float(self.last_activity)
        return None if request.headers_finished else float(request.began)

    def is_overdue(self, now: float) -> bool:
        if self.lingers_until:
            return now > self.lingers_until
        if self.total_outbufs_len:
            return bool(now > self.last_activity + limits.STALLED_SECONDS)
        if self.requests or self.asking:
            return False
        request = self.request
        if request is None:
            fresh = self.last_activity == self.creation_time
            return bool(now > self.last_activity + (limits.HEADER_SECONDS if fresh else limits.IDLE_SECONDS))
        if not request.headers_finished:
            return bool(now > request.began + limits.HEADER_SECONDS)
        spare = limits.BODY_SECONDS + request.body_bytes_received / limits.BODY_BYTES_A_SECOND
        return bool(now > request.body_began + spare)

    def _refuse(self, error: BadRequest) -> None:
        """Refuses in its turn, after the requests that came before it."""
        self.request.refuse(error)
        self.requests.append(self.request)
        self.request = None
        if len(self.requests) == 1:
            self.server.add_task(self)

    def _linger(self) -> None:
        """Says nothing more; throws away what still comes, for a while."""
        self.close_when_flushed = False
        self.lingers_until = time.time() + limits.LINGER_SECONDS
        with contextlib.suppress(OSError):  # reset meanwhile, which is read next
            self.socket.shutdown(socket.SHUT_WR)
