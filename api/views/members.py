"""Members of a dataset, and invitations to it."""

from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.schema import PAGING, answers, example, page_of
from api.serializers.members import InvitationOut, MemberIn, MemberOut, NewInvitationOut, RoleIn
from api.views.shared import ApiView, body, person
from heatmaps import invitations, members
from heatmaps.access import Act, dataset_for
from heatmaps.models import Scope

_PAGES = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}


class Members(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    query = _PAGES

    @extend_schema(
        operation_id="members_list", parameters=PAGING, responses=answers(200, page_of(MemberOut), 404)
    )
    def get(self, request: Request, slug: str) -> Response:
        """The members, stewards first. All members may read this."""
        rows = members.members_of(dataset_for(request.user, slug))
        return pagination.page(request, rows, lambda row: MemberOut(row).data)

    @extend_schema(
        operation_id="members_add",
        request=MemberIn,
        examples=[example({"username": "ada", "role": "analyst"}, request_only=True)],
        responses=answers(201, MemberOut, 404, 409, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make an account of this server a member; for others see `invitations/`. An event of the ledger."""
        found = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        asked = body(request, MemberIn)
        made = members.add(
            person(request), found, asked["username"], asked["role"], reason=asked.get("reason", "")
        )
        return Response(MemberOut(made).data, 201)


class Member(ApiView):
    scopes = {"PATCH": Scope.STEWARD, "DELETE": Scope.STEWARD}

    @extend_schema(
        operation_id="members_change",
        request=RoleIn,
        examples=[example({"role": "auditor"}, request_only=True)],
        responses=answers(200, MemberOut, 404, 409, 413, 415, 422),
    )
    def patch(self, request: Request, slug: str, account_id: int) -> Response:
        """Give a member another role. The last steward keeps it (`last_steward`)."""
        dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        found = members.member_for(person(request), slug, account_id)
        asked = body(request, RoleIn)
        now = members.change_role(person(request), found, asked["role"], reason=asked.get("reason", ""))
        return Response(MemberOut(now).data)

    @extend_schema(operation_id="members_remove", responses=answers(204, None, 404, 409, says="Removed."))
    def delete(self, request: Request, slug: str, account_id: int) -> Response:
        """End a membership: stewards and administrators any, everybody the own. Not the last steward's."""
        members.remove(person(request), members.member_for(person(request), slug, account_id))
        return Response(status=204)


class Invitations(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}
    query = _PAGES

    @extend_schema(
        operation_id="invitations_list",
        parameters=PAGING,
        responses=answers(200, page_of(InvitationOut), 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Invitations that may still be used, the latest first; without their links."""
        rows = invitations.open_invitations(dataset_for(request.user, slug, Act.MANAGE_MEMBERS))
        return pagination.page(request, rows, lambda row: InvitationOut(row).data)

    @extend_schema(
        operation_id="invitations_create",
        request=RoleIn,
        examples=[example({"role": "analyst"}, request_only=True)],
        responses=answers(201, NewInvitationOut, 404, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a link by which one person becomes a member within 7 days. It is in this answer only."""
        found = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        asked = body(request, RoleIn)
        made = invitations.invite(person(request), found, asked["role"], reason=asked.get("reason", ""))
        url = request.build_absolute_uri(reverse("invitation", args=[made.secret]))
        answer = InvitationOut(made.row).data | {"url": url}
        return Response(answer, 201, headers={"Cache-Control": "no-store"})


class Invitation(ApiView):
    scopes = {"DELETE": Scope.STEWARD}

    @extend_schema(operation_id="invitations_revoke", responses=answers(204, None, 404, says="Taken back."))
    def delete(self, request: Request, slug: str, invitation_id: UUID) -> Response:
        """Take an invitation back: its link does not work any more."""
        found = dataset_for(request.user, slug, Act.MANAGE_MEMBERS)
        invitations.revoke(person(request), found, invitation_id)
        return Response(status=204)
