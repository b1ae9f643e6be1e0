"""Makes datasets that are collections: what people are asked, and who takes which part."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from heatmaps.models import Collection, Dataset
from mechanisms.check import ParameterError

_LENGTHS: Final = {"question": 300, "analyser_operator": 120, "shuffler_operator": 120}
_ORIGIN: Final = "an origin such as https://shuffler.example, by https but on this machine"
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCollection:
    """Holds public facts beside a dataset's own; an invalid one cannot exist. Errors: `ParameterError`."""

    question: str
    analyser_operator: str
    shuffler_operator: str
    analyser_url: str
    shuffler_url: str
    open_link: bool = False

    def __post_init__(self) -> None:
        for name, most in _LENGTHS.items():
            object.__setattr__(self, name, _text(name, getattr(self, name), most))
        for name in ("analyser_url", "shuffler_url"):
            object.__setattr__(self, name, origin(name, getattr(self, name)))

    def store(self, dataset: Dataset) -> str:
        """Writes the row of a new dataset, in the caller's transaction. Returns the shuffler's token."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        Collection.objects.create(
            dataset=dataset,
            question=self.question,
            analyser_operator=self.analyser_operator,
            analyser_url=self.analyser_url,
            shuffler_operator=self.shuffler_operator,
            shuffler_url=self.shuffler_url,
            open_link=self.open_link,
            token_sha256=digest(token),
        )
        return token


def of_token(token: str) -> Collection | None:
    """Returns the collection whose shuffler shows this token; None: nobody's."""
    rows = Collection.objects.select_related("dataset").filter(token_sha256=digest(token))
    return rows.first()


def new_token(collection: Collection) -> str:
    """Makes another token for the shuffler; the one before works no longer."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    Collection.objects.filter(pk=collection.pk).update(token_sha256=digest(token))
    return token


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def origin(name: str, address: str) -> str:
    """Returns an origin without a path, as devices ask it. Errors: `ParameterError`."""
    text = address.strip().rstrip("/") if isinstance(address, str) else ""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ParameterError(name, address, _ORIGIN) from None
    here = host in {"127.0.0.1", "localhost", "::1"}
    plain = not (parts.path or parts.query or parts.fragment or parts.username or parts.password)
    named = re.fullmatch(r"[a-z0-9.-]+|::1", host) is not None
    allowed = parts.scheme == "https" or (parts.scheme == "http" and here)
    if not (plain and named and allowed and len(text) <= 200) or port == 0:
        raise ParameterError(name, address, _ORIGIN)
    return text


def facts_of(collection: Collection) -> Mapping[str, str]:
    """Returns the question and the operators of both roles, for pages and sheets."""
    return {
        "question": collection.question,
        "analyser": collection.analyser_operator,
        "shuffler": collection.shuffler_operator,
    }


def _text(name: str, text: str, most: int) -> str:
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if not (1 <= len(words) <= most and words.isprintable()):
        raise ParameterError(name, text, f"1 to {most} characters that print")
    return words
