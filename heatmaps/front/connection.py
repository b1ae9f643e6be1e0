"""Bounds what a connection may keep waiting, and how it ends."""

import socket
import time
from typing import Any

from waitress.channel import HTTPChannel
from waitress.utilities import BadRequest, RequestEntityTooLarge

from heatmaps.front import limits
from heatmaps.front.admission import Admission, Answer, Refusal
from heatmaps.front.requests import Request
from heatmaps.http.attempt_limits import network_of


class Connection(HTTPChannel):  # type: ignore[misc]  # waitress carries no types
    """One client's; `network` is what connections are counted by."""

    parser_class = Request
    task_class = Answer
    error_task_class = Refusal

    is_encrypted = False  # TLS ends here (`tls.TlsConnection`)
    request: Any  # the `Request` that is coming in, or None
    asking = False  # the program is being asked about the body of `request`, and nothing is read meanwhile
    lingers = False  # the client may still be sending when its answer is out
    lingers_until = 0.0

    def __init__(self, server: Any, sock: socket.socket, address: Any, *others: Any, **named: Any) -> None:
        self.network = network_of(address[0])
        super().__init__(server, sock, address, *others, **named)

    def readable(self) -> bool:
        return bool(self.lingers_until) or (not self.asking and super().readable())

    def handle_read(self) -> None:
        if not self.lingers_until:
            super().handle_read()
            return
        try:
            self.recv(limits.UNASKED_BYTES)  # closes at the end of what is sent
        except OSError:
            self.handle_close()

    def received(self, data: bytes) -> bool:
        went_on: bool = super().received(data)
        with self.requests_lock:
            request = self.request
            if request is not None and request.asks:
                request.asks = False
                self._ask(request)
        return went_on

    def handle_write(self) -> None:
        if self.close_when_flushed and self.lingers and not self.will_close:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len:
                self._linger()
        else:
            super().handle_write()

    def decided(self, *, welcome: bool) -> None:
        """What the program says of the body it was asked about; without a welcome its answer is written."""
        with self.requests_lock:
            self.asking = False
            self.last_activity = time.time()
            if not (welcome and self.connected):
                self.lingers = self.close_when_flushed = True
            elif self.request.is_too_large:
                self._refuse(RequestEntityTooLarge(""))
            else:
                self.request.admitted = True
                self.request.body_began = self.last_activity
                if self.request.waits_for_continue:
                    self.send_continue()
        self.server.pull_trigger()

    def waits_since(self) -> float | None:
        """Since when the client has sent no whole header; None while it is served or sends a body."""
        if self.requests or self.asking or self.total_outbufs_len:
            return None
        if self.request is None:
            return float(self.last_activity)
        return None if self.request.headers_finished else float(self.request.began)

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

    def _ask(self, request: Request) -> None:
        if self.requests:  # answers keep their order, and this one would come before those under way
            self._refuse(BadRequest(""))
            return
        self.asking = True
        self.server.add_task(Admission(self, request))

    def _refuse(self, error: BadRequest) -> None:
        """In its turn, after the requests that came before it."""
        self.request.refuse(error)
        self.requests.append(self.request)
        self.request = None
        if len(self.requests) == 1:
            self.server.add_task(self)

    def _linger(self) -> None:
        """Nothing more is said; what still comes is thrown away, for a while."""
        self.close_when_flushed = False
        self.lingers_until = time.time() + limits.LINGER_SECONDS
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.will_close = True
