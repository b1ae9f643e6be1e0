"""Accounts of the installation: closing and opening them, what they may do, their passwords.

Accounts are closed, never deleted: events name them. Administrators never choose or learn a password.
Datasets have ledgers, the installation has none: its acts are lines of the log, by numbers of accounts.
"""

# ruff: noqa: N818 - domain words; `except LastAdministrator` says what happened

from functools import partial

import structlog
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404

from heatmaps.access import Person, is_administrator
from heatmaps.ledger import transitions
from heatmaps.members import LastSteward, MemberError, other_stewards
from heatmaps.models import ApiToken, Membership, PeopleRules, Profile, Role

_log = structlog.stdlib.get_logger(__name__)


class LastAdministrator(MemberError):
    code = "last_administrator"

    def __init__(self) -> None:
        super().__init__("this is the last administrator with an open account; appoint another one first")


class RolesMoved(MemberError):
    code = "roles_moved"

    def __init__(self) -> None:
        super().__init__("this person's roles changed at this very moment; try again")


def require_administrator(person: Person) -> None:
    """Errors: PermissionDenied."""
    if not is_administrator(person):
        raise PermissionDenied("this needs an administrator of this server")


def accounts() -> QuerySet[User]:
    """Every account, by name."""
    return User.objects.select_related("profile").order_by("username")


def account_for(administrator: Person, account_id: int) -> User:
    """Errors: PermissionDenied, Http404."""
    require_administrator(administrator)
    found = accounts().filter(pk=account_id).first()
    if found is None:
        raise Http404("no such account")
    return found


@transaction.atomic
def close(administrator: User, user: User) -> None:
    """Nobody signs in with it from now on, and its tokens are gone. Errors: PermissionDenied, LastSteward,
    LastAdministrator, RolesMoved."""
    require_administrator(administrator)
    _check_stewardship(user)
    _check_administrators(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    ApiToken.objects.filter(user=user).delete()
    note("account.closed", administrator, user)


def reopen(administrator: User, user: User) -> None:
    """Errors: PermissionDenied."""
    require_administrator(administrator)
    User.objects.filter(pk=user.pk).update(is_active=True)
    note("account.opened", administrator, user)


@transaction.atomic
def set_administrator(administrator: User, user: User, *, wanted: bool) -> None:
    """Errors: PermissionDenied, LastAdministrator."""
    require_administrator(administrator)
    if not wanted:
        _check_administrators(user)
    User.objects.filter(pk=user.pk).update(is_superuser=wanted, is_staff=wanted)
    note("account.administrator" if wanted else "account.no_administrator", administrator, user)


def allow_datasets(administrator: User, user: User, *, allowed: bool) -> None:
    """Whether this person may make datasets. Errors: PermissionDenied."""
    require_administrator(administrator)
    Profile.objects.update_or_create(user=user, defaults={"may_create_datasets": allowed})
    note("account.datasets_allowed" if allowed else "account.datasets_forbidden", administrator, user)


def sign_up_by_invitation() -> bool:
    """Whether invitations of stewards may be used to make an account."""
    return PeopleRules.objects.filter(sign_up_by_invitation=True).exists()


def allow_sign_up(administrator: User, *, allowed: bool) -> None:
    """Errors: PermissionDenied."""
    require_administrator(administrator)
    PeopleRules.objects.update_or_create(pk=PeopleRules.ONLY, defaults={"sign_up_by_invitation": allowed})
    note("accounts.sign_up_allowed" if allowed else "accounts.sign_up_forbidden", administrator)


@transaction.atomic
def set_password(user: User, password: str, *, revoke_tokens: bool) -> None:
    """A password that was validated. Every session of the person ends: each carries a hash of the old one."""
    user.set_password(password)
    user.save(update_fields=["password"])
    note("account.password_changed", user, user)
    if revoke_tokens:
        ApiToken.objects.filter(user=user).delete()


def note(event: str, by: User, user: User | None = None) -> None:
    """A line of the log once the act is committed: what, by whom, on whose account; numbers only."""
    whose = {} if user is None else {"account": user.pk}
    transaction.on_commit(partial(_log.info, event, by=by.pk, **whose))


def _check_stewardship(user: User) -> None:
    """Ledgers are locked first and in order, as every move does; then the account, so that it gets no roles
    while it is looked at."""
    stewardships = Membership.objects.filter(user=user, role=Role.STEWARD).order_by("dataset")
    held = dict(stewardships.values_list("dataset", "dataset__slug"))
    for dataset_id in held:
        with transitions.locked(dataset_id):
            pass  # the row stays locked until the caller's transaction ends
    User.objects.select_for_update().get(pk=user.pk)
    now = dict(stewardships.values_list("dataset", "dataset__slug"))
    if not now.keys() <= held.keys():
        raise RolesMoved
    alone = [slug for dataset_id, slug in now.items() if not list(other_stewards(dataset_id, user))]
    if alone:
        raise LastSteward(alone)


def _check_administrators(user: User) -> None:
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    held = {row.pk for row in administrators}
    if held == {user.pk}:
        raise LastAdministrator
