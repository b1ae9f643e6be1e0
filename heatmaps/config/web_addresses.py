"""Reads web addresses that operators write into settings."""

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:]+")
_THIS_MACHINE: Final = {"127.0.0.1", "::1", "localhost"}


def read(text: str) -> SplitResult | None:
    """Splits an address; None unless https, or http on this machine, with a plain host in small letters."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return None
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in _THIS_MACHINE)
    named = _HOST.fullmatch(host) and parts.netloc == parts.netloc.lower() and "@" not in parts.netloc
    return parts if secure and named else None
