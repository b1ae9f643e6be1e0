"""Collections: datasets that people's devices fill in rounds, and these rounds."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q

from heatmaps.models.dataset import Dataset
from heatmaps.models.fraction_field import FractionField
from heatmaps.models.release import Release


class Collection(models.Model):
    """Holds public facts of a collection, fixed when it is made; `heatmaps.collections` writes it."""

    dataset = models.OneToOneField(Dataset, models.PROTECT, primary_key=True, related_name="collection")
    question = models.CharField(max_length=300)  # what people are asked
    analyser_operator = models.CharField(max_length=120)
    analyser_url = models.CharField(max_length=200)  # origins, as devices ask them
    shuffler_operator = models.CharField(max_length=120)
    shuffler_url = models.CharField(max_length=200)
    open_link = models.BooleanField(default=False)  # anybody may send: a promise for each report only
    # What the shuffler shows to be the shuffler; the token itself is shown once.
    token_sha256 = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return f"collection of {self.dataset_id}"

    @property
    def has_two_operators(self) -> bool:
        """Tells whether shuffler and analyser are declared as different operators."""
        return self.analyser_operator.casefold() != self.shuffler_operator.casefold()


class Round(models.Model):
    """Holds one round: its release, what was planned, what the shuffler added, and the batch it led to."""

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="round")
    reports_per_person = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    least_honest = models.PositiveIntegerField(validators=[MinValueValidator(2)])  # n_min
    dishonest_share = FractionField(max_length=80)  # f
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    messages = models.PositiveIntegerField()  # that a device sends for each report
    message_bytes = models.PositiveSmallIntegerField()  # of one, before it is sealed
    analyser_key = models.CharField(max_length=43)  # public; base64url
    page_sha384 = models.CharField(max_length=64, blank=True, default="")
    # Fixed once the shuffler has told its part: the text that both roles serve, and its SHA-256.
    shuffler_key = models.CharField(max_length=43, blank=True, default="")
    invitations = models.PositiveIntegerField(null=True)
    invitations_sha256 = models.CharField(max_length=64, blank=True, default="")
    facts = models.TextField(blank=True, default="")
    facts_sha256 = models.CharField(max_length=64, blank=True, default="")
    # What was handed over: SHA-256 of all messages, and how many reports they are of; public.
    batch_sha256 = models.CharField(max_length=64, blank=True, default="")
    reports = models.PositiveIntegerField(null=True)
    received_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="round_opens_before_it_closes", condition=Q(opens_at__lt=F("closes_at"))
            ),
            models.CheckConstraint(
                name="round_facts_are_whole",
                condition=Q(facts="", facts_sha256="", shuffler_key="", invitations=None)
                | ~Q(facts="") & ~Q(facts_sha256="") & ~Q(shuffler_key="") & Q(invitations__isnull=False),
            ),
            models.CheckConstraint(
                name="round_batch_has_its_facts", condition=Q(reports=None) | ~Q(facts="")
            ),
        ]

    def __str__(self) -> str:
        return f"round of release {self.release_id}"

    @property
    def number(self) -> int:
        """Returns its number from 1, in the collection: that of its data version."""
        return self.release.version.number
