"""Questions, their costs, and releases."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.budget import ForecastOut
from api.serializers.fields import Choice, Decimal, Flag, Number, Strict, Text, Whole, whole
from heatmaps.models import AccountKind
from heatmaps.slices import LONGEST_MOMENT, MOMENT_PATTERN
from mechanisms import catalogue
from mechanisms.catalogue import Kind
from mechanisms.guarantee import Relation, Trust

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
    """An exact decimal in a string, a whole number, or GeoJSON; what it may be, the mechanism says."""

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
    """A date (midnight) or a date and time to the second, in UTC where it names no other offset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_MOMENT, **options)


class QuestionIn(Strict):
    """What is asked for."""

    mechanism = Choice(choices=[entry.name for entry in catalogue.entries()])
    epsilon = Decimal(help_text="What it may cost, exact to the last digit.")
    delta = Decimal(
        required=False,
        allow_null=True,
        help_text="A probability beside ε, for mechanisms that need one; left out: `usual_delta` of the "
        "catalogue. For the others 0 or left out.",
    )
    resolution = Whole(
        min_value=2,
        max_value=max(entry.max_resolution for entry in catalogue.entries()),
        required=False,
        allow_null=True,
        help_text="Of a map: cells along each side of the region, a power of two. What has no cells, a "
        "central point, takes none.",
    )
    parameters = serializers.DictField(
        child=ParameterField(), required=False, help_text="The mechanism's own; left out: its defaults."
    )
    since = Moment(
        required=False,
        allow_null=True,
        help_text="Only check-ins from this moment on. Check-ins without a time are in no period. Periods of "
        "one dataset hold the same people: each release is charged in full.",
    )
    until = Moment(required=False, allow_null=True, help_text="Only check-ins before this moment.")
    within = serializers.ListField(
        child=Number(min_value=-180, max_value=180),
        min_length=4,
        max_length=4,
        required=False,
        allow_null=True,
        help_text="Only this rectangle of the dataset's region: west, south, east, north in degrees, moved "
        "to the nearest of the region's 2^31 grid lines. The map covers it. Rectangles of one dataset hold "
        "the same people: each release is charged in full.",
    )


class QuotedQuestionIn(QuestionIn):
    """What is asked for, by its ε or by the error that is wished."""

    epsilon = Decimal(required=False, help_text="What it may cost, exact to the last digit.")
    error_m = Decimal(
        required=False,
        help_text="Instead of `epsilon`: the least ε is quoted at which the upper end of the predicted error "
        "is at most so many metres.",
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


class PartOut(serializers.Serializer[Any]):
    """The part of the data that is asked about, in its one spelling."""

    since = serializers.CharField(allow_null=True, help_text="UTC; null: no such bound.")
    until = serializers.CharField(allow_null=True, help_text="UTC; null: no such bound.")
    within = serializers.ListField(
        child=serializers.FloatField(),
        min_length=4,
        max_length=4,
        allow_null=True,
        help_text="West, south, east, north in degrees; null: all of the dataset's region.",
    )


class ErrorBoundOut(serializers.Serializer[Any]):
    """Of a map `emd`; of a central point or of mean distances the two distances; of zones the error
    of a share."""

    emd = serializers.FloatField(
        required=False, help_text="Earth mover's distance on the unit square, 2 is the largest possible."
    )
    emd_low = serializers.FloatField(
        required=False,
        help_text="Lower end of a forecast whose upper end is `emd`; absent: `emd` is a bound.",
    )
    emd_median = serializers.FloatField(required=False, help_text="Middle of that forecast.")
    expected_m = serializers.FloatField(required=False, help_text="Expected distance in metres.")
    within_m = serializers.FloatField(required=False, help_text="Kept with probability 95 %, in metres.")
    share = serializers.FloatField(required=False, help_text="Standard error of each share, of 1.")
    quantity = serializers.CharField()
    assumptions = serializers.CharField()


class ChargeOut(serializers.Serializer[Any]):
    account = serializers.ChoiceField(choices=AccountKind.values)
    amount = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no bound.")


class ChargeLineOut(ChargeOut):
    limit = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    available = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no limit.")
    affordable = serializers.BooleanField()


class QuoteOut(PartOut):
    """The exact cost and the predicted error, from public facts alone."""

    epsilon = serializers.CharField(help_text="Of the quoted question, exact.")
    delta = serializers.CharField(help_text="Of the quoted question, exact; 0: it holds without exception.")
    guarantee = GuaranteeOut()
    on_devices = GuaranteeOut(
        allow_null=True,
        help_text="Where shuffling is simulated: of the same protocol on people's own devices, about all "
        "data, with what is left if the shuffler colludes.",
    )
    statements = serializers.ListField(child=serializers.CharField(), help_text="The guarantee in words.")
    accounts = ChargeLineOut(many=True)
    expected_error = ErrorBoundOut(allow_null=True)
    affordable = serializers.BooleanField()
    problem = serializers.CharField(allow_null=True, help_text="Why it would be refused now.")
    largest_epsilon = serializers.CharField(
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
    heatmap = serializers.DictField(
        child=serializers.URLField(), required=False, help_text="Of a published map: files by suffix."
    )
    point = serializers.DictField(
        child=serializers.URLField(), required=False, help_text="Of a published point: files by suffix."
    )
    zones = serializers.DictField(
        child=serializers.URLField(), required=False, help_text="Of published shares: files by suffix."
    )
    distances = serializers.DictField(
        child=serializers.URLField(),
        required=False,
        help_text="Of published mean distances: files by suffix.",
    )


class ReleaseOut(PartOut):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=STATES)
    mechanism = serializers.CharField()
    guarantee = GuaranteeOut()
    links = ReleaseLinksOut()
    version = serializers.IntegerField(help_text="The data version it reads.")
    epsilon = serializers.CharField(help_text="As asked for, exact.")
    delta = serializers.CharField(help_text="As asked for, exact; 0: it holds without exception.")
    resolution = serializers.IntegerField(allow_null=True, help_text="Cells a side; null: no map.")
    parameters = serializers.DictField(child=ParameterField())
    charges = ChargeOut(many=True, help_text="For members; empty for others.")
    expected_error = ErrorBoundOut(allow_null=True)
    public = serializers.BooleanField(help_text="Anybody may read it, also without a token.")
    requested_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="While it is queued: cancelled then, if its draw has not begun."
    )


class ReleaseIn(Strict):
    """What may be changed of a release: who may read it."""

    public = Flag(help_text="true: anybody, also without a token; false: members only.")


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
    kind = serializers.ChoiceField(choices=list(get_args(Kind)), help_text="What is released.")
    relations = serializers.ListField(
        child=serializers.ChoiceField(choices=[relation.value for relation in Relation])
    )
    trust = serializers.ChoiceField(choices=[trust.value for trust in Trust])
    max_resolution = serializers.IntegerField(help_text="Cells a side; 0: it takes no resolution.")
    usual_delta = serializers.CharField(
        allow_blank=True, help_text="δ that is taken when none is asked for; empty: it takes none."
    )
    parameters = ParameterOut(many=True)
