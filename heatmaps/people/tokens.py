"""Makes tokens of the API, and deletes those that have ended."""

from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.models import ApiToken


def make_token(
    owner: User, *, name: str, scopes: Iterable[str], days: int | None = None
) -> tuple[ApiToken, str]:
    """Returns a token's row and its secret, which is stored nowhere. days: until it ends; None: never."""
    delete_ended(owner)
    row, secret = ApiToken.objects.create(
        user=owner,
        name=name,
        scopes=sorted(set(scopes)),
        expiry=None if days is None else timedelta(days=days),
    )
    return row, secret


def delete_ended(owner: User) -> None:
    ApiToken.objects.filter(user=owner, expiry__lt=timezone.now()).delete()
