"""Keeps the tokens of collections: files, so that copies of the database act for nobody."""

from pathlib import Path
from urllib.parse import urlsplit

from heatmaps.shuffler import files, settings
from heatmaps.shuffler.analyser import Analyser
from heatmaps.shuffler.models import Collection

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def write_token(collection: Collection, token: str) -> None:
    files.write(_path(collection), token.encode())


def of_collection(collection: Collection) -> Analyser:
    """Makes the collection's analyser. Errors: OSError where the token's file is gone."""
    return Analyser(url=collection.analyser_url, token=_path(collection).read_text())


def is_safe(url: str) -> bool:
    """Returns whether nobody on the way reads what is asked there: TLS, or this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None or parts.query or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _path(collection: Collection) -> Path:
    return settings.TOKENS_DIR / str(collection.pk)
