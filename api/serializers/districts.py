"""District files, and people in districts."""

from typing import Any

from rest_framework import serializers

from api.serializers.fields import Strict, Text


class DistrictFileChangeIn(Strict):
    """What is said of a file; what is not named stays."""

    title = Text(required=False)
    source = Text(  # type: ignore[assignment]  # the framework takes fields of this name
        required=False, help_text="Where it was taken from, as it is cited."
    )
    licence = Text(required=False, allow_blank=True)


class DistrictFileOut(serializers.Serializer[Any]):
    """A district file; public, for whoever sees a map of its dataset."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    source = serializers.CharField(  # type: ignore[assignment]  # as above
        help_text="Where it was taken from, as it is cited."
    )
    licence = serializers.CharField(allow_blank=True)
    name_property = serializers.CharField(
        allow_blank=True, help_text="Which property of the file had the names; empty: name, title or label."
    )
    areas = serializers.IntegerField(help_text="Districts in it.")
    corners = serializers.IntegerField(help_text="In all.")
    sha256 = serializers.CharField(help_text="Of what is stored: another file has another one.")
    stored_at = serializers.DateTimeField()
    links = serializers.DictField(child=serializers.URLField())


class AreaOut(serializers.Serializer[Any]):
    """People in one area. What a border cuts counts by the part inside, and adds to the error."""

    area = serializers.CharField(source="name")
    people = serializers.FloatField(source="value")
    standard_error = serializers.FloatField(
        source="error", help_text="Twice this to either side holds the truth 19 times in 20."
    )
    share = serializers.FloatField(help_text="Of everyone on the map, 0 to 1.")
    covered = serializers.FloatField(help_text="The part of the area that the map covers, 0 to 1.")


class AreasOut(serializers.Serializer[Any]):
    """Areas on the map, in the file's order."""

    areas = AreaOut(many=True, source="rows")
    is_bound = serializers.BooleanField(
        help_text="The errors are bounds: twice one holds the truth more often than 19 times in 20."
    )
    outside = serializers.IntegerField(help_text="Areas left out because they do not lie on the map.")
