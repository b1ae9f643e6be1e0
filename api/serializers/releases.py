"""Questions, their costs, and releases."""

from itertools import chain
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.budget import ForecastOut
from api.serializers.fields import (
    Amount,
    BoxIn,
    BoxOut,
    Choice,
    Decimal,
    Exact,
    Flag,
    Strict,
    Text,
    Whole,
    whole,
)
from api.serializers.guarantees import TRUSTS, GuaranteeOut
from api.serializers.guides import GuideOut
from heatmaps.data_slice import LONGEST_MOMENT, MOMENT_PATTERN
from heatmaps.models import AccountKind
from heatmaps.models.release import LONGEST_NAME, LONGEST_NOTE
from heatmaps.result_kinds import RESULT_KINDS, ResultKind
from mechanisms.catalogue import registry
from mechanisms.guarantee import Relation

MECHANISMS: Final = [entry.name for entry in registry.entries()]
STATES = ["queued", "published", "cancelled", "no_result"]


@extend_schema_field(
    {
        "anyOf": [
            {"type": "string", "maxLength": 40},
            {"type": "integer"},
            {"type": "object", "description": "GeoJSON; also as a longer string."},
        ]
    }
)
class ParameterField(serializers.Field[Any, Any, Any, Any]):
    """Reads an exact decimal in a string, a whole number, or GeoJSON; what it may be, the mechanism says."""

    def to_internal_value(self, data: Any) -> str | int | dict[str, Any]:
        return data if isinstance(data, str | dict) else whole(data)

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(
    {
        "type": "string",
        "maxLength": LONGEST_MOMENT,
        "pattern": MOMENT_PATTERN,
        "examples": ["2026-03-01", "2026-03-01T18:30:00Z"],
    }
)
class Moment(Text):
    """Reads a date (midnight) or a date and time to the second, in UTC where it names no other offset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_MOMENT, **options)


class DataSliceIn(Strict):
    """A period, a rectangle, or both."""

    since = Moment(
        required=False,
        allow_null=True,
        help_text="Only check-ins from this moment on. Check-ins without a time are in no period. Periods of "
        "one dataset hold the same people: each release is charged in full.",
    )
    until = Moment(required=False, allow_null=True, help_text="Only check-ins before this moment.")
    rectangle = BoxIn(
        required=False,
        allow_null=True,
        help_text="Only this rectangle of the dataset's region: west, south, east, north in degrees, moved "
        "to the nearest of the region's 2^31 grid lines. The map covers it. Rectangles of one dataset hold "
        "the same people: each release is charged in full.",
    )


class QuestionIn(Strict):
    """What is asked for."""

    mechanism = Choice(choices=MECHANISMS)
    epsilon = Decimal(help_text="The cost, exact to the last digit.")
    delta = Decimal(
        required=False,
        allow_null=True,
        help_text="A probability beside ε, for mechanisms that need one; left out: `usual_delta` of the "
        "catalogue. For the others 0 or left out.",
    )
    resolution = Whole(
        min_value=2,
        max_value=max(entry.max_resolution for entry in registry.entries()),
        required=False,
        allow_null=True,
        help_text="For maps: cells along each side of the region, a power of two. Leave out for a "
        "central point and other results without cells.",
    )
    parameters = serializers.DictField(
        child=ParameterField(), required=False, help_text="The mechanism's own; left out: its defaults."
    )
    data_slice = DataSliceIn(
        required=False, allow_null=True, help_text="What the release is about; left out: all of the data."
    )
    guide = Text(
        required=False,
        allow_null=True,
        max_length=40,
        help_text="For `adaptive`: the id of a public map to begin from, of exactly the same region or "
        "rectangle. `guides/` lists those of the whole region.",
    )


class LabelIn(Strict):
    """A name and a note."""

    name = Text(
        required=False,
        allow_blank=True,
        max_length=LONGEST_NAME,
        help_text="What people call it, in one line. For members, until a steward shows it.",
    )
    note = Text(
        required=False,
        allow_blank=True,
        max_length=LONGEST_NOTE,
        help_text="Plain text. For members, until a steward shows it.",
    )


class NamedQuestionIn(QuestionIn, LabelIn):
    """What is asked for, and what its answer is called, where it is a new one."""


class QuotedQuestionIn(QuestionIn):
    """What is asked for, by its ε or by the error that is wished."""

    epsilon = Decimal(required=False, help_text="The cost, exact to the last digit.")
    error_m = Decimal(
        required=False,
        help_text="Instead of `epsilon`: the least ε is quoted at which the upper end of the predicted error "
        "is at most this many metres.",
    )


class DataSliceOut(serializers.Serializer[Any]):
    """What a release is about, in its one spelling."""

    since = serializers.CharField(allow_null=True, help_text="UTC; null: no such bound.")
    until = serializers.CharField(allow_null=True, help_text="UTC; null: no such bound.")
    rectangle = BoxOut(
        allow_null=True,
        help_text="West, south, east, north in degrees; null: all of the dataset's region.",
    )


class ErrorBoundOut(serializers.Serializer[Any]):
    """What is predicted, in the numbers of the kind of result: of a map `emd`, of a central point or of mean
    distances the two distances, of zones the error of a share."""

    quantity = serializers.CharField()
    assumptions = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Returns the fields with the numbers of every kind of result."""
        error_fields = (kind.error_fields.items() for kind in RESULT_KINDS.values())
        numbers = {
            name: serializers.FloatField(required=False, help_text=text)
            for name, text in chain(*error_fields)
        }
        return numbers | super().get_fields()


class ChargeOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values, source="kind")
    amount = Amount(null="no bound")


class ChargeLineOut(ChargeOut):
    limit = Amount(null="no limit")
    available = Amount(null="no limit")
    affordable = serializers.BooleanField()


_TOGETHER: Final = (
    "With all maps of the dataset that it goes back to, and tells of, too; null: it goes back to none."
)
_DISTANCE: Final = (
    "What a distance in the guarantee is between, in words; empty: it promises nothing in metres."
)


class QuoteOut(serializers.Serializer[Any]):
    """The exact cost and the predicted error, from public facts alone."""

    data_slice = DataSliceOut()
    epsilon = Exact(help_text="Of the quoted question, exact.")
    delta = Exact(help_text="Of the quoted question, exact; 0: it holds without exception.")
    guarantee = GuaranteeOut()
    guarantee_together = GuaranteeOut(allow_null=True, help_text=_TOGETHER)
    on_devices = GuaranteeOut(
        allow_null=True,
        help_text="Where shuffling is simulated: of the same protocol on people's own devices, about all "
        "data, with what is left if the shuffler colludes.",
    )
    statements = serializers.ListField(child=serializers.CharField(), help_text="The guarantee in words.")
    distance = serializers.CharField(allow_blank=True, help_text=_DISTANCE)
    accounts = ChargeLineOut(many=True, source="lines")
    expected_error = ErrorBoundOut(allow_null=True)
    guide = GuideOut(allow_null=True)
    expected_error_without_guide = ErrorBoundOut(
        allow_null=True, help_text="Where a guide is named: what the same question would get without it."
    )
    affordable = serializers.BooleanField()
    problem = serializers.CharField(allow_null=True, help_text="Why the release would be refused now.")
    largest_epsilon = Exact(
        allow_null=True,
        help_text="Where it would be refused: the largest ε, a plain decimal, at which the same question "
        "would fit now under limits and your own allowances. null: it fits as it is, or no ε would.",
    )
    same_release = serializers.URLField(
        allow_null=True, help_text="A published answer to the same question: asking for it is free."
    )
    more_like_this = ForecastOut()


