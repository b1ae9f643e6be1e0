"""Questions, their costs, and releases."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import Choice, Decimal, Strict, Whole, whole
from heatmaps.models import AccountKind
from mechanisms import catalogue
from mechanisms.guarantee import Relation, Trust

STATES = ["queued", "published", "cancelled", "no_result"]


@extend_schema_field({"anyOf": [{"type": "string", "maxLength": 40}, {"type": "integer"}]})
class ParameterField(serializers.Field[Any, Any, Any, Any]):
    """An exact decimal in a string, or a whole number; what it may be, the mechanism says."""

    def to_internal_value(self, data: Any) -> str | int:
        return data if isinstance(data, str) else whole(data)

    def to_representation(self, value: Any) -> Any:
        return value


class QuestionIn(Strict):
    """What is asked for."""

    mechanism = Choice(choices=[entry.name for entry in catalogue.entries()])
    epsilon = Decimal(help_text="What it may cost, exact to the last digit.")
    resolution = Whole(
        min_value=2,
        max_value=max(entry.max_resolution for entry in catalogue.entries()),
        help_text="Cells along each side of the region, a power of two.",
    )
    parameters = serializers.DictField(
        child=ParameterField(), required=False, help_text="The mechanism's own; left out: its defaults."
    )


class TermOut(serializers.Serializer[Any]):
    """min(cap, alpha_per_m · (d rounded up to a multiple of step_m + offset_m))."""

    cap = serializers.CharField()
    alpha_per_m = serializers.CharField()
    offset_m = serializers.CharField()
    step_m = serializers.CharField()


class GuaranteeOut(serializers.Serializer[Any]):
    """Exact numbers as "p/q" or "inf"; the loss at distance d is the sum of the terms."""

    relation = serializers.ChoiceField(choices=[relation.value for relation in Relation])
    delta = serializers.CharField()
    trust = serializers.ChoiceField(choices=[trust.value for trust in Trust])
    max_distance_m = serializers.CharField()
    terms = TermOut(many=True)
    simulated = serializers.BooleanField()
    if_shuffler_fails = serializers.DictField(allow_null=True)


class ErrorBoundOut(serializers.Serializer[Any]):
    emd = serializers.FloatField()
    quantity = serializers.CharField()
    assumptions = serializers.CharField()


class ChargeOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    amount = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no bound.")


class ChargeLineOut(ChargeOut):
    limit = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    available = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    affordable = serializers.BooleanField()


class QuoteOut(serializers.Serializer[Any]):
    """The exact cost and the predicted error, from public facts alone."""

    guarantee = GuaranteeOut()
    statements = serializers.ListField(child=serializers.CharField(), help_text="The guarantee in words.")
    accounts = ChargeLineOut(many=True)
    expected_error = ErrorBoundOut(allow_null=True)
    affordable = serializers.BooleanField()
    problem = serializers.CharField(allow_null=True, help_text="Why it would be refused now.")
    same_release = serializers.URLField(
        allow_null=True, help_text="A published answer to the same question: asking for it is free."
    )


class ReleaseLinksOut(serializers.Serializer[Any]):
    self = serializers.URLField()
    dataset = serializers.URLField()
    cancel = serializers.URLField(required=False, help_text="While it is queued.")
    sheet = serializers.URLField(required=False, help_text="Once it is published.")
    heatmap = serializers.DictField(
        child=serializers.URLField(), required=False, help_text="Once it is published: files by suffix."
    )


class ReleaseOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=STATES)
    mechanism = serializers.CharField()
    guarantee = GuaranteeOut()
    links = ReleaseLinksOut()
    version = serializers.IntegerField(help_text="The data version it reads.")
    epsilon = serializers.CharField(help_text="As asked for, exact.")
    resolution = serializers.IntegerField()
    parameters = serializers.DictField(child=ParameterField())
    charges = ChargeOut(many=True)
    expected_error = ErrorBoundOut(allow_null=True)
    requested_at = serializers.DateTimeField()


class ParameterOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    help = serializers.CharField()
    kind = serializers.ChoiceField(choices=["int", "decimal"])
    default = serializers.CharField()
    low = serializers.CharField()
    high = serializers.CharField()
    low_open = serializers.BooleanField()


class MechanismOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    kind = serializers.CharField()
    relations = serializers.ListField(
        child=serializers.ChoiceField(choices=[relation.value for relation in Relation])
    )
    trust = serializers.ChoiceField(choices=[trust.value for trust in Trust])
    max_resolution = serializers.IntegerField(help_text="Cells a side.")
    parameters = ParameterOut(many=True)
