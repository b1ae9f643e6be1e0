"""Who may do what.

| may | steward | analyst | auditor | administrator |
| --- | --- | --- | --- | --- |
| see the dataset's page, budget and releases | yes | yes | yes | yes |
| see uploads and counts of rows | yes | no | no | no |
| upload, advance the version | yes | no | no | no |
| ask for a release, cancel one's own | yes | yes | no | no |
| read the ledger | yes | no | yes | yes |
| change a limit, with a reason | yes | no | no | yes |
| invite, change and remove members | yes | no | no | yes |
| make a published release public, hide it again | yes | no | no | no |

A person who is no member learns nothing, not even that the dataset exists (404); a member without the
role is told so (403). Anybody may read a release that a steward made public, and nothing else of its dataset.
Each member may leave, except the last steward. Whoever makes datasets is their first steward.
"""

from enum import StrEnum
from typing import Final

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.models import Dataset, Membership, Profile, Role


class Act(StrEnum):
    SEE = "see"
    SEE_DATA = "see_data"
    UPLOAD = "upload"
    RELEASE = "release"
    READ_LEDGER = "read_ledger"
    CHANGE_LIMIT = "change_limit"
    MANAGE_MEMBERS = "manage_members"
    PUBLISH = "publish"


ADMINISTRATOR = "administrator"

ALLOWED: dict[Act, frozenset[str]] = {
    Act.SEE: frozenset({Role.STEWARD, Role.ANALYST, Role.AUDITOR, ADMINISTRATOR}),
    Act.SEE_DATA: frozenset({Role.STEWARD}),
    Act.UPLOAD: frozenset({Role.STEWARD}),
    Act.RELEASE: frozenset({Role.STEWARD, Role.ANALYST}),
    Act.READ_LEDGER: frozenset({Role.STEWARD, Role.AUDITOR, ADMINISTRATOR}),
    Act.CHANGE_LIMIT: frozenset({Role.STEWARD, ADMINISTRATOR}),
    Act.MANAGE_MEMBERS: frozenset({Role.STEWARD, ADMINISTRATOR}),
    Act.PUBLISH: frozenset({Role.STEWARD}),
}

MAY_NOT_CREATE: Final = "your account may not make datasets; ask an administrator of this server to allow it"

Person = User | AnonymousUser


def roles(person: Person, dataset: Dataset) -> frozenset[str]:
    """The roles `person` holds for `dataset`; empty for a stranger."""
    if isinstance(person, AnonymousUser) or not person.is_active:
        return frozenset()
    held = set(Membership.objects.filter(dataset=dataset, user=person).values_list("role", flat=True))
    if person.is_superuser:
        held.add(ADMINISTRATOR)
    return frozenset(held)


def may(person: Person, dataset: Dataset, act: Act) -> bool:
    return not ALLOWED[act].isdisjoint(roles(person, dataset))


def require(person: Person, dataset: Dataset, act: Act) -> None:
    """Raise Http404 for a stranger and PermissionDenied for a member whose role does not allow `act`."""
    held = roles(person, dataset)
    if not held:
        raise Http404("no such dataset")
    if ALLOWED[act].isdisjoint(held):
        wanted = " or ".join(sorted(ALLOWED[act]))
        raise PermissionDenied(f"this needs the role {wanted} of the dataset; ask one of its stewards")


def dataset_for(person: Person, slug: str, act: Act = Act.SEE) -> Dataset:
    """The dataset named `slug`, when `person` may do `act` with it."""
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        raise Http404("no such dataset")
    require(person, dataset, act)
    return dataset


def is_administrator(person: Person) -> bool:
    return bool(person.is_active and person.is_superuser)


def may_create_datasets(person: Person) -> bool:
    """Administrators, and accounts that an administrator allowed it (see `Profile`)."""
    if isinstance(person, AnonymousUser) or not person.is_active:
        return False
    if person.is_superuser:
        return True
    return not Profile.objects.filter(user=person, may_create_datasets=False).exists()
