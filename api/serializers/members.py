"""Members of a dataset and invitations to it."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Choice, Strict, Text
from heatmaps.members import LONGEST_REASON
from heatmaps.models import Role

_REASON = (
    "Why an administrator who is no steward makes somebody a steward: it goes into the ledger and every "
    "member sees it. Not needed from stewards."
)


class RoleIn(Strict):
    """A role."""

    role = Choice(choices=Role.choices)
    reason = Text(max_length=LONGEST_REASON, required=False, allow_blank=True, help_text=_REASON)


class MemberIn(RoleIn):
    """An account of this server, and what it is to be."""

    username = Text(min_length=1, max_length=150)


class MemberOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="user_id", help_text="Of the account; events name it.")
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    open = serializers.BooleanField(source="user.is_active", help_text="False: the account is closed.")


class InvitationOut(serializers.Serializer[Any]):
    """An invitation without its link."""

    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Role.choices)
    made_by = serializers.CharField(source="made_by.username")
    expires_at = serializers.DateTimeField()


class NewInvitationOut(InvitationOut):
    """An invitation with its link, which is shown this once and stored nowhere."""

    url = serializers.URLField(help_text="Works once, for whoever holds it, in a browser.")
