"""Tables in an owner's lake; which there are is for those who make datasets."""

from typing import Any, Final, get_args

from rest_framework import serializers

from heatmaps.models import SurveyState
from heatmaps.sources.sources_file import TableKind

INVALID: Final = "Rows of the table that no release reads, by the first reason."


class SourceOut(serializers.Serializer[Any]):
    """A table that the administrator's file names."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=get_args(TableKind))
    has_times = serializers.BooleanField(help_text="Without, there are no periods and no retention.")


class SurveyOut(serializers.Serializer[Any]):
    """The next data version on its way: a worker looks at the tables."""

    state = serializers.ChoiceField(choices=SurveyState.values)
    appears_at = serializers.DateTimeField(
        allow_null=True, help_text="When its version appears, at the earliest; null: it failed."
    )
    failure = serializers.CharField(allow_blank=True, help_text="What to change, where it failed.")


class InvalidOut(serializers.Serializer[Any]):
    """Rows that are no check-ins."""

    no_lon = serializers.IntegerField()
    no_lat = serializers.IntegerField()
    no_time = serializers.IntegerField()
    no_user = serializers.IntegerField()
