"""Events of a ledger, as its page shows them."""

from typing import Any

from rest_framework import serializers


class FactOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    before = serializers.CharField(help_text="Empty: nothing before.")
    after = serializers.CharField()


class EventOut(serializers.Serializer[Any]):
    sequence = serializers.IntegerField()
    at = serializers.CharField(
        help_text="UTC, to the minute; for stewards to the second. Empty for others: when a draw began."
    )
    actor = serializers.CharField()
    kind = serializers.CharField()
    title = serializers.CharField()
    release = serializers.CharField(help_text="Empty: about no release.")
    facts = FactOut(many=True)
    hash = serializers.CharField(
        help_text="SHA-256 over this event, a secret salt and the hash of the one before it: keep the last "
        "one elsewhere, and it proves later that no earlier event was rewritten. Empty for others than "
        "stewards where an old event has no salt."
    )
