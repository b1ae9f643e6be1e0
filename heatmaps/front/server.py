"""Listens for connections and decides which are admitted and which are closed."""

import contextlib
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from heatmaps.front import limits
from heatmaps.front.connection import Connection
from heatmaps.front.proxy import is_proxy
from heatmaps.front.tls import TlsConnection

_FILES: Final = 4 * limits.CONNECTIONS  # sockets, bodies and answers on disk, and what the program has open


class FrontServer(TcpWSGIServer):  # type: ignore[misc]  # waitress carries no types
    channel_class = Connection
    tls: ssl.SSLContext | None = None

    def accept(self) -> tuple[socket.socket, Any] | None:
        accepted: tuple[socket.socket, Any] | None = super().accept()
        if accepted is None or self.tls is None:
            return accepted
        client, address = accepted
        with contextlib.suppress(OSError):  # gone again
            return self.tls.wrap_socket(client, server_side=True, do_handshake_on_connect=False), address
        client.close()
        return None

    def handle_accept(self) -> None:
        """Accepts without ever stopping: who comes last is as good as who came first."""
        super().handle_accept()
        open_channels = [channel for channel in self.active_channels.values() if not channel.will_close]
        if not open_channels:
            return
        newest = open_channels[-1]
        neighbours = [channel for channel in open_channels if channel.network == newest.network]
        if len(neighbours) > limits.CONNECTIONS_OF_ADDRESS and not is_proxy(newest.addr[0]):
            _make_room(neighbours)
        elif len(open_channels) > limits.CONNECTIONS:
            ((crowd, _),) = Counter(channel.network for channel in open_channels).most_common(1)
            _make_room([channel for channel in open_channels if channel.network == crowd])

    def maintenance(self, now: float) -> None:
        for channel in [channel for channel in self.active_channels.values() if channel.is_overdue(now)]:
            channel.handle_close()  # at once: who takes nothing is never found writable


def create(
    application: Callable[..., Any],
    listener: socket.socket,
    *,
    threads: int,
    tls: ssl.SSLContext | None = None,
) -> FrontServer:
    """Makes a server that answers on a listening TCP socket once it runs; by TLS alone where it is given."""
    _allow_files(_FILES)
    adjustments = Adjustments(
        sockets=[listener],
        ident=None,
        threads=threads,
        url_scheme="http" if tls is None else "https",
        connection_limit=10 * limits.CONNECTIONS,  # at its own limit waitress would accept nobody
        asyncore_use_poll=True,  # `select` ends at 1,024 open files
        cleanup_interval=1,
        max_request_header_size=limits.HEADER_BYTES,
        max_request_body_size=2**62,  # every view has its own (`limits.most_body_bytes`)
        inbuf_overflow=limits.IN_MEMORY_BYTES,
        outbuf_high_watermark=limits.UNSENT_BYTES,
        # `heatmaps.front.proxy` decides which to believe: waitress knows single addresses only.
        clear_untrusted_proxy_headers=False,
    )
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(threads)
    about = (listener.family, listener.type, listener.proto, listener.getsockname())
    server = FrontServer(
        application,
        map={},
        _sock=listener,
        dispatcher=dispatcher,
        adj=adjustments,
        bind_socket=False,
        sockinfo=about,
    )
    if tls is not None:
        server.tls, server.channel_class = tls, TlsConnection
    return server


def _make_room(connections: list[Connection]) -> None:
    """Ends the one that has kept waiting longest; the last that came where all are being served."""
    waiting = [(since, idle) for idle in connections if (since := idle.waits_since()) is not None]
    victim = min(waiting, key=lambda pair: pair[0])[1] if waiting else connections[-1]
    victim.will_close = True


def _allow_files(count: int) -> None:
    """Allows as many open files as the system lets this process have, up to `count`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
