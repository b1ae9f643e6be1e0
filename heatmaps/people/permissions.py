"""Decides who may do what.

| may | steward | analyst | auditor | administrator |
| --- | --- | --- | --- | --- |
| see the dataset's page, budget and releases | yes | yes | yes | yes |
| see uploads, counts of rows, and what administrators opened | yes | no | no | no |
| upload, advance the version | yes | no | no | no |
| ask for a release, cancel one's own | yes | yes | no | no |
| read the ledger | yes | no | yes | yes |
| change a limit, with a reason | yes | no | no | yes |
| invite, change and remove members, with what these have queued | yes | no | no | yes |
| make a published release public with or without its name, hide it again | yes | no | no | no |
| store, change and delete district files | yes | no | no | no |
| store guide files, before the first upload | yes | no | no | no |
| plan and cancel rounds of a collection, give its shuffler another token | yes | no | no | no |
| confirm the members and opt-outs that a restore brought back | yes | no | no | no |

Until a steward confirmed a dataset that was restored, its analysts and auditors are strangers to it: somebody
may have removed them since the backup.
Members read a release's name and note; whoever asked for it and stewards change them.
Whatever an administrator who is no member sees of a dataset leaves a row for its stewards
(`heatmaps.ledger.administrator_reads`): `require`, `may` and `note_reads` write it where they let him see.

A person who is no member learns nothing, not even that the dataset exists (404); a member without the
role is told so (403). Anybody may read a release that a steward made public, with the district files of its
dataset, which are public by declaration, and nothing else of it.
Each member may leave, except the last steward. Whoever makes datasets is their first steward.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from heatmaps.ledger import administrator_reads
from heatmaps.models import Dataset, Membership, Profile, Restoration, Role


class Act(StrEnum):
    SEE = "see"
    SEE_DATA = "see_data"
    UPLOAD = "upload"
    RELEASE = "release"
    READ_LEDGER = "read_ledger"
    CHANGE_LIMIT = "change_limit"
    MANAGE_MEMBERS = "manage_members"
    PUBLISH = "publish"
    KEEP_DISTRICTS = "keep_districts"
    KEEP_GUIDES = "keep_guides"
    PLAN_ROUNDS = "plan_rounds"
    CONFIRM_RESTORATION = "confirm_restoration"


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
    Act.KEEP_DISTRICTS: frozenset({Role.STEWARD}),
    Act.KEEP_GUIDES: frozenset({Role.STEWARD}),
    Act.PLAN_ROUNDS: frozenset({Role.STEWARD}),
    Act.CONFIRM_RESTORATION: frozenset({Role.STEWARD}),
}

MAY_NOT_CREATE: Final = "your account may not make datasets; ask an administrator of this server to allow it"

Person = User | AnonymousUser


def roles(person: Person, dataset: Dataset) -> frozenset[str]:
    """Returns the roles `person` holds for `dataset`; empty for a stranger. Decides nothing: see `may`."""
    return roles_by_dataset(person, [dataset])[dataset.pk]


def roles_by_dataset(person: Person, datasets: Iterable[Dataset]) -> dict[int, frozenset[str]]:
    """Returns, as `roles`, the roles that `person` holds for each dataset, by its primary key."""
    if isinstance(person, AnonymousUser) or not person.is_active:
        return {dataset.pk: frozenset() for dataset in datasets}
    everywhere = {ADMINISTRATOR} if person.is_superuser else set()
    own_roles = {dataset.pk: set(everywhere) for dataset in datasets}
    for dataset_id, role in memberships(person).filter(dataset__in=own_roles).values_list("dataset", "role"):
        own_roles[dataset_id].add(role)
    return {dataset_id: frozenset(names) for dataset_id, names in own_roles.items()}


def memberships(person: User) -> QuerySet[Membership]:
    """Returns the memberships by which `person` has a role now."""
    restored_ids = Restoration.objects.filter(confirmed_at=None).values("dataset")
    return Membership.objects.filter(Q(role=Role.STEWARD) | ~Q(dataset__in=restored_ids), user=person)


def may(person: Person, dataset: Dataset, act: Act) -> bool:
    """Tells whether `person` may, who is about to; an administrator's reading is recorded."""
    own_roles = roles(person, dataset)
    if ALLOWED[act].isdisjoint(own_roles) or misfit(dataset, act):
        return False
    _note_outsider(person, dataset, own_roles)
    return True


