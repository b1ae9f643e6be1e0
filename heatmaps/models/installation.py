"""Keeps what an installation knows of itself, so that an older database is recognised (`heatmaps.record`)."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from heatmaps.models.dataset import Dataset
from heatmaps.models.ledger import Account
from heatmaps.models.release import Release


class HoldCause(models.TextChoices):
    """Names why nothing begins and nothing can be asked, until an operator says what happened."""

    OLDER = "older", "the database is older than what this server has seen"
    RESTORED = "restored", "the database was restored from a backup"
    NO_RECORD = "no_record", "the record of this server's draws is missing"
    OTHER_PLACE = "other_place", "the record or the database was copied or moved from another place"


class Installation(models.Model):
    """Holds the one row of this installation; made by whatever process first needs it."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    identity = models.UUIDField(default=uuid.uuid4)  # names the folder of its record
    held_since = models.DateTimeField(null=True)
    hold_cause = models.CharField(max_length=16, choices=HoldCause.choices, blank=True, default="")
    # The machine was started anew and nothing outside it could say whether its disk went back: what was asked
    # for before this moment waits for an operator.
    confirm_before = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="one_row_of_installation", condition=models.Q(pk=1)),
            models.CheckConstraint(
                name="hold_has_a_cause",
                condition=models.Q(held_since=None, hold_cause="")
                | models.Q(held_since__isnull=False) & ~models.Q(hold_cause=""),
            ),
        ]

    def __str__(self) -> str:
        return f"installation {self.identity}"


class Election(models.Model):
    """Keeps who was elected to draw, for good: rows are never changed and never deleted.

    Each has its random id in the record outside the database, too. Without a release it only marks that the
    database is at least as new as the record.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    release = models.ForeignKey(Release, models.PROTECT, null=True, related_name="elections")
    # 1, and more only where reading draws nothing: the messages of a round.
    attempt = models.PositiveIntegerField(default=1)
    at = models.DateTimeField(default=timezone.now)
    recorder = models.UUIDField(null=True)  # the record that has it; none: from before there were records

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "attempt"], name="one_election_an_attempt")]

    def __str__(self) -> str:
        return f"election {self.id}"


class Restoration(models.Model):
    """Holds a dataset after a restore: nothing is asked of it until a steward confirmed what came back with
    it."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="restorations")
    # Nothing is known of what happened in between.
    known_until = models.DateTimeField()
    resumed_at = models.DateTimeField()
    opt_outs_replayed = models.BooleanField(default=False)  # from the record
    confirmed_at = models.DateTimeField(null=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-resumed_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"],
                condition=models.Q(confirmed_at=None),
                name="one_restoration_waits_a_dataset",
            )
        ]

    def __str__(self) -> str:
        return f"restoration of {self.dataset_id}"


class RestoredCharge(models.Model):
    """Keeps what was charged to an account for what may have been released since the backup."""

    restoration = models.ForeignKey(Restoration, models.PROTECT, related_name="charges")
    account = models.ForeignKey(Account, models.PROTECT, related_name="restored_charges")
    amount = models.BigIntegerField(null=True)  # in the account's units; empty: no bound from then on

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["restoration", "account"], name="one_restored_charge_an_account")
        ]

    def __str__(self) -> str:
        return f"restored charge of {self.account_id}"
