"""Releases, what they cost and what came out."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from heatmaps.models.dataset import Dataset, DataVersion
from heatmaps.models.fraction_field import FractionField
from heatmaps.models.guide_file import GuideFile
from heatmaps.models.ledger import Account

LONGEST_NAME = 80  # characters
LONGEST_NOTE = 1000
# The readers of a release are what its latest event says; the column says since when.
IS_PUBLIC = Q(state="published", public_since__isnull=False, publication__is_public=True)


class ReleaseState(models.TextChoices):
    """Names states: `RESERVED -> SPENT -> PUBLISHED | FAILED` and `RESERVED -> CANCELLED`; nothing else."""

    RESERVED = "reserved", "queued"
    SPENT = "spent", "queued"
    PUBLISHED = "published", "published"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "no_result"


class Release(models.Model):
    """Holds a question and its state. The label of a state is what people outside the ledger see."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="releases")
    version = models.ForeignKey(DataVersion, models.PROTECT, related_name="releases")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    state = models.CharField(max_length=16, choices=ReleaseState.choices, default=ReleaseState.RESERVED)
    mechanism = models.CharField(max_length=40)
    epsilon = FractionField(max_length=80)
    delta = FractionField(max_length=80, default="0/1")  # 0: it holds without exception
    # Cells a side; empty: what is released has no resolution.
    resolution = models.PositiveIntegerField(null=True, blank=True)
    parameters = models.JSONField(default=dict)  # the mechanism's own public parameters
    mechanism_version = models.PositiveSmallIntegerField(default=1)  # what draws it, and tells of it
    # The public map that its mechanism begins from: a release, a file, or none; and the SHA-256 of the
    # `mechanisms.guide.Guide` that was made from it.
    guide_release = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="guided_releases"
    )
    guide_file = models.ForeignKey(
        GuideFile, models.PROTECT, null=True, blank=True, related_name="guided_releases"
    )
    guide_sha256 = models.CharField(max_length=64, blank=True, default="")
    # The data slice, as `heatmaps.data_slice` reads it; empty: all of the data.
    since = models.BigIntegerField(null=True, blank=True)  # epoch seconds, inclusive
    until = models.BigIntegerField(null=True, blank=True)  # epoch seconds, exclusive
    rectangle = models.JSONField(null=True, blank=True)  # west, south, east, north: finest grid lines
    # The part of the world that follows from it, as `heatmaps.regions.text_of` writes it: to be found by.
    covered = models.CharField(max_length=100, blank=True, default="")
    guarantee = models.JSONField()
    expected_error = models.JSONField(null=True)
    # SHA-256 of the canonical question, the data version included: equal questions have equal answers.
    question = models.CharField(max_length=64)
    requested_at = models.DateTimeField(auto_now_add=True)
    # RESERVED: cancelled after this moment, should nothing have begun it.
    expires_at = models.DateTimeField()
    # Public moments, from public facts (`heatmaps.ledger.transitions.slots`): nothing is spent before the
    # first, nobody but the ledger knows of an outcome before the second.
    starts_at = models.DateTimeField(default=timezone.now)
    visible_at = models.DateTimeField(default=timezone.now)
    late = models.PositiveSmallIntegerField(default=0)  # how many times it missed `visible_at`
    finished_at = models.DateTimeField(null=True, blank=True)
    # Shown to everybody since then; `heatmaps.releases.publication` alone writes it. Shows nothing by itself.
    public_since = models.DateTimeField(null=True, blank=True)
    # What people call it: no part of the question, of its hash or of the ledger. For members of the dataset,
    # and for others only where a steward said so (`heatmaps.releases.names` alone writes it).
    name = models.CharField(max_length=LONGEST_NAME, blank=True, default="")
    note = models.CharField(max_length=LONGEST_NOTE, blank=True, default="")
    is_name_public = models.BooleanField(default=False)

    class Meta:
        ordering = ["-requested_at"]
        indexes = [
            # The clock: what is due, and the queue of a dataset.
            models.Index(fields=["state", "visible_at"], name="release_due"),
            models.Index(
                fields=["dataset", "starts_at"],
                condition=Q(state__in=["reserved", "spent"]),
                name="release_queue",
            ),
            # Questions of a day.
            models.Index(fields=["dataset", "requested_at"], name="release_of_dataset_by_day"),
            models.Index(fields=["requested_by", "requested_at"], name="release_of_person_by_day"),
            models.Index(fields=["dataset", "question"], name="release_same_question"),
            # Public maps that may guide a question about the same place.
            models.Index(
                fields=["covered", "-visible_at"],
                condition=Q(public_since__isnull=False),
                name="release_public_of_a_place",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(guide_sha256="", guide_release=None, guide_file=None)
                | Q(~Q(guide_sha256=""), guide_release__isnull=False, guide_file=None)
                | Q(~Q(guide_sha256=""), guide_release=None, guide_file__isnull=False),
                name="release_has_one_guide_or_none",
            )
        ]

    def __str__(self) -> str:
        return f"release {self.id}"

    @property
    def public_state(self) -> str:
        """Returns `queued`, `published`, `cancelled` or `no_result`: all that others than the ledger are
        told."""
        return ReleaseState(self.state).label

    @property
    def is_public(self) -> bool:
        """Tells whether anybody may read it, as `IS_PUBLIC` selects; a query where `publication` is not at
        hand."""
        if self.state != ReleaseState.PUBLISHED or self.public_since is None:
            return False
        publication = getattr(self, "publication", None)
        return publication is not None and publication.is_public


