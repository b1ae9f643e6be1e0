"""Protection goals, and the loss per metre that grants them."""

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.fields import Decimal, Strict, Text
from heatmaps.releases.epsilon.for_protection import PART_PATTERN
from mechanisms.metric.protection_planner import MOST_WISHES

_LONGEST_PART: Final = 13


@extend_schema_field(
    {"type": "string", "maxLength": _LONGEST_PART, "pattern": PART_PATTERN, "examples": ["1/30"]}
)
class RecordPart(Text):
    """Reads a part of a record, above 0 and at most 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=_LONGEST_PART, **options)


class WishIn(Strict):
    """A change of a record that should stay uncertain."""

    part = RecordPart(help_text="Of a record, such as 1/30 for a day of a month; at most 1.")
    distance_m = Decimal(help_text="How far that part may have been moved, on average, in metres.")
    epsilon = Decimal(help_text="The largest loss between the two records.")


class PlanIn(Strict):
    """All of these should hold."""

    wishes = serializers.ListField(child=WishIn(), min_length=1, max_length=MOST_WISHES)
    radius_m = Decimal(
        required=False, allow_null=True, help_text="A dataset's radius, to get the ε to ask for at it."
    )


class PlanOut(serializers.Serializer[Any]):
    """Rounded down, so that no wish costs more."""

    alpha_per_m = Decimal(
        help_text="The loss may grow by this much per metre of earth mover's distance, "
        "between records as they are read."
    )
    epsilon = Decimal(allow_null=True, help_text="At the radius.")
    sentences = serializers.ListField(child=Text(), help_text="The plan in plain words.")
