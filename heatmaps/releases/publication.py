"""Makes published releases public or hides them again; a steward's act and an event.

Publishing costs nothing and gives nothing back: the charge was paid when the map was drawn.
"""

# ruff: noqa: N818 - domain words; `except NotPublished` says what happened

from collections.abc import Iterator
from typing import ClassVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.guides.chain import chain
from heatmaps.ledger import transitions
from heatmaps.ledger.facts import FOR_EVERYBODY, FOR_MEMBERS
from heatmaps.ledger.transitions.moves import PUBLICATION
from heatmaps.models import Release, ReleaseState
from heatmaps.models.release import IS_PUBLIC
from heatmaps.people.permissions import Act, Person, may, require


class PublicationRefused(Exception):
    """Refuses; nothing was written."""

    code: ClassVar[str]


class NotPublished(PublicationRefused):
    """Refuses to show what has no result."""

    code = "not_published"

    def __init__(self) -> None:
        super().__init__("only a published release can be made public")


class GuideNotPublic(PublicationRefused):
    """Refuses to show a map whose guide is not: whoever sees a map may see the one that guided it."""

    code = "guide_not_public"

    def __init__(self) -> None:
        super().__init__("another map guided this one, and is not public: make that one public first")


class GuidesPublicMap(PublicationRefused):
    """Refuses to hide a map that guided a public one."""

    code = "guides_public_map"

    def __init__(self) -> None:
        super().__init__("this map guided another one of this dataset, which is public: hide that one first")


def set_public(actor: User, release: Release, *, public: bool) -> Release:
    """Shows a published release to everybody, or to members only; nothing happens where it is so already.

    Its name and note stay for members until `names.show` shows them. A public map's guide is public when it
    is shown, and stays so while it is; so do all maps of its own dataset that it goes back to. But no dataset
    keeps another one from hiding what is its own.
    Errors: PermissionDenied, Http404, PublicationRefused.
    """
    with transitions.locked(release.dataset_id):
        require(actor, release.dataset, Act.PUBLISH)
        rows = Release.objects.filter(pk=release.pk, state=ReleaseState.PUBLISHED)
        current = rows.select_related("dataset", "publication").first()
        if current is None:
            raise NotPublished
        if public != current.is_public and in_the_way(current):
            raise GuideNotPublic if public else GuidesPublicMap
        # A row that says more than its events is hidden like one that is public.
        if public != current.is_public or public != (current.public_since is not None):
            rows.update(public_since=timezone.now() if public else None, is_name_public=False)
            before = {"readable_by": FOR_EVERYBODY if current.is_public else FOR_MEMBERS}
            after = {
                "shown_release": str(release.pk),
                "readable_by": FOR_EVERYBODY if public else FOR_MEMBERS,
            }
            transitions.record(release.dataset, PUBLICATION, actor=actor, before=before, after=after)
    release.refresh_from_db()
    return release


def in_the_way(release: Release) -> list[Release]:
    """Returns the releases for which `set_public` refuses to show it, or where it is public, to hide it."""
    own = release.dataset_id
    if not release.is_public:
        guide = Release.objects.filter(guided_releases=release.pk).first()  # as it is by now
        before = list(chain(guide))
        needed = [*before[:1], *(row for row in before[1:] if row.dataset_id == own)]
        return [row for row in needed if not row.is_public]
    return [row for row in _guided_by(release) if row.dataset_id == own and row.is_public]


def _guided_by(release: Release) -> Iterator[Release]:
    """Yields all releases that go back to a release."""
    ids, latest = {release.pk}, [release.pk]
    while latest:
        rows = Release.objects.select_related("dataset").filter(guide_release__in=latest).exclude(pk__in=ids)
        after = list(rows)
        yield from after
        latest = [row.pk for row in after]
        ids |= set(latest)


def public_releases() -> QuerySet[Release]:
    """Returns the releases that anybody may read, the latest first."""
    rows = Release.objects.filter(IS_PUBLIC).select_related(
        "dataset", "version", "requested_by", "publication"
    )
    return rows.order_by("-public_since", "pk")


def is_public(release_id: UUID) -> bool:
    return public_releases().filter(pk=release_id).exists()


def public_release(release_id: UUID) -> Release:
    """Returns the release of that name, which anybody may read. Errors: Http404."""
    release = public_releases().filter(pk=release_id).first()
    if release is None:
        raise Http404("no such release")
    return release


def readable_release(person: Person, release_id: UUID) -> Release:
    """Returns the release of that name for members of its dataset, and for anybody once it is public.

    Errors: Http404.
    """
    rows = Release.objects.select_related("dataset", "requested_by", "version", "publication")
    release = rows.filter(pk=release_id).first()
    if release is None or not (release.is_public or may(person, release.dataset, Act.SEE)):
        raise Http404("no such release")
    return release


def is_outsider(person: Person, release: Release) -> bool:
    """Tells whether somebody reads a release only because it is public, and nothing else of its dataset."""
    return not may(person, release.dataset, Act.SEE)
