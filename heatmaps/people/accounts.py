"""Manages accounts: open or closed, their rights, their passwords.

Accounts are closed, never deleted: events name them. Administrators never choose or learn a password.
Datasets have ledgers, the installation has none: its acts are lines of the log, by numbers of accounts.
"""

# ruff: noqa: N818 - domain words; `except LastAdministrator` says what happened

from functools import partial
from typing import Final

import structlog
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.models import ApiToken, Membership, PasswordLink, PeopleRules, Profile, Role
from heatmaps.people import account_names, code_tries, interventions, mails, reservations
from heatmaps.people.interventions import write_profile
from heatmaps.people.members import LastSteward, other_stewards
from heatmaps.people.permissions import Person, is_administrator
from heatmaps.people.refusals import MemberError, RolesMoved
from heatmaps.people.reservations import Ending
from heatmaps.people.sessions import stored_key

_FACTORS: Final = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)

_log = structlog.stdlib.get_logger(__name__)


class LastAdministrator(MemberError):
    code = "last_administrator"

    def __init__(self) -> None:
        super().__init__("this is the last administrator with an open account; appoint another one first")


def require_administrator(person: Person) -> None:
    """Refuses everybody but administrators. Errors: PermissionDenied."""
    if not is_administrator(person):
        raise PermissionDenied("only administrators of this server can do this")


def accounts() -> QuerySet[User]:
    """Selects every account, by name."""
    return User.objects.select_related("profile").order_by("username")


def account_for(administrator: Person, account_id: int) -> User:
    """Returns an account for an administrator. Errors: PermissionDenied, Http404."""
    require_administrator(administrator)
    account = accounts().filter(pk=account_id).first()
    if account is None:
        raise Http404("no such account")
    return account


@transaction.atomic
def close(administrator: User, user: User, *, keep_queued: bool = False) -> Ending:
    """Ends an account: nobody signs in with it, and its sessions, tokens and links for a password are gone.

    What the person has reserved, in all datasets, is cancelled. keep_queued: it stays reserved.
    Errors: PermissionDenied, LastSteward, LastAdministrator, RolesMoved.
    """
    require_administrator(administrator)
    locked = _lock_datasets(user)
    _check_stewardship(user)
    _check_administrators(user)
    ending = reservations.end(administrator, user, locked, keep=keep_queued)
    User.objects.filter(pk=user.pk).update(is_active=False)
    write_profile(user, closed_at=timezone.now())
    ApiToken.objects.filter(user=user).delete()
    PasswordLink.objects.filter(user=user).delete()
    end_sessions(user)
    note("account.closed", administrator, user)
    return ending


@transaction.atomic
def reopen(administrator: User, user: User) -> None:
    """Reopens an account; nothing from before comes back: the person signs in anew.

    Errors: PermissionDenied.
    """
    require_administrator(administrator)
    # Once more: a sign-in under way at the closing may have made a session, or an operator a token, since.
    ApiToken.objects.filter(user=user).delete()
    end_sessions(user)
    User.objects.filter(pk=user.pk).update(is_active=True)
    note("account.opened", administrator, user)


@transaction.atomic
def set_administrator(administrator: User, user: User, *, is_administrator: bool) -> None:
    """Makes an account an administrator's, or not. Errors: PermissionDenied, LastAdministrator."""
    require_administrator(administrator)
    if not is_administrator:
        _check_administrators(user)
    User.objects.filter(pk=user.pk).update(is_superuser=is_administrator, is_staff=is_administrator)
    note("account.administrator" if is_administrator else "account.no_administrator", administrator, user)


def allow_datasets(administrator: User, user: User, *, allowed: bool) -> None:
    """Decides whether this person may make datasets. Errors: PermissionDenied."""
    require_administrator(administrator)
    write_profile(user, may_create_datasets=allowed)
    note("account.datasets_allowed" if allowed else "account.datasets_forbidden", administrator, user)


def sign_up_by_invitation() -> bool:
    """Tells whether invitations of stewards may be used to make an account: unless an administrator forbade
    it."""
    return not PeopleRules.objects.filter(sign_up_by_invitation=False).exists()


def allow_sign_up(administrator: User, *, allowed: bool) -> None:
    """Decides whether invitations may be used to make an account. Errors: PermissionDenied."""
    require_administrator(administrator)
    PeopleRules.objects.update_or_create(pk=PeopleRules.ONLY, defaults={"sign_up_by_invitation": allowed})
    note("accounts.sign_up_allowed" if allowed else "accounts.sign_up_forbidden", administrator)


def make(name: str, password_hash: str, *, may_create_datasets: bool = False) -> User:
    """Makes a new account, whose name and password were validated. The caller's transaction is open.

    password_hash: made before it was, as nobody else writes to an embedded database meanwhile.

    Errors: IntegrityError where the name, or one that looks like it, was taken at this very moment.
    """
    PeopleRules.objects.get_or_create(pk=PeopleRules.ONLY)
    PeopleRules.objects.select_for_update().get(pk=PeopleRules.ONLY)  # new people come one after the other
    if account_names.is_taken(name):
        raise IntegrityError("the name was taken meanwhile")
    user = User.objects.create(username=User.normalize_username(name), password=password_hash)
    Profile.objects.create(user=user, may_create_datasets=may_create_datasets)
    return user


def set_password(user: User, password: str, *, revoke_tokens: bool) -> None:
    """Stores a password that was validated, as `set_password_hash`. Errors: Busy."""
    set_password_hash(user, make_password(password), revoke_tokens=revoke_tokens)


