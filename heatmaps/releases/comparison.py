"""Finds the released maps that a person may compare with one of them: those whose regions overlap."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import or_
from typing import Final

from django.db.models import Q, QuerySet

from heatmaps.models import Dataset, Release, ReleaseState
from heatmaps.models.release import IS_PUBLIC
from heatmaps.origins import ORIGINS
from heatmaps.people.permissions import Person, is_administrator, memberships, note_reads
from heatmaps.regions import region_of
from heatmaps.releases.question import data_slice_of
from heatmaps.result_kinds.catalogues import names_of_kind
from heatmaps.result_kinds.entries import kind_of_release
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

COMPARED: Final[registry.Kind] = "heatmap"  # the kind of result
MOST: Final = 100  # maps in a list


def is_comparable(release: Release) -> bool:
    """Tells whether a release is a map of people that is published: no other kind of result has heat."""
    return release.state == ReleaseState.PUBLISHED and kind_of_release(release).name == COMPARED


def overlap_of(first: Release, second: Release) -> Region | None:
    """Returns the region that both maps cover; None where they share none."""
    (west, south, east, north), (left, bottom, right, top) = map(_region, (first, second))
    try:
        return Region(max(west, left), max(south, bottom), min(east, right), min(north, top))
    except ParameterError:  # no area
        return None


def comparable_with(person: Person, release: Release) -> list[Release]:
    """Returns the newest maps that overlap a release's and that the person may read."""
    releases = list(islice(_overlapping(person, release), MOST))
    # What an administrator reads is noted.
    note_reads(person, [other.dataset_id for other in releases if not other.is_public])
    return releases


def _overlapping(person: Person, release: Release) -> Iterator[Release]:
    maps = reduce(
        or_,
        (
            origin.of("dataset") & Q(mechanism__in=names_of_kind(COMPARED, runs_on=origin.runs_on))
            for origin in ORIGINS
        ),
    )
    rows = _readable(person).filter(maps, state=ReleaseState.PUBLISHED).exclude(pk=release.pk)
    near = _datasets_near(_region(release))
    rows = (
        rows.filter(dataset__in=near)
        .select_related("dataset", "version", "publication")
        .order_by("-requested_at", "pk")
    )
    return (other for other in rows.iterator(chunk_size=MOST) if overlap_of(release, other) is not None)


def _readable(person: Person) -> QuerySet[Release]:
    if is_administrator(person):
        return Release.objects.all()
    public = IS_PUBLIC
    if not person.is_authenticated or not person.is_active:
        return Release.objects.filter(public)
    own = memberships(person).values("dataset")
    return Release.objects.filter(public | Q(dataset__in=own))


def _datasets_near(region: Region) -> QuerySet[Dataset]:
    near = Dataset.objects.filter(west__lt=region.east, east__gt=region.west)
    return near.filter(south__lt=region.north, north__gt=region.south)


def _region(release: Release) -> Region:
    return data_slice_of(release).region(region_of(release.dataset))
