"""Certificates of openssl, and a proxy that ends TLS on loopback, as an operator's does."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path

_SUBJECT = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]


def made_certificate(folder, *, days=2, kind=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
    """Files of a certificate for this machine and its key, in PEM."""
    certificate, key = folder / "certificate", folder / "key"
    make = ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", str(days), *_SUBJECT]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class Tls:
    """`context` of its clients trusts its certificate."""

    @staticmethod
    def missing():
        return "" if shutil.which("openssl") else "openssl is not installed"

    def __init__(self, folder, target):
        certificate, key = made_certificate(folder)
        self._served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._served.load_cert_chain(certificate, key)
        self.context = ssl.create_default_context(cafile=certificate)
        self._target, self._listener = target, socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    @classmethod
    @contextlib.contextmanager
    def before(cls, target):
        """In front of what listens on the port `target`, which may come later."""
        with tempfile.TemporaryDirectory(prefix="hazemap-tls-") as folder:
            proxy = cls(Path(folder), target)
            thread = threading.Thread(target=proxy._accept, daemon=True)
            thread.start()
            try:
                yield proxy
            finally:
                proxy._listener.shutdown(socket.SHUT_RDWR)
                proxy._listener.close()
                thread.join(10)

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, address = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client, address[0]), daemon=True).start()

    def _pass_on(self, client, address):
        """One request a connection: its head with what a proxy adds, its body, and the answer."""
        with contextlib.suppress(OSError), self._served.wrap_socket(client, server_side=True) as near:
            head, body = self._request(near)
            added = f"X-Forwarded-For: {address}\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
            with socket.create_connection(("127.0.0.1", self._target)) as far:
                far.sendall(head + b"\r\n" + added.encode() + body)
                while answered := far.recv(65536):
                    near.sendall(answered)

    @staticmethod
    def _request(near):
        with near.makefile("rb") as stream:
            lines = list(iter(stream.readline, b"\r\n"))
            lengths = [line.split(b":")[1] for line in lines if line.lower().startswith(b"content-length:")]
            body = stream.read(int(lengths[0])) if lengths else b""
        return b"".join(lines).removesuffix(b"\r\n"), body
