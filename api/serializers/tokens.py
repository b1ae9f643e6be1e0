"""Tokens."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Choice, Strict, Text, Whole
from heatmaps.models import Scope

MOST_DAYS = 3650


class TokenIn(Strict):
    """Who asks, and what the token is for."""

    username = Text(max_length=150)
    password = Text(max_length=1000)
    name = Text(max_length=80, help_text="For people: where the token is used.")
    scopes = serializers.ListField(
        child=Choice(choices=Scope.choices),
        min_length=1,
        max_length=len(Scope),
        help_text="`read` sees releases and budgets, `release` asks for releases, `steward` acts as one.",
    )
    days = Whole(
        min_value=1,
        max_value=MOST_DAYS,
        required=False,
        help_text="Valid for this many days; left out: until it is deleted.",
    )


class TokenOut(serializers.Serializer[Any]):
    """A token without its secret."""

    id = serializers.CharField(source="token_key")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    created = serializers.DateTimeField()
    expiry = serializers.DateTimeField(allow_null=True)


class NewTokenOut(TokenOut):
    """A token with its secret, which is shown this once and stored nowhere."""

    token = serializers.CharField(help_text="Send it as `Authorization: Bearer …`.")
