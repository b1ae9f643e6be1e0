"""Limits how many codes of a second factor may be guessed (NIST SP 800-63B, section 5.2.2).

Whoever may guess codes knows the password already. So wrong codes are counted by account, from whatever
address, in the database: no restart ends a count. App codes and recovery codes have an allowance each;
passkeys cannot be guessed and have none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Final

import structlog
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings as mfa_settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from heatmaps import numbers
from heatmaps.models import CodeKind, CodeTries
from heatmaps.people import mails

AT_ONCE: Final = 10
EVERY: Final = timedelta(hours=1)  # one more
MOST: Final = 100  # in a row
NOTEWORTHY: Final = 3  # in a row: its owner may mistype one or two

_OTHER_WAYS: Final = {
    CodeKind.APP: "a recovery code or a passkey",
    CodeKind.RECOVERY: "a code of your app or a passkey",
}

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCodes:
    """Counts wrong codes in a row, the last of them at `at`."""

    kind: str
    times: int
    at: datetime

    @property
    def sentence(self) -> str:
        return (
            f"{self.times} wrong {CodeKind(self.kind).label}s in a row were entered for your account, the "
            f"last on {numbers.moment(self.at)}. If it was not you, somebody knows your password: change it."
        )


def kind_of(code: str) -> CodeKind | None:
    """Returns a code's kind by its length; None for what can be no code."""
    lengths = {
        mfa_settings.TOTP_DIGITS: CodeKind.APP,
        mfa_settings.RECOVERY_CODE_DIGITS: CodeKind.RECOVERY,
    }
    return lengths.get(len(normalize_user_code(code)))


def require_try(user: User, kind: CodeKind) -> None:
    """Refuses a code where no try is left; the caller holds the account's lock.

    Errors: ValidationError that says what to do instead.
    """
    row = CodeTries.objects.filter(user=user, kind=kind).first()
    if row is None:
        return
    if row.wrong >= MOST:
        raise ValidationError(
            f"{MOST} wrong {kind.label}s were entered in a row, so none is checked any more. Use "
            f"{_OTHER_WAYS[kind]}, or ask an administrator to remove your second factor.",
            code="too_many_codes",
        )
    wait = row.full_at - timezone.now() - (AT_ONCE - 1) * EVERY
    if wait > timedelta():
        minutes = ceil(wait / timedelta(minutes=1))
        raise ValidationError(
            f"Too many wrong {kind.label}s were entered for this account. Use {_OTHER_WAYS[kind]}, or try "
            f"again in {minutes} minutes. Nothing was checked.",
            code="too_many_codes",
        )


def count_wrong(user: User, kind: CodeKind) -> None:
    """Counts a wrong code; the caller holds the account's lock.

    Its owner gets a mail when the tries at once are used up, and when all are.
    """
    now = timezone.now()
    row, _ = CodeTries.objects.get_or_create(user=user, kind=kind, defaults={"full_at": now})
    row.wrong += 1
    row.full_at = max(row.full_at, now) + EVERY
    if row.wrong >= NOTEWORTHY:
        row.last_run, row.last_at = row.wrong, now
    row.save()
    transaction.on_commit(
        partial(_log.info, "account.wrong_code", account=user.pk, kind=kind, in_a_row=row.wrong)
    )
    if row.wrong in (AT_ONCE, MOST):
        mails.tell(user, WrongCodes(kind=kind, times=row.wrong, at=now).sentence)


def forget_wrong(user: User) -> None:
    """Gives all tries back, after a right code of any kind or a passkey. What was wrong stays known."""
    CodeTries.objects.filter(user=user).update(wrong=0, full_at=timezone.now())


def wrong_codes_of(user: User) -> Iterator[WrongCodes]:
    """Yields the latest of each kind that their owner should know of."""
    for row in CodeTries.objects.filter(user=user).order_by("kind"):
        if row.last_at is not None:
            yield WrongCodes(kind=row.kind, times=row.last_run, at=row.last_at)
