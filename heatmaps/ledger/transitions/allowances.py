"""Changes allowances: what one person may spend of an account. They are policy; limits are the promise."""

from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.db.models import F, Q

from heatmaps.ledger import events, facts
from heatmaps.ledger.errors import AllowanceExceeded, UnboundedCharge
from heatmaps.ledger.events import Facts
from heatmaps.ledger.facts import FollowsDefault
from heatmaps.ledger.transitions.limits import check_limit, check_reason
from heatmaps.ledger.transitions.locks import locked
from heatmaps.ledger.transitions.moves import ALLOWANCE
from heatmaps.models import Account, AccountKind, Allowance


def change_allowance(
    account: Account, person: User | None, limit: int | FollowsDefault | None, *, actor: User, reason: str
) -> None:
    """Sets what `person` may take of an account; a `limit` of None is as much as there is.

    Below what was taken already it stops that person. `person` None sets the default, for everybody who
    follows it.
    Errors: InvalidLimit.
    """
    follows = isinstance(limit, FollowsDefault)
    units = None if isinstance(limit, FollowsDefault) else limit
    if follows and person is None:
        raise ValueError("the default cannot follow itself")
    check_limit(units)
    check_reason(reason)
    with locked(account.dataset_id) as ledger:
        row = _row(account, person)
        before: Facts = {"allowance": facts.allowance_facts(account, row)}
        row.follows_default, row.limit = follows, units
        row.save(update_fields=["follows_default", "limit"])
        after: Facts = {"allowance": facts.allowance_facts(account, row), "reason": reason.strip()}
        events.append(ledger, ALLOWANCE, actor=actor, release=None, before=before, after=after)


def take(accounts: Sequence[Account], person: User, amounts: Mapping[str, int | None]) -> None:
    """Counts the charges of a release, by account, if they are allowed. The caller holds the ledger's lock.

    Errors: AllowanceExceeded, UnboundedCharge.
    """
    rows = Allowance.objects.filter(Q(person=person) | Q(person=None), account__in=accounts)
    rows_by_key = {(row.account_id, row.person_id): row for row in rows}
    for account in accounts:
        general = rows_by_key.get((account.pk, None))
        own = rows_by_key.get((account.pk, person.pk)) or Allowance(account=account, person=person)
        _take(account, own, general, amounts[str(account.kind)])


def _take(account: Account, own: Allowance, general: Allowance | None, amount: int | None) -> None:
    """Counts a charge against an allowance.

    A charge of nothing always fits, and one without a bound is not counted.
    """
    allowed = own.limit
    if own.follows_default:
        allowed = None if general is None else general.limit
    if amount is None and allowed is not None:
        raise UnboundedCharge(AccountKind(account.kind))
    if not amount:
        return
    rows = Allowance.objects.filter(pk=own.pk)
    if allowed is not None:
        rows = rows.filter(committed__lte=allowed - amount)
    if own.pk is None and (allowed is None or amount <= allowed):
        own.committed = amount
        own.save(force_insert=True)
    elif not rows.update(committed=F("committed") + amount):
        assert allowed is not None  # noqa: S101 - nothing else filters the row away
        raise AllowanceExceeded(
            AccountKind(account.kind), requested=amount, available=allowed - own.committed
        )


def give_back(account_id: int, person_id: int, amount: int | None) -> None:
    """Gives the charges of a release back. The caller holds the ledger's lock."""
    rows = Allowance.objects.filter(account=account_id, person=person_id)
    rows.update(committed=F("committed") - (amount or 0))


def _row(account: Account, person: User | None) -> Allowance:
    """Returns the row, made where it is missing.

    The default begins as "not limited", everybody else follows it.
    """
    follows = person is not None
    return Allowance.objects.get_or_create(
        account=account, person=person, defaults={"follows_default": follows}
    )[0]
