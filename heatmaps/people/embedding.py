"""Decides which websites may show a dataset's public maps in a frame; a steward's act and an event.

An origin becomes part of a header (`frame-ancestors`): none is stored or sent that could say more there than
a scheme, a host and a port.
"""

import re
from collections.abc import Iterable
from typing import Final

from heatmaps.ledger import transitions
from heatmaps.ledger.transitions.moves import LONGEST_REASON
from heatmaps.models import Dataset
from heatmaps.people.permissions import Act, Person, require
from mechanisms.check import ParameterError

EMBEDDING: Final = "embedding"  # the kind of its events
NOWHERE: Final = "no website"
MOST_ORIGINS: Final = 20  # they go into one header
ALLOWED: Final = (
    "https:// with a host name in ASCII and, where it has one, a port, such as https://news.example; no path "
    "and no wildcard; http:// for localhost and 127.0.0.1 alone"
)

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# A host does not end in a number: browsers match no other numeric address than 127.0.0.1.
_ORIGIN: Final = re.compile(
    rf"(?:https://(?:(?:{_LABEL}\.)*(?=[a-z0-9-]*[a-z]){_LABEL}|127\.0\.0\.1)|http://(?:localhost|127\.0\.0\.1))"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?",
    re.ASCII,
)
_LONGEST_ORIGIN: Final = 260  # characters
_LAST_PORT: Final = 65_535


def check(origins: Iterable[str]) -> list[str]:
    """Returns the origins as browsers write them, each once.

    Errors: `ParameterError` naming `embed_origins`.
    """
    unique_origins = list(dict.fromkeys(map(_origin, origins)))
    if len(unique_origins) > MOST_ORIGINS:
        raise ParameterError("embed_origins", f"{len(unique_origins)} websites", f"at most {MOST_ORIGINS}")
    return unique_origins


def origins_of(dataset: Dataset) -> tuple[str, ...]:
    """Returns the origins that may frame its public maps; empty: nobody.

    Checked again, as they are about to be a header.
    """
    return tuple(check(dataset.embed_origins))


def change(person: Person, dataset: Dataset, origins: Iterable[str], *, reason: str) -> None:
    """Lets these websites, and no others, show the dataset's public maps.

    Errors: as `permissions.require`; `ParameterError` for an origin, or without a reason.
    """
    steward, new_origins = require(person, dataset, Act.PUBLISH), check(origins)
    if not 1 <= len(reason.strip()) <= LONGEST_REASON or not reason.isprintable():
        raise ParameterError("reason", reason, f"1 to {LONGEST_REASON} visible characters in one line")
    with transitions.locked(dataset.pk):
        dataset.refresh_from_db(fields=["embed_origins"])
        before = _fact(dataset)
        if dataset.embed_origins == new_origins:
            return
        dataset.embed_origins = new_origins
        dataset.save(update_fields=["embed_origins"])
        after = {"embedded_by": _fact(dataset), "reason": reason.strip()}
        transitions.record(dataset, EMBEDDING, actor=steward, before={"embedded_by": before}, after=after)


def _fact(dataset: Dataset) -> str:
    return ", ".join(dataset.embed_origins) or NOWHERE


def _origin(text: str) -> str:
    origin = text.strip().lower().removesuffix("/") if text.isascii() else ""
    match = _ORIGIN.fullmatch(origin)
    if match is None or len(origin) > _LONGEST_ORIGIN or int(match["port"] or 0) > _LAST_PORT:
        raise ParameterError("embed_origins", text, ALLOWED)
    return origin.removesuffix(":443" if origin.startswith("https") else ":80")
