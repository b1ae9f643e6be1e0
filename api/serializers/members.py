"""Members of a dataset and invitations to it."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Choice, Strict, Text
from heatmaps.models import Role
from heatmaps.people.members import LONGEST_REASON

_REASON = (
    "Required from an administrator who makes someone a steward. It goes into the ledger, and every member "
    "sees it."
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


class EndingOut(serializers.Serializer[Any]):
    """Counts what became of a removed member's queued releases in this dataset."""

    cancelled = serializers.IntegerField(help_text="Their charges are given back.")
    kept = serializers.IntegerField(source="retained", help_text="Stay queued, as asked for.")
    begun = serializers.IntegerField(help_text="Their turn had come: they end as usual, and stay charged.")


class InvitationOut(serializers.Serializer[Any]):
    """An invitation without its link."""

    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Role.choices)
    made_by = serializers.CharField(source="made_by.username")
    expires_at = serializers.DateTimeField()


class NewInvitationOut(InvitationOut):
    """An invitation with its link, which is shown this once and stored nowhere."""

    url = serializers.URLField(help_text="Works once, in a browser, for anyone who has it.")


class AdministratorReadOut(serializers.Serializer[Any]):
    """A row of a hash chain: who opened which page or address, by the name of its pattern."""

    sequence = serializers.IntegerField()
    at = serializers.DateTimeField(help_text="UTC.")
    administrator = serializers.CharField(source="reader.username")
    page = serializers.CharField(help_text="`command`: not over HTTP.")
    hash = serializers.CharField(
        help_text="SHA-256 over this row and the hash of the one before it: keep the last one elsewhere, and "
        "it proves later that no earlier row was changed or removed."
    )
