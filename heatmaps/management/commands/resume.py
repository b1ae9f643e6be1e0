"""`manage.py resume`: says what happened to an installation that is on hold, and lets it go on."""

from argparse import ArgumentParser, ArgumentTypeError
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.ledger.amounts import ACCOUNTS, units_up
from heatmaps.ledger.errors import InvalidLimit
from heatmaps.management import resuming
from heatmaps.management.resuming import NO_BOUND, CannotResume, OtherCopy, Resumed, Statement
from heatmaps.models import AccountKind
from heatmaps.record import hold
from heatmaps.record.place import RecordError

_QUESTION = (
    "Is the server that this database is an older copy of stopped for good, so that it never draws again? "
    "[yes/unknown] "
)


def charge(text: str) -> tuple[tuple[str, AccountKind], int | None]:
    """Parses `SLUG:ACCOUNT=AMOUNT`, with the amount in units of the account. Errors: ArgumentTypeError."""
    name, _, amount = text.partition("=")
    slug, _, kind = name.partition(":")
    kinds = sorted({str(kind) for kinds in ACCOUNTS.values() for kind in kinds})
    if not slug or kind not in kinds:
        raise ArgumentTypeError(
            f"charge is {text!r}, allowed: DATASET:ACCOUNT=AMOUNT, with an account of {', '.join(kinds)}"
        )
    if amount == NO_BOUND:
        return (slug, AccountKind(kind)), None
    try:
        return (slug, AccountKind(kind)), units_up(Fraction(amount), AccountKind(kind))
    except (ValueError, ZeroDivisionError):
        raise ArgumentTypeError(
            f"charge is {text!r}, allowed: an amount such as 0.5, or {NO_BOUND}"
        ) from None


class Command(BaseCommand):
    help = (
        "Say what happened to an installation that is on hold, and let it go on. After a restore, what was "
        "queued ends without a result, what may have been released since the backup is charged, everybody "
        "signs in anew and everything public is hidden. With a record of the draws at hand and the other "
        "copy stopped, exactly what was drawn since is charged; else all that was left of each account."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", required=True, help="stands in every ledger, for everybody to read")
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--nothing-lost",
            action="store_true",
            help="the database is the newest there ever was: the machine was only started anew, moved, or "
            "lost its record",
        )
        what.add_argument(
            "--other-copy",
            choices=[str(choice) for choice in OtherCopy],
            help="the server that this database is an older copy of: stopped for good, or not known "
            "(asked for where it is not given)",
        )
        parser.add_argument(
            "--charge",
            type=charge,
            action="append",
            default=[],
            metavar="DATASET:ACCOUNT=AMOUNT",
            help="what was charged to an account since the backup, where you know it; may be repeated",
        )

    def handle(
        self,
        *args: Any,
        reason: str,
        nothing_lost: bool,
        other_copy: str | None,
        charge: list[tuple[tuple[str, AccountKind], int | None]],
        **options: Any,
    ) -> None:
        cause = hold.cause()
        if cause is not None:
            self.stdout.write(f"On hold: {cause.label}.")
        try:
            if nothing_lost:
                resuming.nothing_was_lost(reason)
                self.stdout.write("Resumed; every ledger says why.")
                return
            copy = OtherCopy(other_copy or self._other_copy())
            self._tell(resuming.restored(Statement(reason=reason, other_copy=copy, charges=dict(charge))))
        except (CannotResume, InvalidLimit, RecordError) as error:
            raise CommandError(str(error)) from None

    def _other_copy(self) -> str:
        """Asks about the other copy. Errors: CommandError where nobody can be asked, or it still runs."""
        try:
            answer = input(_QUESTION).strip().lower()
        except EOFError:
            answer = ""
        if answer not in ("yes", "unknown"):
            raise CommandError(
                "stop the other server first, for good, then say --other-copy stopped; or say "
                "--other-copy unknown, and everything that was left is charged"
            )
        return "stopped" if answer == "yes" else answer

    def _tell(self, resumed: Resumed) -> None:
        source = "what the record says" if resumed.knows_charges else "all that was left, or your numbers"
        self.stdout.write(f"Resumed {resumed.datasets} datasets; charged: {source}.")
        self.stdout.write(
            f"Nobody can sign in but {resumed.administrator}, who chooses a password here: "
            f"{settings.CSRF_TRUSTED_ORIGINS[0] if settings.CSRF_TRUSTED_ORIGINS else ''}{resumed.link}"
        )
        self.stdout.write(
            "Administrators then make links for the others. Check first, under People and Members, who is "
            "still an administrator and a steward: removed ones are back. Stewards confirm each dataset."
        )
