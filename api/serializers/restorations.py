"""What a restore brought back with a dataset, and a steward's word about it."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Amount, Flag, Strict, Whole
from api.serializers.members import MemberOut
from heatmaps.models import AccountKind


class RestorationIn(Strict):
    """Who is still a member; every other one is removed, but for yourself."""

    members = serializers.ListField(
        child=Whole(min_value=1), help_text="Ids of accounts, as `members` of the answer names them."
    )
    opt_outs_entered = Flag(
        required=False,
        default=False,
        help_text="All opt-outs are entered again; true where `asks_opt_outs` is.",
    )


class RestoredChargeOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    amount = Amount(null="no bound from then on")


class RestorationOut(serializers.Serializer[Any]):
    """Nothing is known of the time between `known_until` and `resumed_at`."""

    known_until = serializers.DateTimeField()
    resumed_at = serializers.DateTimeField()
    confirmed_at = serializers.DateTimeField(
        allow_null=True, help_text="null: nothing can be asked of the dataset until a steward confirms."
    )
    confirmed_by = serializers.CharField(source="confirmed_by.username", allow_null=True)
    charges = RestoredChargeOut(many=True, help_text="For what may have been released in that time.")
    asks_opt_outs = serializers.BooleanField(
        help_text="Opt-outs of that time are known nowhere: enter them again."
    )
    members = MemberOut(many=True, help_text="Beside yourself.")
