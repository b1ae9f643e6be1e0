"""The reservation: checked and written in one transaction, all or nothing."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, Q, Sum

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import LARGEST, Charges
from heatmaps.ledger.errors import AllowanceExceeded, BudgetExceeded, Overtaken, UnboundedCharge
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions import allowances
from heatmaps.ledger.transitions.locks import locked, locked_accounts
from heatmaps.ledger.transitions.moves import QUEUED, RESERVE
from heatmaps.models import Account, AccountKind, Charge, DataVersion, Release, ReleaseState, RequestKey

_REFUSED: Final = "HZ001"  # SQLSTATE of the refusals of `heatmaps_reserve`
_ACCOUNTS: Final = "charges must name exactly the accounts of the dataset"


def reserve(
    release: Release,
    charges: Charges,
    *,
    actor: User,
    key: str | None = None,
    unless_answered: bool = False,
) -> Release:
    """Save a new release and commit its charges, all or nothing; with the `Idempotency-Key` it was asked by.

    `unless_answered`: only if, at that moment, the release's version is the latest, no published release
    answers its question and nobody used the key: then the caller has to look again.
    Errors: BudgetExceeded, AllowanceExceeded, UnboundedCharge, Overtaken.
    """
    for amount in charges.values():
        if amount is not None and not 0 <= amount <= LARGEST:
            raise ValueError(f"a charge is {amount}, allowed: 0 to {LARGEST} units, or None")
    release.state = ReleaseState.RESERVED
    if connection.vendor == "postgresql":
        _on_server(release, charges, actor, key, unless_answered)
    else:
        _step_by_step(release, charges, actor, key, unless_answered)
    return release


def _on_server(
    release: Release, charges: Charges, actor: User, key: str | None, unless_answered: bool
) -> None:
    """One statement, so that nobody waits for the way between client and server (migration 0016)."""
    ask = {
        "release": _row(release),
        "charges": {AccountKind(kind).value: amount for kind, amount in charges.items()},
        "person": actor.pk,
        "facts": events.canonical(facts.release_facts(release)),
        "salt": events.new_salt(),
        "key": key,
        "unless_answered": unless_answered,
    }
    try:
        with _savepoint_if_nested(), connection.cursor() as cursor:
            cursor.execute("SELECT heatmaps_reserve(%s::jsonb)", [json.dumps(ask, default=str)])
    except DatabaseError as error:
        cause: Any = error.__cause__
        if getattr(cause, "sqlstate", None) != _REFUSED:
            raise
        raise _refusal(release.dataset_id, **json.loads(cause.diag.message_primary)) from None
    release._state.adding, release._state.db = False, connection.alias


def _savepoint_if_nested() -> AbstractContextManager[object]:
    """Outside of a transaction the statement is one, and it alone."""
    return transaction.atomic() if connection.in_atomic_block else nullcontext()


def _row(release: Release) -> dict[str, Any]:
    """The columns as `save` would write them."""
    columns: dict[str, Any] = {}
    for field in release._meta.concrete_fields:
        value = field.pre_save(release, add=True)
        assert field.column is not None  # noqa: S101 - every column of a table has a name
        columns[field.column] = value if isinstance(field, models.JSONField) else field.get_prep_value(value)
    return columns


def _refusal(dataset_id: int, code: str, **amounts: Any) -> Exception:
    if code == Overtaken.code:
        return Overtaken()
    if code == "accounts":
        return ValueError(_ACCOUNTS)
    kind = AccountKind(amounts.pop("account"))
    if code == UnboundedCharge.code:
        return UnboundedCharge(kind)
    if code == AllowanceExceeded.code:
        return AllowanceExceeded(kind, **amounts)
    account = Account.objects.get(dataset=dataset_id, kind=kind)
    return BudgetExceeded(kind, **amounts, reserved=_reserved(account))


def _step_by_step(
    release: Release, charges: Charges, actor: User, key: str | None, unless_answered: bool
) -> None:
    with locked(release.dataset_id) as ledger:
        if unless_answered and _answered(release, actor, key):
            raise Overtaken
        accounts = locked_accounts(release.dataset_id)
        if set(charges) != {account.kind for account in accounts}:
            raise ValueError(_ACCOUNTS)
        release.save(force_insert=True)
        before = facts.balances(accounts)
        committed = {str(row.kind): _commit(row, charges[AccountKind(row.kind)]) for row in accounts}
        for row in accounts:
            allowances.take(row, actor, committed[str(row.kind)])
        Charge.objects.bulk_create(
            Charge(release=release, account=row, amount=committed[str(row.kind)]) for row in accounts
        )
        after = _after(release, committed, accounts)
        events.append(
            ledger, RESERVE, actor=actor, release=release.pk, before={"committed": before}, after=after
        )
        if key is not None:
            RequestKey.objects.create(requested_by=actor, key=key, release=release)


def _after(release: Release, committed: Mapping[str, int | None], accounts: list[Account]) -> Facts:
    return {
        "state": str(release.state),
        "release": facts.release_facts(release),
        "charges": {kind: facts.charge_fact(amount) for kind, amount in committed.items()},
        "committed": facts.balances(accounts),
    }


def _answered(release: Release, actor: User, key: str | None) -> bool:
    versions = DataVersion.objects.filter(dataset=release.dataset_id).order_by("-number")
    same = Release.objects.filter(
        dataset=release.dataset_id, question=release.question, state=ReleaseState.PUBLISHED
    )
    used = RequestKey.objects.filter(requested_by=actor, key=key) if key is not None else None
    moved = versions.values_list("pk", flat=True).first() != release.version_id
    return moved or same.exists() or (used is not None and used.exists())


def _commit(account: Account, amount: int | None) -> int | None:
    """Add a charge to a locked account, in memory too, if it fits; the amount as it was charged."""
    if account.limit is None and amount is not None and account.committed > LARGEST - amount:
        amount = None  # more than the account can count is "no bound"
    rows = Account.objects.filter(pk=account.pk)
    if amount is None:
        if not rows.filter(limit=None).update(unbounded=True):
            raise UnboundedCharge(AccountKind(account.kind))
        account.unbounded = True
    elif not rows.filter(Q(limit=None) | Q(limit__gte=F("committed") + amount)).update(
        committed=F("committed") + amount
    ):
        raise _exceeded(account, amount)
    else:
        account.committed += amount
    return amount


def _exceeded(account: Account, amount: int) -> BudgetExceeded:
    return BudgetExceeded(
        AccountKind(account.kind),
        requested=amount,
        available=(account.limit or 0) - account.committed,
        reserved=_reserved(account),
    )


def _reserved(account: Account) -> int:
    held = Charge.objects.filter(account=account, release__state__in=QUEUED)
    return held.aggregate(total=Sum("amount"))["total"] or 0
