"""Keeps tables of accounts beside Django's own, and of links that work once."""

import uuid
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q

from heatmaps.models.dataset import Dataset, Role

# What workers may read of an account: the name behind a number (`heatmaps.management.database_rights`).
SEEN_BY_WORKERS: Final = ("id", "username", "is_active")


def hidden_columns(account: str) -> tuple[str, ...]:
    """Returns the columns that a worker's query has to defer. account: how the query calls it."""
    columns = (field.attname for field in get_user_model()._meta.concrete_fields)
    return tuple(f"{account}__{column}" for column in columns if column not in SEEN_BY_WORKERS)


class Profile(models.Model):
    """Holds what an administrator allowed an account.

    Accounts without a row were made by a command of the operator and may make datasets; invited ones have
    a row that says whether they may.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="profile"
    )
    may_create_datasets = models.BooleanField(default=False)
    # What an administrator did last with its sign-in (`heatmaps.people.interventions`); nobody: an operator.
    password_link_at = models.DateTimeField(null=True)
    password_link_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    factor_removed_at = models.DateTimeField(null=True)
    factor_removed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )

    closed_at = models.DateTimeField(null=True)  # last; links for a new password from before are dead

    def __str__(self) -> str:
        return f"profile of {self.user_id}"


class CodeKind(models.TextChoices):
    APP = "app", "app code"
    RECOVERY = "recovery", "recovery code"


class CodeTries(models.Model):
    """Counts wrong codes of a second factor, by account and kind (`heatmaps.people.code_tries`)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="code_tries")
    kind = models.CharField(max_length=16, choices=CodeKind.choices)
    wrong = models.PositiveIntegerField(default=0)  # in a row, since the last right one
    full_at = models.DateTimeField()  # when as many are allowed at once as ever
    # The latest wrong ones in a row that their owner should know of; a right one changes nothing here.
    last_run = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="code_tries_of_a_kind", fields=["user", "kind"])]

    def __str__(self) -> str:
        return f"{self.kind} codes of {self.user_id}"


class PeopleRules(models.Model):
    """Holds the one row of what administrators decided for everybody."""

    ONLY: Final = 1

    # Whether an invitation of a steward may be used to make an account; those of administrators may always.
    sign_up_by_invitation = models.BooleanField(default=True)
    second_factor = models.BooleanField(default=False)  # whether everybody has to have one

    class Meta:
        constraints = [models.CheckConstraint(name="one_row_of_people_rules", condition=Q(pk=1))]

    def __str__(self) -> str:
        return "rules for people"


class PasswordLink(models.Model):
    """Holds the latest link by which somebody chooses a new password; it goes when the password changes.

    Only the digest of its secret is stored.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="password_link"
    )
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret
    # SHA-256 of what ends the link by changing: password, last sign-in, last closing, addresses.
    account_digest = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"link of {self.user_id}"


class Invitation(models.Model):
    """Holds a link that works once, to a dataset in a role, or to the installation alone.

    Only the digest of its secret is stored.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret
    dataset = models.ForeignKey(Dataset, models.PROTECT, null=True, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    may_create_datasets = models.BooleanField(default=False)
    # Why an administrator makes somebody a steward; goes into the event.
    reason = models.CharField(max_length=500, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="invitation_has_a_dataset_with_a_role",
                condition=Q(dataset__isnull=False, role__in=Role.values) | Q(dataset=None, role=""),
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.id}"