@transaction.atomic
def set_password_hash(user: User, password_hash: str, *, revoke_tokens: bool) -> None:
    """Stores a new password's hash.

    Every session of the person ends, as each carries a hash of the old one, and the link for a new password.
    """
    user.password = password_hash
    user.save(update_fields=["password"])
    PasswordLink.objects.filter(user=user).delete()
    note("account.password_changed", user, user)
    mails.tell(user, "The password of your account was changed.")
    if revoke_tokens:
        ApiToken.objects.filter(user=user).delete()


@transaction.atomic
def revoke_tokens(user: User) -> None:
    """Deletes all that the person has."""
    ApiToken.objects.filter(user=user).delete()
    note("account.tokens_revoked", user, user)


def has_second_factor(user: User) -> bool:
    """Tells whether signing in needs more than a password; recovery codes alone are none."""
    return bool(Authenticator.objects.filter(user=user, type__in=_FACTORS).exists())


def lacks_second_factor(user: User) -> bool:
    """Returns whether everybody has to have one, and `user` has none."""
    return second_factor_required() and not has_second_factor(user)


def must_keep(factor: Authenticator) -> bool:
    """Tells whether a second factor is required, and this one is the last that its owner has."""
    factors = Authenticator.objects.filter(user=factor.user).exclude(type=Authenticator.Type.RECOVERY_CODES)
    return second_factor_required() and not factors.exclude(pk=factor.pk).exists()


def signs_in_without_password(user: User) -> bool:
    """Tells whether somebody has no password and needs none: a link would be a way in unasked."""
    if user.has_usable_password():
        return False
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return bool(passkeys.exists() or SocialAccount.objects.filter(user=user).exists())


def second_factor_required() -> bool:
    """Tells whether everybody has to have one."""
    return PeopleRules.objects.filter(second_factor=True).exists()


@transaction.atomic
def require_second_factor(administrator: User, required: bool, *, revoke_tokens: bool = False) -> None:
    """Decides whether everybody has to have a second factor. Errors: PermissionDenied.

    revoke_tokens: those that were made before their owners had a second factor.
    """
    require_administrator(administrator)
    PeopleRules.objects.update_or_create(pk=PeopleRules.ONLY, defaults={"second_factor": required})
    if revoke_tokens:
        factors = Authenticator.objects.filter(user=OuterRef("user"), type__in=_FACTORS)
        first = Subquery(factors.order_by("created_at").values("created_at")[:1])
        tokens = ApiToken.objects.annotate(first_factor_at=first)
        tokens.filter(Q(first_factor_at=None) | Q(created__lt=F("first_factor_at"))).delete()
        note("accounts.tokens_revoked", administrator)
    note("accounts.second_factor_required" if required else "accounts.second_factor_optional", administrator)


@transaction.atomic
def remove_second_factor(administrator: User | None, user: User) -> None:
    """Removes a second factor: the password alone lets in from now on; every session ends.

    Nobody as administrator: whoever runs the server, by a command. Errors: PermissionDenied, RolesMoved.
    """
    if administrator is not None:
        require_administrator(administrator)
    interventions.record(administrator, user, interventions.FACTOR_REMOVED)
    Authenticator.objects.filter(user=user).delete()
    code_tries.forget_wrong(user)
    end_sessions(user)
    note("account.factor_removed", administrator, user)


def end_sessions(user: User, *, but: str | None = None) -> None:
    """Ends the sessions of an account; that of a key stays.

    Only a session's content says whose it is, so all of them are looked through.

    Errors: RuntimeError in a process without web's keys, which could read none.
    """
    if settings.WEB_KEY_DIR is None:
        raise RuntimeError("only a process with web's keys ends sessions: HAZEMAP_WEB_KEY_DIR is none")
    sessions = Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=stored_key(but))
    rows = sessions.iterator(chunk_size=1000)
    session_keys = [row.pk for row in rows if row.get_decoded().get(SESSION_KEY) == str(user.pk)]
    Session.objects.filter(pk__in=session_keys).delete()


def note(event: str, by: User | None, user: User | None = None) -> None:
    """Writes a line of the log once the act is committed: what, by whom, on whose account; numbers only."""
    subject = {} if user is None else {"account": user.pk}
    transaction.on_commit(partial(_log.info, event, by="operator" if by is None else by.pk, **subject))


def _lock_datasets(user: User) -> list[int]:
    """Locks ledgers first and in order, as every move does; then the account, so that it gets no roles and
    reserves nothing while it is looked at. Errors: RolesMoved."""
    dataset_ids = _datasets_of(user)
    for dataset_id in dataset_ids:
        with transitions.locked(dataset_id):
            pass  # the row stays locked until the caller's transaction ends
    User.objects.select_for_update().get(pk=user.pk)
    if not set(_datasets_of(user)) <= set(dataset_ids):
        raise RolesMoved
    return dataset_ids


def _datasets_of(user: User) -> list[int]:
    """Lists where somebody has a role, or something queued from when there was one."""
    roles = Membership.objects.filter(user=user).values_list("dataset", flat=True)
    return sorted({*roles, *reservations.queued_by(user).values_list("dataset", flat=True)})


def _check_stewardship(user: User) -> None:
    """Refuses to leave a dataset without a steward. Errors: LastSteward."""
    stewardships = Membership.objects.filter(user=user, role=Role.STEWARD).order_by("dataset")
    slugs = dict(stewardships.values_list("dataset", "dataset__slug"))
    slugs_alone = [slug for dataset_id, slug in slugs.items() if not list(other_stewards(dataset_id, user))]
    if slugs_alone:
        raise LastSteward(slugs_alone)


def _check_administrators(user: User) -> None:
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    ids = {row.pk for row in administrators}
    if ids == {user.pk}:
        raise LastAdministrator