class ReleaseLinksOut(serializers.Serializer[Any]):
    self = serializers.URLField()
    dataset = serializers.URLField(required=False, help_text="For members.")
    cancel = serializers.URLField(required=False, help_text="While it is queued.")
    sheet = serializers.URLField(required=False, help_text="Once it is published.")
    thumbnail = serializers.URLField(
        required=False, help_text="Once it is published: a WebP picture of 480 × 300 pixels."
    )
    og_image = serializers.URLField(
        required=False, help_text="Once it is published: a PNG picture of 1200 × 630 pixels, for links."
    )
    districts = serializers.URLField(
        required=False, help_text="Once it is published: district files in which it can be added up."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Returns the fields with the files of every kind of result."""
        return super().get_fields() | {kind.stem: _files(kind) for kind in RESULT_KINDS.values()}


def _files(kind: ResultKind) -> serializers.DictField:
    return serializers.DictField(
        child=serializers.URLField(), required=False, help_text=f"Of {kind.published}: files by suffix."
    )


class ReleaseOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    data_slice = DataSliceOut()
    state = serializers.ChoiceField(choices=STATES, source="public_state")
    title = serializers.CharField(help_text="Its name, or one of public facts.")
    name = serializers.CharField(allow_blank=True, help_text="For members, and for others once it is shown.")
    note = serializers.CharField(allow_blank=True, help_text="As `name`.")
    name_public = serializers.BooleanField(help_text="Whoever may read the release reads name and note.")
    mechanism = serializers.CharField()
    guarantee = GuaranteeOut(help_text="Of this release alone: what is charged.")
    guarantee_together = GuaranteeOut(allow_null=True, help_text=_TOGETHER)
    distance = serializers.CharField(allow_blank=True, help_text=_DISTANCE)
    links = ReleaseLinksOut()
    version = serializers.IntegerField(source="version.number", help_text="The data version it reads.")
    epsilon = Exact(help_text="As asked for, exact.")
    delta = Exact(help_text="As asked for, exact; 0: it holds without exception.")
    resolution = serializers.IntegerField(allow_null=True, help_text="Cells a side; null: no map.")
    parameters = serializers.DictField(child=ParameterField())
    mechanism_version = serializers.IntegerField(help_text="Of the mechanism, as it draws this release.")
    guide = GuideOut(allow_null=True, help_text="The public map that it began from; null: none.")
    charges = ChargeOut(many=True, help_text="For members; empty for others.")
    expected_error = ErrorBoundOut(allow_null=True)
    public = serializers.BooleanField(help_text="Anyone may read it, even without a token.")
    requested_at = serializers.DateTimeField()
    starts_at = serializers.DateTimeField(
        help_text="The release can be cancelled before this moment; from then on it is charged."
    )
    visible_at = serializers.DateTimeField(help_text="When the outcome is shown, whatever happened before.")
    late = serializers.IntegerField(help_text="How many times it missed that moment.")
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="While queued: when it is cancelled if its draw has not begun."
    )


class ReleaseIn(Strict):
    """What may be changed of a release: who may read it, and its name."""

    fewest = 1
    public = Flag(required=False, help_text="true: anyone, even without a token; false: members only.")
    public_name = LabelIn(
        required=False,
        allow_null=True,
        help_text="The name and note of a public release as you read them, to be shown to anyone; null: to "
        "members only.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Asks for at least one of them. Errors: ValidationError."""
        if not attrs:
            raise serializers.ValidationError("expected public, public_name or both")
        return attrs


class ParameterOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    help = serializers.CharField()
    kind = serializers.ChoiceField(choices=["int", "decimal", "zones", "places"])
    default = serializers.CharField(allow_blank=True, help_text="Empty: chosen from public facts.")
    low = serializers.CharField(allow_blank=True)
    high = serializers.CharField(allow_blank=True)
    low_open = serializers.BooleanField()


class MechanismOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(RESULT_KINDS), help_text="What is released.")
    relations = serializers.ListField(
        child=serializers.ChoiceField(choices=[relation.value for relation in Relation])
    )
    trust = serializers.ChoiceField(choices=TRUSTS)
    max_resolution = serializers.IntegerField(help_text="Cells a side; 0: it takes no resolution.")
    usual_delta = serializers.CharField(
        allow_blank=True, help_text="Default δ; empty: the mechanism takes none."
    )
    distance = serializers.CharField(
        allow_blank=True, help_text="What its distances measure, in words; empty: no distances."
    )
    parameters = ParameterOut(many=True)
