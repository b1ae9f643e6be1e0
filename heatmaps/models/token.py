"""Keeps API tokens: hashed at rest, scoped, revocable by deleting the row."""

from django.db import models
from knox.models import AbstractAuthToken


class Scope(models.TextChoices):
    READ = "read", "read releases and budgets"
    RELEASE = "release", "ask for releases"
    STEWARD = "steward", "upload check-ins and manage datasets"


class ApiToken(AbstractAuthToken):  # type: ignore[misc]  # knox carries no types
    """Holds a token of one person; only the digest of its secret is stored (django-rest-knox)."""

    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"token {self.token_key} of {self.user_id}"
