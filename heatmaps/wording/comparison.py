"""Words what differs between two released maps, and names each by it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from heatmaps.models import Release
from heatmaps.numbers import day
from heatmaps.releases.question import data_slice_of
from heatmaps.wording.collection import title_of
from heatmaps.wording.data_slice import short_period
from heatmaps.wording.release import parameter_words
from heatmaps.wording.release_line import ALL_TIMES

_MOST_IN_NAME: Final = 2  # facts
_LONGEST_NAME: Final = 48  # characters
_LATEST: Final = "Asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Holds a fact that two maps do not share; empty: that map is not restricted by it."""

    title: str
    first: str
    second: str


def differences(first: Release, second: Release) -> tuple[Difference, ...]:
    """Returns every public fact about how two maps were made that they do not share."""
    facts = [dict(_facts(release)) for release in (first, second)]
    titles = dict.fromkeys([*facts[0], *facts[1]])
    rows = [
        Difference(title=title, first=facts[0].get(title, ""), second=facts[1].get(title, ""))
        for title in titles
    ]
    return tuple(row for row in rows if row.first != row.second)


def names(first: Release, second: Release) -> tuple[str, str]:
    """Returns two short names that tell the maps apart, by the first facts that they do not share."""
    pairs = [(fact(first), fact(second)) for fact in _NAMING if fact(first) != fact(second)]
    pairs = pairs[:_MOST_IN_NAME] or [(day(first.requested_at), day(second.requested_at))]
    first_name, second_name = (_shorten(", ".join(parts)) for parts in zip(*pairs, strict=True))
    return (first_name, second_name) if first_name != second_name else ("first", "second")


def _facts(release: Release) -> list[tuple[str, str]]:
    return [
        ("Dataset", release.dataset.title),
        ("Method", title_of(release)),
        *parameter_words(release),
        (_LATEST, day(release.requested_at)),
    ]


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"


_NAMING: Final[tuple[Callable[[Release], str], ...]] = (
    lambda release: release.dataset.title,
    lambda release: short_period(data_slice_of(release)) or ALL_TIMES,
    lambda release: f"ε {dict(parameter_words(release))['ε asked for']}",
    title_of,
    lambda release: f"{release.resolution} cells a side",
)
