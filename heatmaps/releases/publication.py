"""Makes published releases public or hides them again; a steward's act and an event.

Publishing costs nothing and gives nothing back: the charge was paid when the map was drawn.
"""

# ruff: noqa: N818 - domain words; `except NotPublished` says what happened

from typing import ClassVar, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.models import Release, ReleaseState
from heatmaps.people.permissions import Act, Person, may, require

PUBLICATION: Final = "publication"  # the kind of its events
HIDDEN, PUBLIC = "members", "everybody"  # who may read it


class NotPublished(Exception):
    """Only what has a result can be shown; nothing was written."""

    code: ClassVar[str] = "not_published"

    def __init__(self) -> None:
        super().__init__("only a published release can be made public")


def set_public(actor: User, release: Release, *, public: bool) -> Release:
    """Show a published release to everybody, or to members only; nothing happens where it is so already.

    Its name and note stay for members until `names.show` shows them.
    Errors: PermissionDenied, Http404, NotPublished.
    """
    with transitions.locked(release.dataset_id):
        require(actor, release.dataset, Act.PUBLISH)
        rows = Release.objects.filter(pk=release.pk, state=ReleaseState.PUBLISHED)
        if not rows.exists():
            raise NotPublished
        changed = rows.filter(public_since__isnull=public).update(
            public_since=timezone.now() if public else None, is_name_public=False
        )
        if changed:
            before, after = (HIDDEN, PUBLIC) if public else (PUBLIC, HIDDEN)
            facts = {"shown_release": str(release.pk), "readable_by": after}
            transitions.record(
                release.dataset, PUBLICATION, actor=actor, before={"readable_by": before}, after=facts
            )
    release.refresh_from_db()
    return release


def public_releases() -> QuerySet[Release]:
    """What anybody may read, the latest first."""
    rows = Release.objects.filter(state=ReleaseState.PUBLISHED, public_since__isnull=False)
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


def _public(release: Release) -> bool:
    return release.state == ReleaseState.PUBLISHED and release.public_since is not None
