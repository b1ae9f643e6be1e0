"""Problem details (RFC 9457), as `api.errors` writes them."""

from typing import Any

from rest_framework import serializers


class FieldErrorOut(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="The field's path, joined by dots; empty: the body.")
    detail = serializers.CharField()


class ProblemOut(serializers.Serializer[Any]):
    """A refusal."""

    type = serializers.CharField(help_text="Always `about:blank`; `code` tells refusals apart.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="Stable name of the refusal, such as `budget_exceeded`.")
    detail = serializers.CharField(help_text="One sentence for people.")
    errors = FieldErrorOut(  # type: ignore[assignment]  # the stubs know an attribute of this name
        many=True, required=False, help_text="Which fields were refused, and why."
    )
    account = serializers.CharField(
        required=False, help_text="`budget_exceeded`, `allowance_exceeded`: the account that is short."
    )
    requested = serializers.CharField(required=False, help_text="Exact decimal.")
    available = serializers.CharField(required=False, help_text="Exact decimal.")
    reserved = serializers.CharField(required=False, help_text="Exact decimal, held by queued releases.")
    largest_epsilon = serializers.CharField(
        required=False,
        help_text="Of a release that costs too much: the largest ε at which the same question would fit now; "
        "absent where none would.",
    )