class Publication(models.Model):
    """Holds whom the latest event about the readers of a release shows it to.

    The database writes it with that event (`heatmaps.migrations.tables_of_2026.checked_events`); neither web
    nor workers may.
    """

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="publication")
    sequence = models.PositiveBigIntegerField()  # of that event
    is_public = models.BooleanField()

    def __str__(self) -> str:
        return f"publication of {self.release_id}"


class RequestKey(models.Model):
    """Holds an `Idempotency-Key` and what it was answered with: a new release or a free, published one."""

    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    key = models.CharField(max_length=120)
    release = models.ForeignKey(Release, models.PROTECT, related_name="request_keys")
    # SHA-256 of the body as it was sent; empty: kept by a version that did not note it.
    body_sha256 = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requested_by", "key"], name="one_answer_per_request_key")
        ]

    def __str__(self) -> str:
        return f"request key of {self.release_id}"


class Charge(models.Model):
    release = models.ForeignKey(Release, models.PROTECT, related_name="charges")
    account = models.ForeignKey(Account, models.PROTECT, related_name="charges")
    # In the account's units, rounded up; empty: no bound.
    amount = models.BigIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "account"], name="one_charge_per_account")]

    def __str__(self) -> str:
        return f"charge of {self.release_id}"


class Result(models.Model):
    """Holds what was drawn, as `to_bytes` of a result wrote it (`mechanisms.results.serialization`)."""

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="result")
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"result of {self.release_id}"


class DrawingState(models.TextChoices):
    """Names the states `RUNNING -> DRAWN | FAILED`, or REFUSED from the start; the row goes when the release
    ends."""

    RUNNING = "running", "running"
    DRAWN = "drawn", "drawn"
    FAILED = "failed", "failed"
    REFUSED = "refused", "refused"  # the release is not what its ledger says was paid for


class Drawing(models.Model):
    """Holds the draw of a spent release, and what came of it until that may be seen: private, and no event.

    Its only row elects the one worker that draws. `heatmaps.releases.draws` writes it, the ledger takes it
    away.
    """

    release = models.OneToOneField(Release, models.PROTECT, primary_key=True, related_name="drawing")
    state = models.CharField(max_length=16, choices=DrawingState.choices, default=DrawingState.RUNNING)
    claimed_at = models.DateTimeField(default=timezone.now)
    # RUNNING: failed by the sweep after this moment.
    lease_until = models.DateTimeField(null=True)
    content = models.BinaryField(null=True)  # DRAWN: as in `Result`
    sha256 = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["state", "lease_until"], name="drawing_sweep")]

    def __str__(self) -> str:
        return f"drawing of {self.release_id}"
