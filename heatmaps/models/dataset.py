"""Keeps a dataset's public facts, its members and its data versions."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from heatmaps import origins
from heatmaps.origins import Origin


class RelationChoice(models.TextChoices):
    """Names the neighbouring relation, chosen for good; values as in `mechanisms.guarantee.Relation`."""

    ADD_REMOVE = "add_remove", "a person is there or not"
    REPLACE = "replace", "a person's record is exchanged for another"


class Role(models.TextChoices):
    """Names what a member of one dataset may do; the rules are in `heatmaps.people.permissions`."""

    STEWARD = "steward", "Steward"
    ANALYST = "analyst", "Analyst"
    AUDITOR = "auditor", "Auditor"


class UserForm(models.TextChoices):
    """Names what is done to the name of a user before it is hashed."""

    AS_SENT = "", "as files have it"
    NFC = "nfc", "in Unicode's normal form C"
    DECIMAL = "decimal", "in Unicode's normal form C, numbers of JSON as exact decimals"


class RowCapacity(models.IntegerChoices):
    """Names how many check-ins a dataset may hold, in size classes: a public fact, fixed at creation."""

    SMALL = 100_000, "up to 100,000"
    MEDIUM = 1_000_000, "up to 1 million"
    LARGE = 10_000_000, "up to 10 million"
    HUGE = 100_000_000, "up to 100 million"


class Dataset(models.Model):
    """Holds public facts, fixed before the first upload; the check-ins themselves hang on its uploads.

    Relation, region, radius and declared persons never change after creation (`docs/explanation/law.md`):
    every charge and every released map was computed from them.
    """

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    west = models.FloatField()
    south = models.FloatField()
    east = models.FloatField()
    north = models.FloatField()
    relation = models.CharField(max_length=16, choices=RelationChoice.choices)
    # REPLACE: everyone enrolled, public. ADD_REMOVE: empty, the number of persons is secret.
    persons = models.PositiveBigIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    # REPLACE: distance of the radius account, in whole metres.
    radius_m = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    # A public guess that steers utility only.
    expected_persons = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    key_fingerprint = models.CharField(max_length=64)
    # How users are told apart, for good: the width of their keyed hashes, and the form of their names.
    person_bits = models.PositiveSmallIntegerField(default=128)
    user_form = models.CharField(max_length=8, choices=UserForm.choices, blank=True, default=UserForm.DECIMAL)
    # When data versions advance by themselves, as `heatmaps.ingest.versions.schedule` writes it; empty: by a
    # steward's act.
    schedule = models.CharField(max_length=40, blank=True, default="")
    next_version_at = models.DateTimeField(null=True, blank=True)
    # Check-ins leave the dataset after so many days (`heatmaps.ingest.versions.retention`); empty: they are
    # kept for ever.
    retention_days = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    # Websites that may show its public maps in a frame, as `heatmaps.people.embedding` writes them.
    embed_origins = models.JSONField(default=list, blank=True)
    # The most check-ins that may be stored: a size class, which decides how long a draw may take unseen.
    row_capacity = models.PositiveBigIntegerField(choices=RowCapacity.choices, default=RowCapacity.HUGE)
    slot_doublings = models.PositiveSmallIntegerField(default=0)  # once for each draw that was late
    # Filled by people's devices in rounds (`heatmaps.collections`), not by uploads.
    is_collection = models.BooleanField(default=False)
    # A source of HAZEMAP_SOURCES, read where it is (`heatmaps.sources`), and its fingerprint; empty: none.
    source = models.CharField(max_length=60, blank=True, default="")
    source_fingerprint = models.CharField(max_length=64, blank=True, default="")
    is_demo = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="datasets")

    # Facts of some datasets alone: in the first event and on the administrator's page where there are any.
    STATED: ClassVar = ("persons", "radius_m")

    @property
    def origin(self) -> Origin:
        """Returns the origin of its check-ins."""
        return origins.of_columns(is_collection=self.is_collection, source=self.source)

    class Meta:
        ordering = ["title", "slug"]
        constraints = [
            models.CheckConstraint(
                name="dataset_relation_has_its_facts",
                condition=Q(relation="add_remove", persons=None, radius_m=None)
                | Q(relation="replace", persons__gte=1, radius_m__gte=1),
            ),
            models.CheckConstraint(
                name="dataset_persons_have_hashes", condition=Q(person_bits__in=[63, 128])
            ),
            models.CheckConstraint(
                name="dataset_region_is_a_box",
                condition=Q(west__lt=models.F("east"), south__lt=models.F("north")),
            ),
            models.CheckConstraint(
                name="dataset_schedule_has_its_moment",
                condition=Q(schedule="", next_version_at=None)
                | (~Q(schedule="") & Q(next_version_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="collection_exchanges_records",
                condition=Q(is_collection=False) | Q(relation="replace"),
            ),
            models.CheckConstraint(
                name="source_has_its_fingerprint",
                condition=Q(source="", source_fingerprint="")
                | (~Q(source="") & ~Q(source_fingerprint="") & Q(is_collection=False)),
            ),
            models.CheckConstraint(
                name="dataset_keeps_for_some_days",
                condition=Q(retention_days=None) | Q(retention_days__gte=1),
            ),
        ]
        # The sweep: versions that are due.
        indexes = [models.Index(fields=["next_version_at"], name="version_due")]

    def __str__(self) -> str:
        return self.slug

    @property
    def public_persons(self) -> int | None:
        """Returns the number of persons anybody may reckon with: declared, or the public guess."""
        return self.persons or self.expected_persons


class Membership(models.Model):
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="memberships")
    # Protected: a membership ends by an act of `heatmaps.people.members`, which writes the event.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "user"], name="one_role_per_member")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.dataset_id}"


class DataVersion(models.Model):
    """Marks a public step: from here on, releases read the uploads that were included up to this number."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    # Nobody, where the schedule made it; then it was due at `due_at`.
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # Check-ins of earlier days (UTC) are not in it, nor, of its uploads, in a later one; empty: no rule.
    kept_from = models.DateField(null=True, blank=True)
    # Of its event's commitment (`heatmaps.ledger.version_commitments`), for stewards only; empty: made before
    # versions had one.
    salt = models.CharField(max_length=32, blank=True, default="", editable=False)
    # Nothing that is older is stored any more; where nothing is to be deleted it says nothing.
    is_cleared = models.BooleanField(default=False)

    class Meta:
        ordering = ["dataset", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="one_version_per_number"),
            models.UniqueConstraint(fields=["dataset", "due_at"], name="one_version_per_due_moment"),
            models.CheckConstraint(
                name="version_by_somebody_or_due",
                condition=Q(created_by__isnull=False, due_at=None) | Q(created_by=None, due_at__isnull=False),
            ),
        ]
        # The sweep: where something may be left to delete.
        indexes = [
            models.Index(
                fields=["dataset"],
                condition=Q(kept_from__isnull=False, is_cleared=False),
                name="version_not_cleared",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset_id} version {self.number}"

    @property
    def since(self) -> datetime:
        """Returns the moment that is shown: the public one, not when a worker came to it."""
        return self.due_at or self.created_at

    @property
    def is_scheduled(self) -> bool:
        return self.due_at is not None
