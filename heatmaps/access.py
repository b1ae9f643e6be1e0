"""Who may do what.

| may | steward | analyst | auditor | administrator |
| --- | --- | --- | --- | --- |
| see the dataset's page, budget and releases | yes | yes | yes | yes |
| see uploads and counts of rows | yes | no | no | no |
| upload, advance the version | yes | no | no | no |
| ask for a release, cancel one's own | yes | yes | no | no |
| read the ledger | yes | no | yes | yes |
| change a limit, with a reason | yes | no | no | yes |

A person who is no member learns nothing, not even that the dataset exists (404); a member without the
role is told so (403).
"""

from enum import StrEnum

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.models import Dataset, Membership, Role


class Act(StrEnum):
    SEE = "see"
    SEE_DATA = "see_data"
    UPLOAD = "upload"
    RELEASE = "release"
    READ_LEDGER = "read_ledger"
    CHANGE_LIMIT = "change_limit"


ADMINISTRATOR = "administrator"

ALLOWED: dict[Act, frozenset[str]] = {
    Act.SEE: frozenset({Role.STEWARD, Role.ANALYST, Role.AUDITOR, ADMINISTRATOR}),
    Act.SEE_DATA: frozenset({Role.STEWARD}),
    Act.UPLOAD: frozenset({Role.STEWARD}),
    Act.RELEASE: frozenset({Role.STEWARD, Role.ANALYST}),
    Act.READ_LEDGER: frozenset({Role.STEWARD, Role.AUDITOR, ADMINISTRATOR}),
    Act.CHANGE_LIMIT: frozenset({Role.STEWARD, ADMINISTRATOR}),
}

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


def may_create_datasets(person: Person) -> bool:
    """Everybody who can sign in: accounts are given out by an administrator."""
    return bool(person.is_authenticated and person.is_active)
