"""Uploads; answers hold private data, for stewards only."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import FiniteNumber, Strict, Text
from heatmaps.ingest.receiving import MOST_FILES
from heatmaps.masses.column_copies import CopyState
from heatmaps.models import OPT_OUT_STATES, UploadState


class CheckinIn(Strict):
    """Who was where, and when."""

    user = Text(max_length=1000)
    lat = FiniteNumber(min_value=-90, max_value=90, help_text="Degrees.")
    lon = FiniteNumber(min_value=-180, max_value=180, help_text="Degrees.")
    time = Text(
        max_length=40,
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="ISO 8601; without an offset in UTC.",
    )


def checkins_in(rows: Any = serializers.empty) -> serializers.ListSerializer[Any]:
    """Reads a list of check-ins."""
    return serializers.ListSerializer(data=rows, child=CheckinIn())


class FileIn(Strict):
    """A form with one file, or with several that become available together: one part `file` for each."""

    file = serializers.ListField(child=serializers.FileField(), min_length=1, max_length=MOST_FILES)


class UploadOut(serializers.Serializer[Any]):
    """Show an upload's progress and what became of its rows."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=UploadState.values)
    file_name = serializers.CharField()
    size_bytes = serializers.IntegerField()
    bytes_read = serializers.IntegerField()
    rows_accepted = serializers.IntegerField()
    rows_rejected = serializers.IntegerField()
    rows_outside = serializers.IntegerField()
    rows_expired = serializers.IntegerField(
        help_text="Its rows that were deleted later because of the dataset's retention."
    )
    names_alike = serializers.IntegerField(
        help_text="Users whose names differ only by the spelling of a number, such as 007, 7.0 and 7: "
        "they count as different people. Of the first 100,000 names that begin as numbers do."
    )
    failure = serializers.CharField(help_text="Why nothing was stored; empty unless it failed.")
    advance = serializers.BooleanField()
    version = serializers.IntegerField(
        source="version.number", allow_null=True, help_text="The data version that includes it."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    copy = serializers.ChoiceField(
        choices=[state.value for state in CopyState],
        help_text="Of its copy in columns, which releases read sooner than its rows, with the same result: "
        "`none` where there is to be none (on SQLite, and of small uploads), `waiting` until it is `made`, "
        "`given_up` after too many attempts that failed; then `links.copy` asks for more.",
    )
    links = serializers.DictField(child=serializers.URLField())


class RefusedOut(serializers.Serializer[Any]):
    """A file that was not taken."""

    file_name = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()


class UploadsOut(serializers.Serializer[Any]):
    """What became of several files sent together."""

    results = UploadOut(many=True)
    refused = RefusedOut(many=True)


class OptOutIn(Strict):
    """Whom to leave out."""

    user = Text(
        max_length=1000,
        help_text="The name in the files. It is neither stored nor shown again. "
        "A name such as 12.0 is left out as text and as the number 12 of JSON.",
    )


class OptOutOut(serializers.Serializer[Any]):
    """An entry, which names nobody."""

    id = serializers.UUIDField(source="entry")
    state = serializers.ChoiceField(choices=OPT_OUT_STATES)
    since_version = serializers.IntegerField(
        allow_null=True,
        help_text="The first version without this person.",
    )
    until_version = serializers.IntegerField(
        allow_null=True,
        help_text="The first version that counts them again.",
    )
    created_at = serializers.DateTimeField()
