"""Tables of accounts beside Django's own, and of links that work once."""

import uuid
from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from heatmaps.models.dataset import Dataset, Role


class Profile(models.Model):
    """What an administrator allowed an account.

    Accounts without a row were made by a command of the operator and may make datasets; invited ones have
    a row that says whether they may.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="profile"
    )
    may_create_datasets = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"profile of {self.user_id}"


class PeopleRules(models.Model):
    """The one row of what administrators decided for everybody."""

    ONLY: Final = 1

    # Whether an invitation of a steward may be used to make an account; those of administrators may always.
    sign_up_by_invitation = models.BooleanField(default=False)

    class Meta:
        constraints = [models.CheckConstraint(name="one_row_of_people_rules", condition=Q(pk=1))]

    def __str__(self) -> str:
        return "rules for people"


class LinkPurpose(models.TextChoices):
    INVITATION = "invitation", "invitation"
    RESET = "reset", "new password"


class OneTimeLink(models.Model):
    """An invitation or a new password to be chosen; only the digest of its secret is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    purpose = models.CharField(max_length=16, choices=LinkPurpose.choices)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret
    # Invitations: to a dataset in a role, or to the installation alone.
    dataset = models.ForeignKey(Dataset, models.PROTECT, null=True, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    may_create_datasets = models.BooleanField(default=False)
    # Why an administrator makes somebody a steward; goes into the event.
    reason = models.CharField(max_length=500, blank=True)
    # New password: whose, and a keyed digest of the one that was theirs: with any other the link is worth
    # nothing, however it was changed.
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    password_digest = models.CharField(max_length=64, blank=True)
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
                name="link_has_what_its_purpose_needs",
                condition=Q(purpose="reset", account__isnull=False, dataset=None, role="")
                | Q(purpose="invitation", account=None, dataset__isnull=False, role__in=Role.values)
                | Q(purpose="invitation", account=None, dataset=None, role=""),
            )
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.id}"
