"""Manages accounts of this server, for its administrators."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from heatmaps.models import Membership
from heatmaps.people import accounts, invitations, password_links, reservations
from heatmaps.people.permissions import may_create_datasets, note_reads
from heatmaps.people.refusals import MemberError
from heatmaps.people.reservations import Ending
from heatmaps.views.account.confirming import confirmed
from heatmaps.views.pages import page_of
from heatmaps.views.people.forms import InstallationInvitationForm
from heatmaps.views.people.invitations import new_link
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.ending import ending_words

FORM_METHODS = ["GET", "HEAD", "POST"]
PASSWORD_LINK_HOURS: Final = settings.PASSWORD_RESET_TIMEOUT // 3600
View = Callable[..., HttpResponseBase]


def for_administrators(view: View) -> View:
    @wraps(view)
    def wrapper(request: PersonRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        accounts.require_administrator(request.user)
        return view(request, *arguments, **named)

    return wrapper


@require_safe
@for_administrators
def listed(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "accounts",
        "accounts": page_of(request, accounts.accounts(), "page", size=50),
        "invitations": invitations.open_invitations(None),
        "form": InstallationInvitationForm(),
        "sign_up": accounts.sign_up_by_invitation(),
        "days": invitations.INVITATION_DAYS,
        "second_factor": accounts.second_factor_required(),
    }
    return render(request, "people/accounts.html", context)


@require_POST
@never_cache
@for_administrators
def invite(request: PersonRequest) -> HttpResponse:
    link = invitations.invite_to_installation(
        request.user, may_create_datasets="may_create_datasets" in request.POST
    )
    return new_link(request, link, section="accounts", back=reverse("accounts"))


@require_POST
@for_administrators
def revoke_invitation(request: PersonRequest, invitation_id: UUID) -> HttpResponse:
    invitations.revoke(request.user, None, invitation_id)
    messages.success(request, "The invitation is withdrawn: its link no longer works.")
    return redirect("accounts")


@require_POST
@for_administrators
def sign_up_rule(request: PersonRequest) -> HttpResponse:
    allowed = request.POST.get("allowed") == "yes"
    accounts.allow_sign_up(request.user, allowed=allowed)
    now = "may" if allowed else "may not"
    messages.success(request, f"Invitations of stewards {now} be used to make an account from now on.")
    return redirect("accounts")


@require_safe
@for_administrators
def account(request: PersonRequest, account_id: int) -> HttpResponse:
    return _page(request, accounts.account_for(request.user, account_id))


@require_http_methods(FORM_METHODS)
@for_administrators
@confirmed
def second_factor_rule(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":  # back from entering the password
        return redirect("accounts")
    required = request.POST.get("required") == "yes"
    revoke_tokens = required and "revoke_tokens" in request.POST
    accounts.require_second_factor(request.user, required, revoke_tokens=revoke_tokens)
    now = "Everyone needs" if required else "Nobody needs"
    gone = " API tokens that were made without one are revoked." if revoke_tokens else ""
    messages.success(request, f"{now} a second factor from now on.{gone}")
    return redirect("accounts")


@require_http_methods(FORM_METHODS)
@never_cache
@for_administrators
@confirmed
def reset_password(request: PersonRequest, account_id: int) -> HttpResponse:
    """Makes the link by which a person chooses a new password; it is in this answer alone. GET asks once
    more."""
    person = accounts.account_for(request.user, account_id)
    context: dict[str, object] = {"section": "accounts", "person": person, "act": "password"}
    if request.method != "POST":
        return render(request, "people/account_change.html", context)
    try:
        secret = password_links.make(request.user, person)
    except MemberError as refusal:
        return _page(request, person, refusal=refusal, status=409)
    page = reverse("account_reset_password_from_key", args=[secret])
    context |= {"url": request.build_absolute_uri(page), "hours": PASSWORD_LINK_HOURS}
    return render(request, "people/new_password_link.html", context)


_CLOSE: Final = "close"
Change = Callable[[User, User], Ending | None]
CHANGES: Final[Mapping[str, tuple[Change, str]]] = {
    _CLOSE: (accounts.close, "The account is closed: nobody signs in with it, and its tokens are gone."),
    "open": (accounts.reopen, "The account is open again."),
    "allow-datasets": (
        partial(accounts.allow_datasets, allowed=True),
        "This person may make datasets from now on.",
    ),
    "forbid-datasets": (
        partial(accounts.allow_datasets, allowed=False),
        "This person may not make datasets from now on; those that are there stay.",
    ),
    "remove-factor": (
        accounts.remove_second_factor,
        "The second factor is removed: the password alone lets this person in.",
    ),
    "make-administrator": (
        partial(accounts.set_administrator, is_administrator=True),
        "This person is an administrator now.",
    ),
    "unmake-administrator": (
        partial(accounts.set_administrator, is_administrator=False),
        "This person is no longer an administrator.",
    ),
}


_ENDS_SESSIONS: Final = (_CLOSE, "remove-factor")
_ENDS_RIGHTS: Final = (_CLOSE, "remove-factor", "unmake-administrator")


@require_http_methods(FORM_METHODS)
@for_administrators
@confirmed
def change(request: PersonRequest, account_id: int, act: str) -> HttpResponse:
    """Changes an account. GET asks once more. `act` is one of `CHANGES`, as its address says."""
    person = accounts.account_for(request.user, account_id)
    context = {"section": "accounts", "person": person, "act": act}
    if request.method != "POST":
        return render(request, "people/account_change.html", context | _queued(request, person, act))
    carry_out, done = CHANGES[act]
    if act == _CLOSE:
        carry_out = partial(accounts.close, keep_queued="keep_queued" in request.POST)
    try:
        ending = carry_out(request.user, person)
    except MemberError as refusal:
        return _page(request, person, refusal=refusal, status=409)
    if person == request.user and act in _ENDS_SESSIONS:
        logout(request)  # the row of this one is gone already
    messages.success(request, done if ending is None else f"{done} {ending_words(ending)}".rstrip())
    own_rights_gone = person == request.user and act in _ENDS_RIGHTS
    return redirect("datasets") if own_rights_gone else redirect("account-of", account_id=account_id)


def _queued(request: PersonRequest, person: User, act: str) -> dict[str, object]:
    """Counts what closing an account would cancel, and notes the look for the datasets' stewards."""
    if act != _CLOSE:
        return {}
    releases = reservations.queued_by(person)
    note_reads(request.user, releases.values_list("dataset", flat=True))
    return {"queued": reservations.foreseen(releases)}


def _page(
    request: PersonRequest, person: User, *, refusal: MemberError | None = None, status: int = 200
) -> HttpResponse:
    memberships = (
        Membership.objects.filter(user=person)
        .select_related("dataset")
        .order_by("dataset__title", "dataset__slug")
    )
    note_reads(request.user, [row.dataset_id for row in memberships])
    context = {
        "section": "accounts",
        "person": person,
        "refusal": refusal,
        "may_create": may_create_datasets(person),
        "hours": PASSWORD_LINK_HOURS,
        "has_second_factor": accounts.has_second_factor(person),
        "without_password": accounts.signs_in_without_password(person),
        "memberships": memberships,
    }
    return render(request, "people/account_of.html", context, status=status)
