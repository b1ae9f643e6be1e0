"""Manages members of a dataset and invitations to it."""

from typing import Final
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.schema import example, gone, listing, operation
from api.serializers.members import EndingOut, InvitationOut, MemberIn, MemberOut, NewInvitationOut, RoleIn
from api.views.shared import ApiView, body, one_of, person
from heatmaps.models import Scope
from heatmaps.people import invitations, members
from heatmaps.people.permissions import Act, dataset_for

_KEEP_QUEUED: Final = "keep_queued"
_NO, _YES = "false", "true"
_ENDING: Final = OpenApiParameter(
    _KEEP_QUEUED, enum=[_NO, _YES], description="`true`: what the member has queued stays queued."
)


class MembersView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @listing("members_list", MemberOut)
    def get(self, request: Request, slug: str) -> Response:
        """List members, stewards first. All members may read this."""
        rows = members.members_of(dataset_for(request.user, slug))
        return pagination.page(request, rows, MemberOut)

    @operation(
        "members_add",
        MemberOut,
        (404, 409, 422),
        status=201,
        request=MemberIn,
        examples=[example({"username": "ada", "role": "analyst"})],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add a member. The account must exist; for other people see `invitations/`."""
        dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        fields = body(request, MemberIn)
        member = members.add(
            person(request), dataset, fields["username"], fields["role"], reason=fields.get("reason", "")
        )
        return Response(MemberOut(member).data, 201)


class MemberView(ApiView):
    scopes = {"PATCH": Scope.STEWARD, "DELETE": Scope.STEWARD}

    @operation(
        "members_change", MemberOut, (404, 409, 422), request=RoleIn, examples=[example({"role": "auditor"})]
    )
    def patch(self, request: Request, slug: str, account_id: int) -> Response:
        """Change a member's role. The last steward keeps theirs (`last_steward`).

        What the member has queued in this dataset is cancelled when the new role is auditor, unless it has
        begun.
        """
        dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        member = members.member_for(person(request), slug, account_id)
        fields = body(request, RoleIn)
        changed = members.change_role(
            person(request), member, fields["role"], reason=fields.get("reason", "")
        )
        return Response(MemberOut(changed).data)

    @operation("members_remove", EndingOut, (404, 409), parameters=[_ENDING])
    def delete(self, request: Request, slug: str, account_id: int) -> Response:
        """Remove a member. Yourself, or anyone as steward or administrator. The last steward stays. What the
        member has queued in this dataset is cancelled, unless it has begun."""
        member = members.member_for(person(request), slug, account_id)
        keep = one_of(request, _KEEP_QUEUED, [_NO, _YES], default=_NO) == _YES
        return Response(EndingOut(members.remove(person(request), member, keep_queued=keep)).data)


class InvitationsView(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}

    @listing("invitations_list", InvitationOut)
    def get(self, request: Request, slug: str) -> Response:
        """List open invitations. Latest first, without their links."""
        rows = invitations.open_invitations(dataset_for(request.user, slug, Act.MANAGE_MEMBERS))
        return pagination.page(request, rows, InvitationOut)

    @operation(
        "invitations_create",
        NewInvitationOut,
        (404, 422),
        status=201,
        request=RoleIn,
        examples=[example({"role": "analyst"})],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Create an invitation link. It makes one person a member within 7 days; only this answer has it."""
        dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        fields = body(request, RoleIn)
        link = invitations.invite(person(request), dataset, fields["role"], reason=fields.get("reason", ""))
        url = request.build_absolute_uri(reverse("invitation", args=[link.secret]))
        answer = InvitationOut(link.row).data | {"url": url}
        return Response(answer, 201, headers={"Cache-Control": "no-store"})


class InvitationView(ApiView):
    scopes = {"DELETE": Scope.STEWARD}

    @operation("invitations_revoke", gone("Taken back."), (404,))
    def delete(self, request: Request, slug: str, invitation_id: UUID) -> Response:
        """Revoke an invitation. Its link no longer works."""
        dataset = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        invitations.revoke(person(request), dataset, invitation_id)
        return Response(status=204)
