"""Ends TLS at the connection itself, within the loop that reads all of them.

Nothing here waits: a handshake goes on whenever its client has sent more, and has as long as a header
(`limits.HEADER_SECONDS`). Who stalls in it is a connection that idles, like any other.
"""

import contextlib
import ssl
import threading
from typing import Any, Final

from heatmaps.front.connection import Connection

RECORD_BYTES: Final = 2**14  # at most, before encryption


class TlsConnection(Connection):
    """Serves one client over TLS; `socket` is an `ssl.SSLSocket`."""

    is_encrypted = True
    _shakes_hands = True
    _must_write = False  # the handshake goes on once the socket takes more
    _came = b""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        # The loop reads while a thread may write, and OpenSSL leaves it to us that they take turns.
        self._turn = threading.Lock()
        super().__init__(*arguments, **named)
        # A record at a time: of more, a client that reads slowly would not be seen to read at all.
        self.sendbuf_len = RECORD_BYTES

    def readable(self) -> bool:
        if self._shakes_hands:
            return not (self._must_write or self.will_close)
        return super().readable()

    def writable(self) -> bool:
        if self._shakes_hands:
            return self._must_write or self.will_close
        return bool(super().writable())

    def handle_read(self) -> None:
        if self._shakes_hands:
            self._shake_hands()
            return
        try:
            self._came = b"" if self.lingers_until else self._decrypted()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return  # a part of a record, or nothing but a change of keys
        except OSError:
            self._came = b""  # as at the end: no record, or one that was changed on its way
        super().handle_read()

    def handle_write(self) -> None:
        if self._shakes_hands and not self.will_close:
            self._shake_hands()
        else:
            super().handle_write()

    def recv(self, _size: int) -> bytes:
        came, self._came = self._came, b""
        if not came:
            self.handle_close()
        return came

    def send(self, data: bytes, do_close: bool = True) -> int:
        try:
            with self._turn:
                return int(self.socket.send(data))
        except ssl.SSLWantWriteError:
            return 0
        except OSError:
            if do_close:
                self.handle_close()
            return 0

    def handle_close(self) -> None:
        self._say_end()
        super().handle_close()

    def _linger(self) -> None:
        self._say_end()
        super()._linger()

    def _shake_hands(self) -> None:
        self._must_write = False
        try:
            self.socket.do_handshake()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLWantWriteError:
            self._must_write = True
            return
        except (OSError, ValueError):  # no TLS, an old one, or gone
            self.handle_close()
            return
        self._shakes_hands = False
        self.handle_read()  # what came with the end of the handshake

    def _decrypted(self) -> bytes:
        """Returns all that OpenSSL holds: the loop is not told of it again."""
        with self._turn:
            came = bytearray(self.socket.recv(RECORD_BYTES))
            while left := self.socket.pending():
                came += self.socket.recv(left)
        return bytes(came)

    def _say_end(self) -> None:
        """Lets the client tell an end from a connection that was cut, unless it is being cut here."""
        if self.socket is None or self._shakes_hands or self.total_outbufs_len:
            return
        with self._turn, contextlib.suppress(OSError, ValueError):
            self.socket.unwrap()  # the other side's end is not waited for
