"""Names releases: for members of a dataset, and for everybody only where a steward shows the text.

A name and its note are people's own words: no part of the question, of free repeats, of files or of the
ledger, and never in logs or addresses.
"""

# ruff: noqa: N818 - domain words; `except NameMoved` says what happened

import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Final

import structlog
from django.core.exceptions import PermissionDenied

from heatmaps.models import Release
from heatmaps.models.release import IS_PUBLIC, LONGEST_NAME, LONGEST_NOTE
from heatmaps.people.permissions import Act, Person, may, require
from mechanisms.check import ParameterError

_REFUSED: Final = ("Cc", "Cs", "Co", "Zl", "Zp")  # controls, halves of letters, private signs, ends of lines
# Embeddings, overrides and isolates, which can make a text read as another one.
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE: Final = ("C", "Z", "M")
_ALLOWED: Final = {
    "": "visible characters in one line, none that turns the direction of writing",
    "\n": "visible characters and line breaks, none that turns the direction of writing",
}

_log = structlog.stdlib.get_logger(__name__)


class NameMoved(Exception):
    """Says that the text is another one than the steward read, or the map not public; nothing was shown."""

    code: ClassVar[str] = "name_changed"

    def __init__(self) -> None:
        super().__init__("the name or note changed meanwhile, or the map is not public: look at it again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Holds a name of one line and a note of several, in plain text. Errors: `ParameterError`."""

    name: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _text("name", self.name, LONGEST_NAME))
        object.__setattr__(self, "note", _text("note", self.note, LONGEST_NOTE, ends="\n"))


def label_of(release: Release) -> Label:
    """Returns a release's name and note."""
    return Label(name=release.name, note=release.note)


def may_rename(person: Person, release: Release) -> bool:
    """Tells whether a person asked for a release, and still may, or is a steward."""
    dataset = release.dataset
    own = release.requested_by_id == person.pk and may(person, dataset, Act.RELEASE)
    return own or may(person, dataset, Act.PUBLISH)


def rename(person: Person, release: Release, label: Label) -> None:
    """Calls a release something else; members see it at once, everybody after a steward shows it anew.

    Errors: as `require`; PermissionDenied for somebody else's release.
    """
    require(person, release.dataset, Act.RELEASE)
    if not may_rename(person, release):
        raise PermissionDenied("a release is named by the person who asked for it and by stewards")
    same = {"name": label.name, "note": label.note}
    rows = Release.objects.filter(pk=release.pk)
    rows.exclude(**same).update(**same, is_name_public=False)
    release.refresh_from_db(fields=["name", "note", "is_name_public"])


def show(person: Person, release: Release, label: Label) -> None:
    """Shows name and note, exactly as the steward read them, to all who may read a public release.

    Errors: as `require`; NameMoved.
    """
    steward = require(person, release.dataset, Act.PUBLISH)
    public = Release.objects.filter(IS_PUBLIC, pk=release.pk)
    if not public.filter(name=label.name, note=label.note).update(is_name_public=True):
        raise NameMoved
    release.is_name_public = True
    _log.info("release.name_shown", by=steward.pk, release=release.pk)


def hide(person: Person, release: Release) -> None:
    """Lets members alone read its name and note. Errors: as `require`."""
    require(person, release.dataset, Act.PUBLISH)
    Release.objects.filter(pk=release.pk).update(is_name_public=False)
    release.is_name_public = False


def _text(field: str, text: object, most: int, *, ends: str = "") -> str:
    """Returns a text with one way to end a line. Errors: `ParameterError`."""
    words = text.replace("\r\n", "\n").strip() if isinstance(text, str) else ""
    refused = any(_is_refused(sign) for sign in words if sign not in ends)
    invisible = words and all(unicodedata.category(sign)[0] in _INVISIBLE for sign in words)
    if not isinstance(text, str) or len(words) > most or refused or invisible:
        raise ParameterError(field, text, f"at most {most:,} {_ALLOWED[ends]}")
    return words


def _is_refused(sign: str) -> bool:
    return sign in _TURNING or unicodedata.category(sign) in _REFUSED


UNNAMED: Final = Label()
