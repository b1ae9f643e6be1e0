"""Allowances: what one person may take of an account. Limits are the promise, allowances are policy."""

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
    """What `person` may take of an account (None: as much as there is), or everybody who follows the default.

    Below what was taken already it stops that person. `person` None sets the default.
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


def take(account: Account, person: User, amount: int | None) -> None:
    """Count a charge, if it is allowed. The caller holds the ledger's lock.

    Errors: AllowanceExceeded, UnboundedCharge.
    """
    row = _row(account, person)
    allowed = _allowed(account, row)
    rows = Allowance.objects.filter(pk=row.pk)
    if allowed is not None and amount is None:
        raise UnboundedCharge(AccountKind(account.kind))
    if allowed is not None and amount:
        rows = rows.filter(committed__lte=allowed - amount)
    if not rows.update(committed=F("committed") + (amount or 0)):
        assert allowed is not None  # noqa: S101 - nothing else filters the row away
        raise AllowanceExceeded(
            AccountKind(account.kind), requested=amount or 0, available=allowed - row.committed
        )


def give_back(account_id: int, person_id: int, amount: int | None) -> None:
    """The caller holds the ledger's lock."""
    rows = Allowance.objects.filter(account=account_id, person=person_id)
    rows.update(committed=F("committed") - (amount or 0))


def _row(account: Account, person: User | None) -> Allowance:
    """The default begins as "not limited", everybody else follows it."""
    follows = person is not None
    return Allowance.objects.get_or_create(
        account=account, person=person, defaults={"follows_default": follows}
    )[0]


def _allowed(account: Account, row: Allowance) -> int | None:
    if not row.follows_default:
        return row.limit
    general = Allowance.objects.filter(Q(account=account) & Q(person=None)).first()
    return None if general is None else general.limit
