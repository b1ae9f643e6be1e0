"""Makes published releases public or hides them again; a steward's act and an event.

Publishing costs nothing and gives nothing back: the charge was paid when the map was drawn.
"""

# ruff: noqa: N818 - domain words; `except NotPublished` says what happened

from typing import ClassVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.facts import FOR_EVERYBODY, FOR_MEMBERS
from heatmaps.ledger.transitions.moves import PUBLICATION
from heatmaps.models import Release, ReleaseState
from heatmaps.people.permissions import Act, Person, may, require


class PublicationRefused(Exception):
    """Nothing was written."""

    code: ClassVar[str]


class NotPublished(PublicationRefused):
    """Only what has a result can be shown."""

    code = "not_published"

    def __init__(self) -> None:
        super().__init__("only a published release can be made public")


class GuideNotPublic(PublicationRefused):
    """Whoever sees a map may see the one that guided it."""

    code = "guide_not_public"

    def __init__(self) -> None:
        super().__init__("another map guided this one, and is not public: make that one public first")


class GuidesPublicMap(PublicationRefused):
    """As before, from the other side."""

    code = "guides_public_map"

    def __init__(self) -> None:
        super().__init__("this map guided another one of this dataset, which is public: hide that one first")


def set_public(actor: User, release: Release, *, public: bool) -> Release:
    """Show a published release to everybody, or to members only; nothing happens where it is so already.

    Its name and note stay for members until `names.show` shows them. A public map's guide is public when it
    is shown, and stays so while it is; but no dataset keeps another one from hiding what is its own.
    Errors: PermissionDenied, Http404, PublicationRefused.
    """
    with transitions.locked(release.dataset_id):
        require(actor, release.dataset, Act.PUBLISH)
        rows = Release.objects.filter(pk=release.pk, state=ReleaseState.PUBLISHED)
        if not rows.exists():
            raise NotPublished
        release.refresh_from_db(fields=["public_since"])
        if public == (release.public_since is None) and in_the_way(release):
            raise GuideNotPublic if public else GuidesPublicMap
        changed = rows.filter(public_since__isnull=public).update(
            public_since=timezone.now() if public else None, is_name_public=False
        )
        if changed:
            before, after = (FOR_MEMBERS, FOR_EVERYBODY) if public else (FOR_EVERYBODY, FOR_MEMBERS)
            facts = {"shown_release": str(release.pk), "readable_by": after}
            transitions.record(
                release.dataset, PUBLICATION, actor=actor, before={"readable_by": before}, after=facts
            )
    release.refresh_from_db()
    return release


def in_the_way(release: Release) -> list[Release]:
    """The releases for which `set_public` refuses to show it, or where it is public, to hide it."""
    if release.public_since is None:
        rows = Release.objects.filter(guided_releases=release.pk, public_since=None)
    else:
        rows = _shown(release.guided_releases.filter(dataset=release.dataset_id))
    return list(rows.select_related("dataset"))


def public_releases() -> QuerySet[Release]:
    """What anybody may read, the latest first."""
    rows = _shown(Release.objects.all())
    return rows.select_related("dataset", "version", "requested_by").order_by("-public_since", "pk")


def is_public(release_id: UUID) -> bool:
    return public_releases().filter(pk=release_id).exists()


def public_release(release_id: UUID) -> Release:
    """The release of that name, which anybody may read. Errors: Http404."""
    found = public_releases().filter(pk=release_id).first()
    if found is None:
        raise Http404("no such release")
    return found


def readable_release(person: Person, release_id: UUID) -> Release:
    """The release of that name for members of its dataset, and for anybody once it is public.

    Errors: Http404.
    """
    rows = Release.objects.select_related("dataset", "requested_by", "version")
    found = rows.filter(pk=release_id).first()
    if found is None or not (_public(found) or may(person, found.dataset, Act.SEE)):
        raise Http404("no such release")
    return found


def is_outsider(person: Person, release: Release) -> bool:
    """Who reads it only because it is public is told nothing else of its dataset."""
    return not may(person, release.dataset, Act.SEE)


def _shown(rows: QuerySet[Release]) -> QuerySet[Release]:
    return rows.filter(state=ReleaseState.PUBLISHED, public_since__isnull=False)


def _public(release: Release) -> bool:
    return release.state == ReleaseState.PUBLISHED and release.public_since is not None
