"""Collections and their rounds."""

from typing import Any, Final

from rest_framework import serializers

from api.serializers.fields import Choice, Decimal, Exact, Flag, Strict, Text, Whole
from api.serializers.releases import ParameterField
from heatmaps.collections.round_draws import MOST_REPORTS_PER_PERSON
from heatmaps.collections.rounds import RoundState
from mechanisms.devices import catalogue
from mechanisms.guarantee import Trust

MECHANISMS: Final = [entry.name for entry in catalogue.entries()]
ROUND_STATES: Final = [state.value for state in RoundState]
_OPERATORS = "If both operators are the same, what is left without a shuffler is all that is promised."


class CollectionIn(Strict):
    """The dataset is filled by people's devices; `replace` only."""

    question = Text(max_length=300, help_text="What people are asked.")
    analyser_operator = Text(max_length=120, help_text="Who runs this server.")
    shuffler_operator = Text(max_length=120, help_text=f"Who runs the shuffler. {_OPERATORS}")
    analyser_url = Text(max_length=200, help_text="This server's origin, as devices ask it.")
    shuffler_url = Text(max_length=200, help_text="The shuffler's origin.")
    open_link = Flag(
        required=False, help_text="Anybody may send by one link; the promise is for each report only."
    )


class CollectionOut(serializers.Serializer[Any]):
    question = serializers.CharField()
    analyser_operator = serializers.CharField()
    shuffler_operator = serializers.CharField()
    analyser_url = serializers.CharField()
    shuffler_url = serializers.CharField()
    open_link = serializers.BooleanField()


class ShufflerTokenOut(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Shown once; the one before works no longer.")


class DeviceMechanismOut(serializers.Serializer[Any]):
    """What devices may do with a place before it leaves."""

    name = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    trust = serializers.ChoiceField(choices=[Trust.LOCAL.value, Trust.SHUFFLE.value])
    kind = serializers.ChoiceField(choices=["heatmap", "centroid"])
    highest_resolution = serializers.IntegerField(help_text="Cells a side; 0: no cells.")
    usual_resolution = serializers.IntegerField(help_text="Cells a side; 0: no cells.")
    needs_delta = serializers.BooleanField()
    usual_delta = serializers.CharField(allow_blank=True, help_text="Exact decimal; empty: it needs none.")
    open_groups = serializers.BooleanField(help_text="May be used with an open link.")


class RoundQuestionIn(Strict):
    """A round as it is planned."""

    mechanism = Choice(choices=MECHANISMS)
    epsilon = Decimal(help_text="Of one report, at the dataset's radius.")
    delta = Decimal(required=False, allow_null=True, help_text="Of one report, where one is needed.")
    resolution = Whole(
        required=False,
        allow_null=True,
        min_value=2,
        max_value=max(entry.highest_resolution for entry in catalogue.entries()),
        help_text="Cells along each side of the region, a power of two; left out: the mechanism's usual one.",
    )
    parameters = serializers.DictField(
        child=ParameterField(), required=False, help_text="The mechanism's own; left out: its defaults."
    )
    reports_per_person = Whole(
        required=False, min_value=1, max_value=MOST_REPORTS_PER_PERSON, help_text="Left out: 1."
    )
    least_honest = Whole(
        min_value=2,
        max_value=10**6,
        help_text="n_min: so many honest reports there will be at least. Nobody can check it.",
    )
    dishonest_share = Decimal(required=False, help_text="f: of the reports, allowed for.")


class RoundIn(RoundQuestionIn):
    """A round and its moments."""

    opens_at = serializers.DateTimeField(help_text="From then on reports come in and the charge stays.")
    closes_at = serializers.DateTimeField(help_text="When the last one may.")


class RoundChargeOut(serializers.Serializer[Any]):
    account = serializers.CharField()
    amount = serializers.CharField(allow_null=True, help_text="Exact decimal; null: no bound.")


class RoundQuoteOut(serializers.Serializer[Any]):
    """What a round would be and cost."""

    guarantee = serializers.DictField(help_text="Of a person's reports of the round.")
    guarantee_of_a_report = serializers.DictField()
    statements = serializers.ListField(child=serializers.CharField())
    charges = RoundChargeOut(many=True)
    expected_error = serializers.DictField(help_text="With the fewest reports that are published.")
    least_reports = serializers.IntegerField()
    most_reports = serializers.IntegerField()
    messages = serializers.IntegerField(help_text="That a device sends for each report.")
    packet_bytes = serializers.IntegerField(help_text="That a device sends for each report.")
    dishonest = serializers.CharField(help_text="How far the allowed share of dishonest reports can move it.")


class RoundOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=ROUND_STATES)
    mechanism = serializers.CharField()
    epsilon = Exact()
    delta = Exact()
    resolution = serializers.IntegerField(allow_null=True)
    reports_per_person = serializers.IntegerField()
    least_honest = serializers.IntegerField()
    dishonest_share = Exact()
    least_reports = serializers.IntegerField()
    opens_at = serializers.DateTimeField()
    closes_at = serializers.DateTimeField()
    invitations = serializers.IntegerField(allow_null=True, help_text="null: no shuffler has taken part yet.")
    reports = serializers.IntegerField(allow_null=True, help_text="That took part; public.")
    facts_sha256 = serializers.CharField(allow_blank=True)
    facts = serializers.CharField(
        allow_blank=True, help_text="The text that devices compare; empty: not fixed yet."
    )
    links = serializers.DictField(child=serializers.URLField())


class ShufflerPartIn(Strict):
    """What the shuffler adds to a round."""

    key = Text(max_length=43, min_length=43, help_text="X25519, 32 bytes in base64url without padding.")
    invitations = Whole(min_value=1, max_value=10**9)
    invitations_sha256 = Text(max_length=64, min_length=64)


class FactsOut(serializers.Serializer[Any]):
    facts = serializers.CharField()


class PlannedRoundOut(serializers.Serializer[Any]):
    """What a shuffler has to know of a round."""

    round = serializers.UUIDField()
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=ROUND_STATES)
    opens_at = serializers.IntegerField(help_text="Seconds since 1970.")
    closes_at = serializers.IntegerField(help_text="Seconds since 1970.")
    reports_per_person = serializers.IntegerField()
    most_invitations = serializers.IntegerField()
    open_link = serializers.BooleanField()
    least_reports = serializers.IntegerField()
    messages = serializers.IntegerField()
    message_bytes = serializers.IntegerField()
    facts_sha256 = serializers.CharField(allow_blank=True)


class PlannedRoundsOut(serializers.Serializer[Any]):
    results = PlannedRoundOut(many=True)


class BatchOut(serializers.Serializer[Any]):
    batch = serializers.CharField(help_text="SHA-256 of what was handed over.")