def would_allow(person: Person, dataset: Dataset, act: Act) -> bool:
    """Tells whether `person` might, who reads nothing by it (the maker of a link that another uses)."""
    return act in acts_allowed(person, dataset)


def acts_allowed(person: Person, dataset: Dataset) -> frozenset[Act]:
    """Returns the acts that `would_allow` is true for."""
    own_roles = roles(person, dataset)
    return frozenset(
        act for act in Act if not ALLOWED[act].isdisjoint(own_roles) and not misfit(dataset, act)
    )


def misfit(dataset: Dataset, act: Act) -> str:
    """Returns the reason why nobody may do so with a dataset of this origin; empty: somebody may."""
    return dataset.origin.refused_acts.get(act, "")


def is_stranger(person: Person, dataset: Dataset) -> bool:
    """Tells whether `person` may not even learn that the dataset exists."""
    return not roles(person, dataset)


def require(person: Person, dataset: Dataset, act: Act) -> User:
    """Returns the person, who may do `act`.

    Errors: Http404 for a stranger; PermissionDenied for a member whose role does not allow it.
    """
    own_roles = roles(person, dataset)
    if not own_roles or isinstance(person, AnonymousUser):  # types do not know that nobody unknown has a role
        raise Http404("no such dataset")
    if ALLOWED[act].isdisjoint(own_roles):
        needed = " or ".join(sorted(ALLOWED[act]))
        raise PermissionDenied(f"this needs the role {needed} in the dataset; ask one of its stewards")
    if reason := misfit(dataset, act):
        raise PermissionDenied(reason)
    _note_outsider(person, dataset, own_roles)
    return person


def member_of(person: Person, dataset_ids: Iterable[int]) -> frozenset[int]:
    """Returns which of these datasets a person is a member of; administrators as such are of none."""
    if isinstance(person, AnonymousUser) or not person.is_active:
        return frozenset()
    own_memberships = memberships(person).filter(dataset__in=set(dataset_ids))
    return frozenset(own_memberships.values_list("dataset", flat=True))


def roles_of_reader(person: Person, datasets: Iterable[Dataset]) -> dict[int, frozenset[str]]:
    """Returns roles as `roles_by_dataset` for somebody who reads of these datasets, as `note_reads` notes."""
    roles_by_id = roles_by_dataset(person, datasets)
    if isinstance(person, User):
        outside = [dataset_id for dataset_id, own in roles_by_id.items() if own == {ADMINISTRATOR}]
        administrator_reads.record(person, outside)
    return roles_by_id


def note_reads(person: Person, dataset_ids: Iterable[int]) -> None:
    """Records that an administrator reads of these datasets, where no `require` came before: in lists."""
    if isinstance(person, User) and person.is_superuser:
        ids = set(dataset_ids)
        own_ids = memberships(person).filter(dataset__in=ids).values_list("dataset", flat=True)
        administrator_reads.record(person, ids - set(own_ids))


def _note_outsider(person: Person, dataset: Dataset, own_roles: frozenset[str]) -> None:
    if own_roles == {ADMINISTRATOR} and isinstance(person, User):
        administrator_reads.record(person, [dataset.pk])


def dataset_for(person: Person, slug: str, act: Act = Act.SEE) -> Dataset:
    """Returns the dataset named `slug`, when `person` may do `act` with it."""
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        raise Http404("no such dataset")
    require(person, dataset, act)
    return dataset


def is_administrator(person: Person) -> bool:
    return bool(person.is_active and person.is_superuser)


def require_creator(person: Person) -> User:
    """Returns the person, who may make datasets. Errors: PermissionDenied."""
    if isinstance(person, AnonymousUser) or not may_create_datasets(person):
        raise PermissionDenied(MAY_NOT_CREATE)
    return person


def may_create_datasets(person: Person) -> bool:
    """Administrators, and accounts that an administrator allowed it (see `Profile`)."""
    if isinstance(person, AnonymousUser) or not person.is_active:
        return False
    if person.is_superuser:
        return True
    return not Profile.objects.filter(user=person, may_create_datasets=False).exists()
