"""Changes a limit."""

from collections.abc import Mapping

from django.contrib.auth.models import User

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import LARGEST
from heatmaps.ledger.errors import InvalidLimit, LimitMoved
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions.locks import locked, locked_accounts
from heatmaps.ledger.transitions.moves import LIMIT, LONGEST_REASON, UNSET, Unset
from heatmaps.models import Account, AccountKind


def change_limit(
    account: Account,
    new_limit: int | None,
    *,
    actor: User,
    reason: str,
    expected: int | Unset | None = UNSET,
) -> None:
    """Sets a limit (None: no limit) and records why.

    `expected` is the limit the caller saw. Errors: LimitMoved when it is another one by now,
    InvalidLimit below what is committed, without a reason, or when no ε account would keep a limit.
    """
    check_limit(new_limit)
    check_reason(reason)
    with locked(account.dataset_id) as ledger:
        accounts = locked_accounts(account.dataset_id)
        current = next(row for row in accounts if row.pk == account.pk)
        if expected is not UNSET and current.limit != expected:
            raise LimitMoved(AccountKind(current.kind), current.limit)
        before = {"limits": facts.limits([current])}
        _set_limit(current, new_limit)
        check_some_limit({AccountKind(row.kind): row.limit for row in accounts})
        after: Facts = {"limits": facts.limits([current]), "reason": reason.strip()}
        events.append(ledger, LIMIT, actor=actor, release=None, before=before, after=after)


def check_limit(limit: int | None) -> None:
    """Checks a limit. Errors: InvalidLimit."""
    if limit is not None and not 0 <= limit <= LARGEST:
        raise InvalidLimit("limit", f"a limit is 0 to {LARGEST} units of its account")


def check_some_limit(limits: Mapping[AccountKind, int | None]) -> None:
    """Checks that an ε account has a limit. Errors: InvalidLimit."""
    if all(limit is None for kind, limit in limits.items() if kind != AccountKind.DELTA):
        raise InvalidLimit("limit", "at least one ε account of a dataset has a limit")


def check_reason(reason: str) -> None:
    """Checks a reason. Errors: InvalidLimit."""
    if not 1 <= len(reason.strip()) <= LONGEST_REASON:
        raise InvalidLimit(
            "reason", f"a change of a limit needs a reason of 1 to {LONGEST_REASON} characters"
        )


def _set_limit(account: Account, limit: int | None) -> None:
    rows = Account.objects.filter(pk=account.pk)
    if limit is not None:
        rows = rows.filter(committed__lte=limit, unbounded=False)
    if not rows.update(limit=limit):
        raise InvalidLimit("limit", "a limit cannot go below what is committed already")
    account.limit = limit
