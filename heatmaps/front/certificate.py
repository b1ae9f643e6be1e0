"""Reads certificate and key of a server that ends TLS itself."""

import ssl
import stat
import warnings
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

# The owner's group may read a key, as Debian's ssl-cert does.
_OPEN_TO_OTHERS: Final = stat.S_IWGRP | stat.S_IRWXO


class BadCertificate(Exception):  # noqa: N818 - reads as what it says
    """Gives a readable reason in one line, naming the file."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the options by which `serve` ends TLS itself."""
    text = "PEM file of the certificate and those that signed it: the port then speaks TLS, without a proxy"
    parser.add_argument("--certificate", type=Path, metavar="FILE", help=text)
    parser.add_argument("--key", type=Path, metavar="FILE", help="PEM file of the certificate's private key")


def optional_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Returns the context of those options; None where neither is given. Errors: BadCertificate."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise BadCertificate("--certificate and --key go together")
    return context(certificate, key)


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Speaks TLS 1.2 and later, by PEM files; the certificate's own comes first, then those that signed it.

    Errors: BadCertificate.
    """
    _check(certificate, key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    # Without tickets, whose key would open the past for whoever takes the process over.
    tls.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    tls.num_tickets = 0
    tls.set_alpn_protocols(["http/1.1"])
    try:
        tls.load_cert_chain(certificate, key, password=lambda: "")  # no question at the terminal
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise BadCertificate(f"{certificate} cannot serve TLS: {reason}") from None
    return tls


def doubts(certificate: Path | None, key: Path | None, *, now: datetime | None = None) -> list[str]:
    """Lists what an operator should change though it works, of files that `optional_context` took."""
    warnings: list[str] = []
    if certificate is None or key is None:
        return warnings
    if key.stat().st_mode & _OPEN_TO_OTHERS:
        warnings.append(f"the private key {key} is open to other accounts; chmod 600 closes it")
    ends = _first_of(certificate).not_valid_after_utc
    if ends <= (now or datetime.now(UTC)):
        warnings.append(f"the certificate {certificate} ended on {ends:%Y-%m-%d}; browsers refuse it")
    return warnings


def _check(certificate: Path, key: Path) -> None:
    """Names the file that is wrong, as OpenSSL does not. Errors: BadCertificate."""
    public, content = _first_of(certificate).public_key(), _read(key)
    try:
        private = load_pem_private_key(content, password=None)
    except TypeError:
        raise BadCertificate(f"{key} is encrypted; a server that starts by itself needs it without") from None
    except Exception:  # noqa: BLE001 - several kinds, and none may show the file's content
        raise BadCertificate(f"{key} holds no private key in PEM") from None
    raw = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if public.public_bytes(*raw) != private.public_key().public_bytes(*raw):
        raise BadCertificate(f"{key} is not the key of {certificate}")


def _first_of(certificate: Path) -> x509.Certificate:
    """Reads the first certificate of a PEM file. Errors: BadCertificate."""
    content = _read(certificate)
    try:
        with warnings.catch_warnings(action="ignore"):  # of what it does not like but reads
            return x509.load_pem_x509_certificates(content)[0]
    except ValueError:
        raise BadCertificate(f"{certificate} holds no certificate in PEM") from None


def _read(path: Path) -> bytes:
    """Reads a file. Errors: BadCertificate."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadCertificate(f"{path}: {error.strerror}") from None
