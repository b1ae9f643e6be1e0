"""Defines the ledger's errors: each has a code and carries public data, never a count."""

# ruff: noqa: N818 - domain words; `except BudgetExceeded` says what happened

from datetime import datetime
from fractions import Fraction
from typing import ClassVar

from heatmaps.ledger.amounts import as_decimal, units_per_one
from heatmaps.models import AccountKind
from heatmaps.numbers import amount, amount_left, moment


class LedgerError(Exception):
    """Refuses a move; nothing was written."""

    code: ClassVar[str] = "ledger_error"


class BudgetExceeded(LedgerError):
    """Says that a charge does not fit under a limit. All amounts are in the account's units."""

    code = "budget_exceeded"

    def __init__(self, account_kind: AccountKind, *, requested: int, available: int, reserved: int) -> None:
        self.account_kind = AccountKind(account_kind)
        self.requested, self.available, self.reserved = requested, available, reserved
        super().__init__(
            f"this release costs {amount(_exact(requested, account_kind))} of {self.account_kind.label}, "
            f"{amount_left(_exact(available, account_kind))} is left "
            f"({amount(_exact(reserved, account_kind))} is held by queued releases)"
        )


class AllowanceExceeded(LedgerError):
    """Says that a charge does not fit under what one person may take. All amounts are in the account's units.

    Available is below 0 where the allowance was lowered under what the person had taken.
    """

    code = "allowance_exceeded"

    def __init__(self, account_kind: AccountKind, *, requested: int, available: int) -> None:
        self.account_kind = AccountKind(account_kind)
        self.requested, self.available = requested, max(available, 0)
        super().__init__(
            f"this release costs {amount(_exact(requested, account_kind))} of {self.account_kind.label}, "
            f"{amount_left(_exact(self.available, account_kind))} of your allowance is left; "
            "a steward of the dataset can raise it"
        )


class Overtaken(LedgerError):
    """Says that between the question and the lock somebody else moved; ask once more.

    Nobody is shown this.
    """

    code = "overtaken"

    def __init__(self) -> None:
        super().__init__("something changed meanwhile; ask again")


class UnboundedCharge(LedgerError):
    """Says that the loss counted by a limited account has no bound."""

    code = "unbounded_charge"

    def __init__(self, account_kind: AccountKind) -> None:
        self.account_kind = AccountKind(account_kind)
        super().__init__(
            f"this release has no bound on {self.account_kind.label}, which this dataset limits; "
            "choose another mechanism"
        )


class IllegalTransition(LedgerError):
    """Says that a release is not in the state that a move starts from."""

    code = "illegal_transition"

    def __init__(self, move: str, state: str) -> None:
        self.move, self.state = move, state
        super().__init__(f"a release that is {state} cannot {move}")


class TooLateToCancel(LedgerError):
    """Says that the release has begun, ended or was cancelled before."""

    code = "too_late_to_cancel"

    def __init__(self) -> None:
        super().__init__("this release can no longer be cancelled")


class SourceChanged(LedgerError):
    """Says that files which a data version pinned in a lake are not what they were: nothing could be read."""

    code = "source_changed"

    def __init__(self) -> None:
        super().__init__(
            "the latest data version cannot be read any more, as files of its table were changed or removed "
            "in the lake; a steward has to make a new data version"
        )


class TooManyQuestions(LedgerError):
    """Says that a person or a dataset has had its questions of a day; the next may come at `again_at`."""

    code = "too_many_questions"

    def __init__(self, scope: str, most: int, *, again_at: datetime) -> None:
        self.again_at = again_at
        subject = "you have asked" if scope == "person" else "this dataset was asked"
        super().__init__(
            f"{subject} {most} questions in 24 hours, the most allowed; "
            f"the next one may come at {moment(again_at)}"
        )


class QueueTooLong(LedgerError):
    """Says that a new release would begin later than is allowed; it may be asked for at `again_at`."""

    code = "queue_too_long"

    def __init__(self, *, again_at: datetime) -> None:
        self.again_at = again_at
        super().__init__(
            "this dataset's queue is full: another release would wait for more than a day; "
            f"the next one may come at {moment(again_at)}"
        )


class LedgerDamaged(LedgerError):
    """Says that the chain of a dataset does not end where its ledger says: nothing can be added to it."""

    code = "ledger_damaged"

    def __init__(self) -> None:
        super().__init__(
            "the ledger of this dataset is damaged, so nothing can be changed here; its operator can close "
            "it with `manage.py close-ledger`"
        )


class LedgerClosed(LedgerError):
    """Says that the operator closed a damaged ledger: nothing is added to it any more."""

    code = "ledger_closed"

    def __init__(self) -> None:
        super().__init__("the ledger of this dataset was damaged and is closed for good; start a new dataset")


class IdempotencyConflict(LedgerError):
    """Says that the key was used before, for something else."""

    code = "idempotency_conflict"

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used for another request; use a new key")


class InvalidLimit(LedgerError):
    """Says that a limit or its reason is not allowed; `field` says which of the two."""

    code = "invalid_limit"

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


class LimitMoved(LedgerError):
    """Says that somebody changed the limit since it was read."""

    code = "precondition_failed"

    def __init__(self, account_kind: AccountKind, current: int | None) -> None:
        self.account_kind, self.current = AccountKind(account_kind), current
        limit_text = "no limit" if current is None else as_decimal(current, self.account_kind)
        super().__init__(f"the limit of {self.account_kind.label} has changed; it is now {limit_text}")


def _exact(units: int, kind: AccountKind) -> Fraction:
    return Fraction(units, units_per_one(kind))
