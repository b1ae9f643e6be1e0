"""Guarantees: what is promised, in exact numbers."""

from typing import Any, Final

from rest_framework import serializers

from mechanisms.guarantee import Relation, Trust

TRUSTS: Final = [trust.value for trust in Trust]


class TermOut(serializers.Serializer[Any]):
    """min(cap, alpha_per_m · (d rounded up to a multiple of step_m + offset_m))."""

    cap = serializers.CharField()
    alpha_per_m = serializers.CharField()
    offset_m = serializers.CharField()
    step_m = serializers.CharField()


class GuaranteeOut(serializers.Serializer[Any]):
    """Exact numbers as "p/q" or "inf"; the loss at distance d is the sum of the terms.

    d is in metres on the ground, between records as they are read: `distance` says how.
    """

    relation = serializers.ChoiceField(choices=[relation.value for relation in Relation])
    delta = serializers.CharField()
    trust = serializers.ChoiceField(choices=TRUSTS)
    max_distance_m = serializers.CharField()
    terms = TermOut(many=True)
    simulated = serializers.BooleanField()
    if_shuffler_fails = serializers.DictField(allow_null=True)
