"""Tells releases apart: the title of one, and its facts in a line."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from heatmaps import queries
from heatmaps.models import Release
from heatmaps.numbers import amount, length
from heatmaps.people.permissions import Person, member_of
from heatmaps.places.whereabouts import whereabouts
from heatmaps.releases.question import data_slice_of
from heatmaps.result_kinds.entries import kind_of_release
from heatmaps.wording.collection import title_of
from heatmaps.wording.data_slice import short_period
from heatmaps.wording.release import error_words
from mechanisms.space.grid import Region

ALL_TIMES: Final = "all times"
_WHOLE: Final = "all of the region"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLine:
    """Holds what headings and lists say of a release; public facts but for the name and the note."""

    release: Release
    title: str  # the name, or one of public facts
    is_named: bool
    is_for_member: bool  # of its dataset
    note: str  # empty: none, or not for the reader
    mechanism: str
    epsilon: str
    period: str
    place: str  # the part of the region
    error: str  # "± 190 m"; empty: nothing useful is known
    start: str  # what it started from, in short; empty: from nothing
    content: str  # "256 × 256 cells", "a point"

    @property
    def facts(self) -> tuple[str, ...]:
        """Returns its facts in short, without those that restrict nothing or that a title of facts has
        told."""
        parts = [part for part in (self.period, self.place) if part not in (ALL_TIMES, _WHOLE)]
        restrictions = (self.epsilon, *parts) if self.is_named else ()
        return (self.mechanism, *restrictions, *filter(None, [self.error, self.start]))


def lines_for(person: Person, releases: Iterable[Release]) -> list[ReleaseLine]:
    """Returns the lines of releases for a person who may see them all."""
    rows = list(releases)
    own_datasets = member_of(person, [release.dataset_id for release in rows])
    return [release_line(release, member=release.dataset_id in own_datasets) for release in rows]


def line_for(person: Person, release: Release) -> ReleaseLine:
    """Returns the line of a release for a person who may see it."""
    return lines_for(person, [release])[0]


def release_line(release: Release, *, member: bool = False) -> ReleaseLine:
    """Returns the line of a release for a reader.

    member: whether the reader is a member of its dataset; others read its name and note only where a steward
    showed them to everybody.
    """
    shows_name = member or release.is_name_public
    name, note = (release.name, release.note) if shows_name else ("", "")
    return ReleaseLine(
        release=release,
        title=name or made_title(release),
        is_named=bool(name),
        is_for_member=member,
        note=note,
        mechanism=title_of(release),
        epsilon=_epsilon(release),
        period=short_period(data_slice_of(release)) or ALL_TIMES,
        place=_place(release),
        error=_error(release),
        start=_start(release),
        content=_content(release),
    )


def made_title(release: Release) -> str:
    """Writes a title of public facts: "Map around Austin, ε 1, January 2025"."""
    kind = kind_of_release(release).word.capitalize()
    where = "" if release.rectangle is None else whereabouts(queries.released_region(release))
    what = f"{kind} {where}".strip()
    return ", ".join(filter(None, [what, _epsilon(release), short_period(data_slice_of(release))]))


def _epsilon(release: Release) -> str:
    return f"ε {amount(release.epsilon)}"


def _place(release: Release) -> str:
    if release.rectangle is None:
        return _WHOLE
    part = queries.released_region(release)
    return ", ".join(filter(None, [whereabouts(part), _extent(part)]))


def _extent(region: Region) -> str:
    """Writes "12 × 9 km": a unit that both sides have is said once."""
    width, height = (length(side_m, digits=2) for side_m in (region.width_m, region.height_m))
    unit = f" {height.rpartition(' ')[2]}"
    return f"{width.removesuffix(unit)} × {height}"


def _error(release: Release) -> str:
    region = queries.released_region(release)
    runs_on = release.dataset.origin.runs_on
    error = error_words(release.mechanism, release.expected_error, region, runs_on=runs_on)
    return "" if error is None else error.short


def _start(release: Release) -> str:
    if release.guide_file_id is not None:
        return "started from a file"
    return "" if release.guide_release_id is None else "started from a map"


def _content(release: Release) -> str:
    if release.resolution is None:
        return kind_of_release(release).content
    return f"{release.resolution} × {release.resolution} cells"
