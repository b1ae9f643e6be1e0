"""Finds places by the beginning of any word of any of their names, and proposes a city's extent."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.places.gazetteer import KM_PER_DEGREE, GazetteerEntry, gazetteer, spellings
from mechanisms.space.grid import Region

LONGEST: Final = 80  # characters of a text that is searched
_MOST_BEYOND: Final = 3  # places outside of the region that a question is about
_SHORTEST: Final = 2  # bytes: one letter that is not Latin is enough
_MARKS: Final = re.compile("[\u0300-\u036f]+")
_BETWEEN_WORDS: Final = re.compile(r"[^\w\n]+")
_BETWEEN_NAMES: Final = re.compile(r" *\n *")
# What a match in another name than the place's own counts: at its beginning, and further on.
_OTHER: Final = 0.1
_WITHIN_OTHER: Final = 0.01
_LETTERS: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "_": " "})

_PEOPLE_PER_KM2: Final = 1_500  # at least as many has a city, by the United Nations' degree of urbanisation
_LEAST_KM: Final = 3.0  # from a city's centre to each side
_MOST_KM: Final = 60.0
_DIGITS: Final = 2  # of a proposed edge, in degrees: about a kilometre
_NORTHERNMOST: Final = 85.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlace:
    place: GazetteerEntry
    also: str  # the name that was found, where it is not the place's own
    inside: bool  # the region of the question, if it has one
    extent: Region


def find_places(text: str, *, most: int, region: Region | None = None) -> list[FoundPlace]:
    """Finds places of which a name has words that begin as `text` does, case and accents aside.

    First are those whose own name is the text, then the most populous, where a name that is not the place's
    own counts less. Those inside the region precede, and few others follow. What stands behind a comma begins
    words of the country or state.
    """
    name, _, area = text[:LONGEST].partition(",")
    beginning = _folded(area).strip()
    places = gazetteer()
    matches = [
        (_is_beyond(places[match.place], region), -match.weight, match.place, match.line)
        for match in _matches(_folded(name).strip())
        if not beginning or f" {beginning}" in _area_words(places[match.place])
    ]
    inside = sorted(match for match in matches if not match[0])
    beyond = sorted(match for match in matches if match[0])[:_MOST_BEYOND]
    return [_found_place(place, line, inside=not out) for out, _, place, line in [*inside, *beyond][:most]]


def extent(index: int) -> Region:
    """Returns the square of a place of the gazetteer that holds its people at 1,500 a square kilometre.

    It reaches no farther from the centre than to the nearest place with more people, at least 3 km and at
    most 60 km. Public facts alone: population and neighbours.
    """
    places = gazetteer()
    place = places[index]
    half_km = float(np.sqrt(place.population / _PEOPLE_PER_KM2)) / 2
    if index:
        half_km = min(half_km, float(np.hypot(*places.ways_from(place.lat, place.lon, first=index)).min()))
    up = min(max(half_km, _LEAST_KM), _MOST_KM) / KM_PER_DEGREE
    across = up / float(np.cos(np.radians(min(abs(place.lat), _NORTHERNMOST))))
    return Region(
        max(round(place.lon - across, _DIGITS), -180.0),
        max(round(place.lat - up, _DIGITS), -_NORTHERNMOST),
        min(round(place.lon + across, _DIGITS), 180.0),
        min(round(place.lat + up, _DIGITS), _NORTHERNMOST),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Names:
    """Holds every name of every place, one a line, and in a second text as it is spelled, line by line."""

    folded: bytes  # a space stands before each word
    starts: NDArray[np.int64]  # of the lines of `folded`
    spellings: bytes
    spelling_starts: NDArray[np.int64]
    owners: NDArray[np.int64]  # of each line, its place in the gazetteer
    own: NDArray[np.int64]  # of each place, the line of its own name
    people: NDArray[np.float64]  # of each place


@lru_cache(maxsize=1)
def _names() -> _Names:
    spelling_lists = spellings()
    folded = b"\n".join(_folded("\n".join(names)).encode() for names in spelling_lists)
    spelled_text = b"\n".join("\n".join(names).encode() for names in spelling_lists)
    counts = [len(names) for names in spelling_lists]
    return _Names(
        folded=folded,
        starts=_line_starts(folded),
        spellings=spelled_text,
        spelling_starts=_line_starts(spelled_text),
        owners=np.repeat(np.arange(len(spelling_lists)), counts),
        own=np.array([0, *accumulate(counts[:-1])]),
        people=gazetteer().populations.astype(float),
    )


def _line_starts(text: bytes) -> NDArray[np.int64]:
    return np.append(0, np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1)


def _folded(text: str) -> str:
    """Returns small letters without accents; words with a space before each, lines kept."""
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(_LETTERS)
    return " " + _BETWEEN_NAMES.sub("\n ", _BETWEEN_WORDS.sub(" ", plain)).strip(" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    place: int  # in the gazetteer
    line: int  # of the name that counts most
    weight: float


def _matches(beginning: str) -> list[_Match]:
    """Returns one match of each place."""
    if len(beginning.encode()) < _SHORTEST:
        return []
    names = _names()
    needle = f" {beginning}".encode()
    at = np.array([match.start() for match in re.finditer(re.escape(needle), names.folded)], np.int64)
    lines = np.searchsorted(names.starts, at, side="right") - 1
    owners = names.owners[lines]
    part = np.where(
        names.own[owners] == lines, 1.0, np.where(names.starts[lines] == at, _OTHER, _WITHIN_OTHER)
    )
    weights = part * names.people[owners]
    order = np.lexsort((-weights, owners))
    places, first = np.unique(owners[order], return_index=True)
    best = order[first].tolist()
    whole = [
        names.folded.startswith(needle + b"\n", start) for start in names.starts[names.own[places]].tolist()
    ]
    return [
        _Match(place=place, line=int(lines[index]), weight=np.inf if is_whole else float(weights[index]))
        for place, index, is_whole in zip(places.tolist(), best, whole, strict=True)
    ]


def _area_words(place: GazetteerEntry) -> str:
    return _folded(f"{place.area} {place.country}")


def _is_beyond(place: GazetteerEntry, region: Region | None) -> bool:
    return region is not None and not region.contains(np.array([place.lat]), np.array([place.lon]))[0]


def _found_place(index: int, line: int, *, inside: bool) -> FoundPlace:
    names = _names()
    begin = int(names.spelling_starts[line])
    end = names.spellings.find(b"\n", begin)
    matched_name = names.spellings[begin : end if end >= 0 else None].decode()
    place = gazetteer()[index]
    is_own = line == names.own[index] or _folded(matched_name) == _folded(place.name)
    return FoundPlace(place=place, also="" if is_own else matched_name, inside=inside, extent=extent(index))
