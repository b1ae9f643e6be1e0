"""Keeps the budget: accounts with integer balances and the chain of events.

Only `heatmaps/ledger/transitions` writes these tables.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from heatmaps.models.dataset import Dataset


class Ledger(models.Model):
    """Holds a row a dataset: the head of its event chain, and the lock that every transition takes first."""

    dataset = models.OneToOneField(Dataset, models.PROTECT, primary_key=True, related_name="ledger")
    last_sequence = models.PositiveBigIntegerField(default=0)
    last_hash = models.CharField(max_length=64)
    # Of the event that closed it for good; empty: open. The database writes all three with each event.
    closed_sequence = models.PositiveBigIntegerField(null=True)

    def __str__(self) -> str:
        return f"ledger of {self.dataset_id}"


class AccountKind(models.TextChoices):
    """Names what an account counts. ε accounts hold units of 1e-12, the δ account units of 1e-18."""

    PRESENCE = "presence", "presence (ε)"
    RECORD = "record", "whole record (ε)"
    RADIUS = "radius", "radius (ε)"
    DELTA = "delta", "δ"


class Account(models.Model):
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="accounts")
    kind = models.CharField(max_length=16, choices=AccountKind.choices)
    # Empty: tracked and shown, but not limited.
    limit = models.BigIntegerField(null=True, blank=True)
    # Reserved and spent together, in the account's units.
    committed = models.BigIntegerField(default=0)
    # Some charge had no bound (possible only without a limit).
    unbounded = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "kind"], name="one_account_per_kind"),
            models.CheckConstraint(
                name="account_within_limit",
                condition=Q(committed__gte=0)
                & (Q(limit=None) | (Q(limit__gte=0, unbounded=False, committed__lte=models.F("limit")))),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} account of {self.dataset_id}"


class Allowance(models.Model):
    """Holds what one person may take of an account, and what was taken; policy, not a promise: people
    collude.

    The row without a person is the default of everybody who follows it; it counts nothing.
    """

    account = models.ForeignKey(Account, models.PROTECT, related_name="allowances")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    follows_default = models.BooleanField(default=True)
    # Empty: not limited. It may be below what was taken: nothing more can be taken then.
    limit = models.BigIntegerField(null=True)
    # Reserved and spent together, in the account's units; charges without a bound are not in it.
    committed = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["account", "person"]
        constraints = [
            models.UniqueConstraint(fields=["account", "person"], name="one_allowance_a_person"),
            models.UniqueConstraint(
                fields=["account"], condition=Q(person=None), name="one_default_allowance"
            ),
            models.CheckConstraint(
                name="allowance_counts_up",
                condition=Q(committed__gte=0) & (Q(limit=None) | Q(limit__gte=0)),
            ),
            models.CheckConstraint(
                name="allowance_is_one_or_the_default",
                condition=Q(follows_default=True, limit=None)
                | Q(follows_default=False, person__isnull=False)
                | Q(follows_default=False, person=None, committed=0),
            ),
        ]

    def __str__(self) -> str:
        return f"allowance on account {self.account_id}"


class Event(models.Model):
    """Records one move, hashed together with the hash of the move before it; never changed, never deleted."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="events")
    sequence = models.PositiveBigIntegerField()
    at_microseconds = models.BigIntegerField()  # UTC, since 1970
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=32)
    release = models.UUIDField(null=True)
    before = models.TextField()  # canonical JSON
    after = models.TextField()  # canonical JSON
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    # Random and hashed too, for stewards only: who knows hash and minute cannot search the exact moment.
    # Empty: written before events had salts.
    salt = models.CharField(max_length=32, null=True)  # noqa: DJ001 - told apart in the hash

    class Meta:
        ordering = ["dataset", "sequence"]
        constraints = [models.UniqueConstraint(fields=["dataset", "sequence"], name="one_event_per_sequence")]

    def __str__(self) -> str:
        return f"event {self.sequence} of {self.dataset_id}"
