"""What can go wrong in the ledger: each error has a code and carries public data, never a count."""

# ruff: noqa: N818 - domain words; `except BudgetExceeded` says what happened

from typing import ClassVar

from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import AccountKind


class LedgerError(Exception):
    """A refusal; nothing was written."""

    code: ClassVar[str] = "ledger_error"


class BudgetExceeded(LedgerError):
    """A charge does not fit under a limit. All amounts are in the account's units."""

    code = "budget_exceeded"

    def __init__(self, account_kind: AccountKind, *, requested: int, available: int, reserved: int) -> None:
        self.account_kind = AccountKind(account_kind)
        self.requested, self.available, self.reserved = requested, available, reserved
        super().__init__(
            f"this costs {self._shown(requested)} of {self.account_kind.label}, "
            f"{self._shown(available)} is left ({self._shown(reserved)} is held by queued releases)"
        )

    def _shown(self, units: int) -> str:
        return as_decimal(units, self.account_kind)


class AllowanceExceeded(LedgerError):
    """A charge does not fit under what one person may take. All amounts are in the account's units.

    Available is below 0 where the allowance was lowered under what the person had taken.
    """

    code = "allowance_exceeded"

    def __init__(self, account_kind: AccountKind, *, requested: int, available: int) -> None:
        self.account_kind = AccountKind(account_kind)
        self.requested, self.available = requested, max(available, 0)
        super().__init__(
            f"this costs {as_decimal(requested, self.account_kind)} of {self.account_kind.label}, "
            f"{as_decimal(self.available, self.account_kind)} of your allowance is left; "
            "a steward of the dataset can raise it"
        )


class Overtaken(LedgerError):
    """Between the question and the lock somebody else moved; ask once more. Nobody is shown this."""

    code = "overtaken"

    def __init__(self) -> None:
        super().__init__("something moved meanwhile; ask once more")


class UnboundedCharge(LedgerError):
    """The loss counted by a limited account has no bound."""

    code = "unbounded_charge"

    def __init__(self, account_kind: AccountKind) -> None:
        self.account_kind = AccountKind(account_kind)
        super().__init__(
            f"this release has no bound on {self.account_kind.label}, which this dataset limits; "
            "choose another mechanism"
        )


class IllegalTransition(LedgerError):
    """A release is not in the state that a move starts from."""

    code = "illegal_transition"

    def __init__(self, move: str, state: str) -> None:
        self.move, self.state = move, state
        super().__init__(f"a release that is {state} cannot {move}")


class TooLateToCancel(LedgerError):
    """The release was spent, finished or cancelled before."""

    code = "too_late_to_cancel"

    def __init__(self) -> None:
        super().__init__("this release can no longer be cancelled")


class IdempotencyConflict(LedgerError):
    """The key was used before, for something else."""

    code = "idempotency_conflict"

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used for another request; send a new key")


class InvalidLimit(LedgerError):
    """A limit or its reason is not allowed; `field` says which of the two."""

    code = "invalid_limit"

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


class LimitMoved(LedgerError):
    """Somebody changed the limit since it was read."""

    code = "precondition_failed"

    def __init__(self, account_kind: AccountKind, current: int | None) -> None:
        self.account_kind, self.current = AccountKind(account_kind), current
        now = "no limit" if current is None else as_decimal(current, self.account_kind)
        super().__init__(f"the limit of {self.account_kind.label} was changed meanwhile; it is now {now}")
