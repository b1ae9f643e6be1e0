"""Shows and changes the members of a dataset and their roles."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from heatmaps.ledger.administrator_reads import reads_of
from heatmaps.models import Dataset, Membership, Role
from heatmaps.people import invitations, members, reservations
from heatmaps.people.permissions import Act, dataset_for, may, require
from heatmaps.people.refusals import MemberError
from heatmaps.people.reservations import Ending
from heatmaps.views.fields import explain
from heatmaps.views.pages import page_of
from heatmaps.views.people.forms import MemberForm, RoleForm
from heatmaps.views.people.invitations import new_link
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted
from heatmaps.wording.ending import ending_words
from heatmaps.wording.events import event_line
from mechanisms.check import ParameterError

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def people(request: PersonRequest, slug: str) -> HttpResponse:
    return _page(request, dataset_for(request.user, slug))


@require_POST
def add(request: PersonRequest, slug: str) -> HttpResponse:
    """Makes somebody who has an account a member at once."""
    dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
    form = MemberForm(request.POST, reasons=_reasons(request, dataset), prefix="add")

    def make() -> None:
        typed = form.cleaned_data
        members.add(request.user, dataset, typed["username"], typed["role"], reason=form.reason_text)

    if submitted(request, form, make):
        messages.success(request, f"{form.cleaned_data['username']} is a member now.")
        return redirect("people", slug=dataset.slug)
    return _page(request, dataset, status=422, add_form=form)


@require_POST
@never_cache
def invite(request: PersonRequest, slug: str) -> HttpResponse:
    """Makes a link, shown in this answer and never again."""
    dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
    form = RoleForm(request.POST, reasons=_reasons(request, dataset), prefix="invite")
    if form.is_valid():
        try:
            link = invitations.invite(
                request.user, dataset, form.cleaned_data["role"], reason=form.reason_text
            )
        except ParameterError as error:
            explain(form, error, {})
        else:
            back = reverse("people", args=[dataset.slug])
            return new_link(request, link, section="datasets", back=back, dataset=dataset)
    return _page(request, dataset, status=422, invite_form=form)


@require_POST
def revoke_invitation(request: PersonRequest, slug: str, invitation_id: UUID) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
    invitations.revoke(request.user, dataset, invitation_id)
    messages.success(request, "The invitation is withdrawn: its link no longer works.")
    return redirect("people", slug=dataset.slug)


@require_http_methods(FORM_METHODS)
def role(request: PersonRequest, slug: str, account_id: int) -> HttpResponse:
    member = members.member_for(request.user, slug, account_id)
    dataset = member.dataset
    require(request.user, dataset, Act.MANAGE_MEMBERS)
    initial = {"role": member.role}
    form = RoleForm(request.POST or None, reasons=_reasons(request, dataset), initial=initial)

    def change() -> None:
        members.change_role(request.user, member, form.cleaned_data["role"], reason=form.reason_text)

    if submitted(request, form, change):
        name, label = member.user.get_username(), Role(form.cleaned_data["role"]).label.lower()
        messages.success(request, f"{name} is {label} now.")
        return redirect("people", slug=dataset.slug)
    context = {"section": "datasets", "dataset": dataset, "member": member, "form": form}
    return render(request, "people/role.html", context, status=422 if form.errors else 200)


@require_http_methods(FORM_METHODS)
def remove(request: PersonRequest, slug: str, account_id: int) -> HttpResponse:
    """Removes a member; GET asks once more. One's own membership may be ended by oneself."""
    member = members.member_for(request.user, slug, account_id)
    own = member.user_id == request.user.pk
    queued = reservations.foreseen(reservations.queued_by(member.user).filter(dataset=member.dataset_id))
    context = {
        "section": "datasets",
        "dataset": member.dataset,
        "member": member,
        "own": own,
        "queued": queued,
    }
    if request.method != "POST":
        return render(request, "people/remove.html", context)
    try:
        ending = members.remove(request.user, member, keep_queued="keep_queued" in request.POST)
    except MemberError as refusal:
        return render(request, "people/remove.html", context | {"refusal": refusal}, status=409)
    if own:
        messages.success(request, f"You are no longer a member of {member.dataset.title}.{_more(ending)}")
        return redirect("datasets")
    messages.success(request, f"{member.user.get_username()} is no longer a member.{_more(ending)}")
    return redirect("people", slug=slug)


def _more(ending: Ending) -> str:
    return f" {ending_words(ending)}".rstrip()


def _page(request: PersonRequest, dataset: Dataset, *, status: int = 200, **forms: Any) -> HttpResponse:
    manages = may(request.user, dataset, Act.MANAGE_MEMBERS)
    sees_data = may(request.user, dataset, Act.SEE_DATA)
    changes = page_of(request, members.changes_of(dataset), "changes")
    context = {
        "section": "datasets",
        "dataset": dataset,
        "members": members.members_of(dataset),
        "own": Membership.objects.filter(dataset=dataset, user=request.user).first(),
        "changes": changes,
        "lines": [event_line(event, exact_time=sees_data) for event in changes],
        "reads": page_of(request, reads_of(dataset), "reads") if sees_data else None,
        "may_manage": manages,
        "days": invitations.INVITATION_DAYS,
    }
    if manages:
        reasons = _reasons(request, dataset)
        context |= {
            "takeover": reasons,
            "invitations": invitations.open_invitations(dataset),
            "add_form": MemberForm(reasons=reasons, prefix="add"),
            "invite_form": RoleForm(reasons=reasons, prefix="invite"),
        } | forms
    return render(request, "people/people.html", context, status=status)


def _reasons(request: PersonRequest, dataset: Dataset) -> bool:
    return members.needs_reason(request.user, dataset, Role.STEWARD)
