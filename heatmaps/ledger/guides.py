"""Verifies the guides of releases: known before each was reserved, and of the hash that its event names.

What events alone can tell is in `replay`. The map of another dataset is looked up in the events of that one,
whose chain is verified by itself. No sequence goes through two chains, so their moments are compared.
"""

import hashlib
import json
from functools import cache
from uuid import UUID

from heatmaps.data_slice import DataSlice
from heatmaps.ledger.events import canonical
from heatmaps.ledger.facts import FOR_EVERYBODY
from heatmaps.ledger.replay import Disagreement, Replay, ReplayedRelease
from heatmaps.ledger.transitions.moves import PUBLICATION, PUBLISH
from heatmaps.models import Dataset, Event, Release, Result
from heatmaps.regions import region_of
from mechanisms.guide import Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import result_from_bytes


def check(dataset: Dataset, replay: Replay) -> None:
    """Compares guides with the ledger, after rows and files were compared with their events.

    Errors: Disagreement.
    """
    maps = _Maps(replay)
    rows = Release.objects.filter(dataset=dataset).exclude(guide_sha256="")
    guided_pairs = [
        (replay.releases[row.pk], row) for row in rows.select_related("dataset", "guide_release__dataset")
    ]
    for replayed_release, release in sorted(guided_pairs, key=lambda pair: pair[0].reserved):
        if problem := maps.problem(release, replayed_release):
            guide_id = release.guide_release_id or release.guide_file_id
            raise Disagreement(
                replayed_release.reserved, f"release {release.pk}: its guide {guide_id} {problem}"
            )


class _Maps:
    """Reads published maps, each read once."""

    def __init__(self, replay: Replay) -> None:
        self._releases = replay.releases
        self._shown, self._digest = cache(_shown_elsewhere), cache(_digest)

    def problem(self, release: Release, replayed_release: ReplayedRelease) -> str:
        """Says what is wrong with the guide of a release; empty: nothing."""
        guide = release.guide_release
        if guide is None or guide.dataset_id == release.dataset_id:
            is_known = replayed_release.knows_guide
            result = self._releases[guide.pk].sha256 if guide is not None and is_known else ""
        else:
            since, result = self._shown(guide.dataset_id, guide.pk)
            is_known = since is not None and since <= replayed_release.reserved_at
        if not is_known:
            return "was not there yet when it was reserved"
        if guide is None:  # a file: its hash and shares were compared with its event
            return ""
        try:
            is_same_place, is_same = _is_of_the_same_place(release, guide), _is_of_the_same(release, guide)
        except (TypeError, ValueError):  # a row of another dataset, as its own verification says
            return "has a rectangle that cannot be read"
        if not is_same_place:
            return "covers another part of the world"
        digest = self._digest(guide.pk, result, is_same)
        if not digest:
            return "is not the map that was published"
        return "" if digest == release.guide_sha256 else "has another hash than the one that was reserved"


def _shown_elsewhere(dataset_id: int, release_id: UUID) -> tuple[int | None, str]:
    """Returns since when (microseconds since 1970) everybody might read a release, and its result's SHA-256.

    That it was hidden again is no matter: who named it just then did nothing wrong.
    """
    rows = Event.objects.filter(dataset=dataset_id).order_by("sequence")
    publishing_event = rows.filter(kind=PUBLISH, release=release_id).first()
    public_facts = {"shown_release": str(release_id), "readable_by": FOR_EVERYBODY}
    publication_event = rows.filter(kind=PUBLICATION, after=canonical(public_facts)).first()
    if publishing_event is None or publication_event is None:
        return None, ""
    try:
        result = json.loads(publishing_event.after)["sha256"]
    except (ValueError, KeyError, TypeError):  # changed, as the verification of that ledger says
        result = ""
    return max(publishing_event.at_microseconds, publication_event.at_microseconds), result


def _digest(release_id: UUID, sha256: str, same_people: bool) -> str:
    """Returns the SHA-256 of the guide made of a map as it was published; empty without such a map."""
    content = bytes(Result.objects.values_list("content", flat=True).filter(pk=release_id).first() or b"")
    if hashlib.sha256(content).hexdigest() != sha256:
        return ""
    try:
        result = result_from_bytes(content)
        return Guide.of_map(result, same_people=same_people).sha256 if isinstance(result, Heatmap) else ""
    except ValueError:
        return ""


def _is_of_the_same_place(release: Release, guide: Release) -> bool:
    region = _slice(release).region(region_of(release.dataset))
    return region == _slice(guide).region(region_of(guide.dataset))


def _is_of_the_same(release: Release, guide: Release) -> bool:
    """Tells whether both are drawn from the same version and slice, so that the guide holds what was measured
    for it."""
    return release.version_id == guide.version_id and _slice(release) == _slice(guide)


def _slice(release: Release) -> DataSlice:
    return DataSlice.stored(release.since, release.until, release.rectangle)
