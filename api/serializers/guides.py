"""Guides: public maps from which others begin."""

from typing import Any, Final

from rest_framework import serializers

from api.serializers.fields import Exact, Strict, Text
from api.serializers.guarantees import GuaranteeOut

KINDS: Final = ["release", "file"]


class GuideOut(serializers.Serializer[Any]):
    """A public map that a release may begin from, or began from."""

    id = serializers.UUIDField(help_text="What a question names.")
    kind = serializers.ChoiceField(choices=KINDS)
    title = serializers.CharField()
    epsilon = Exact(allow_null=True, help_text="Of a release: what was paid for it, exact; null: a file.")
    source = serializers.CharField(  # type: ignore[assignment]  # the framework takes fields of this name
        allow_blank=True, help_text="Of a file: where it was taken from, as it is cited; empty: a release."
    )
    sha256 = serializers.CharField(help_text="Of what is used of it: 64 × 64 shares of people.")


class GuideFileIn(Strict):
    """A form."""

    file = serializers.FileField(help_text="A GeoTIFF whose pixels hold numbers of people.")
    title = Text(help_text="What people call it.")
    source = Text(  # type: ignore[assignment]  # as above
        help_text="Where it was taken from, as it is cited."
    )
    licence = Text(required=False, allow_blank=True, help_text="Its licence.")


class GuideFileOut(GuideOut):
    """A guide file as it was stored."""

    licence = serializers.CharField(allow_blank=True)
    file_sha256 = serializers.CharField(help_text="Of the file that was sent; the ledger has it, too.")
    stored_at = serializers.DateTimeField()
    unchecked = serializers.CharField(help_text="What nobody can check about it; on every release sheet.")
    guarantee = GuaranteeOut(
        allow_null=True,
        help_text="Of a map that Hazemap made, by the release sheet in its tags: counted in what maps that "
        "start from it promise. null: any other file.",
    )
