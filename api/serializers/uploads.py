"""Uploads. What goes out is data: for stewards only."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Number, Strict, Text
from heatmaps.models import UploadState


class CheckinIn(Strict):
    """Who was where, and when."""

    user = Text(max_length=1000)
    lat = Number(min_value=-90, max_value=90, help_text="Degrees.")
    lon = Number(min_value=-180, max_value=180, help_text="Degrees.")
    time = Text(
        max_length=40,
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="ISO 8601; without an offset in UTC.",
    )


def checkins_in(sent: Any = serializers.empty) -> serializers.ListSerializer[Any]:
    """A list of check-ins."""
    return serializers.ListSerializer(data=sent, child=CheckinIn())


class FileIn(Strict):
    """A form with one file."""

    file = serializers.FileField()


class UploadFacts(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=UploadState.values)
    file_name = serializers.CharField()
    size_bytes = serializers.IntegerField()
    bytes_read = serializers.IntegerField()
    rows_accepted = serializers.IntegerField()
    rows_rejected = serializers.IntegerField()
    rows_outside = serializers.IntegerField()
    failure = serializers.CharField(help_text="Why nothing was stored; empty unless it failed.")
    advance = serializers.BooleanField()
    version = serializers.IntegerField(
        source="version.number", default=None, allow_null=True, help_text="The data version that includes it."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class UploadOut(UploadFacts):
    """How far an upload is, and what became of its rows."""

    links = serializers.DictField(child=serializers.URLField())
