"""Reads and changes what each person may spend of a dataset's accounts.

Limits are the guarantee: all analysts are assumed to collude. Allowances only divide a budget among people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Q

from heatmaps.budget import limits
from heatmaps.ledger import transitions
from heatmaps.ledger.amounts import Charges
from heatmaps.ledger.errors import AllowanceExceeded, LedgerError, UnboundedCharge
from heatmaps.ledger.facts import FOLLOWS_DEFAULT
from heatmaps.models import Account, AccountKind, Allowance, Dataset, Membership, Role
from heatmaps.people.permissions import Act, Person, may, require
from mechanisms.check import ParameterError

DEFAULT: Final = FOLLOWS_DEFAULT.value  # an allowance's text: as everybody's


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Holds one person on one account, in its units; `person` None: everybody who follows the default.

    `limit` is what holds, be it the person's own or everybody's; None: not limited.
    """

    kind: AccountKind
    person: User | None
    follows_default: bool
    limit: int | None
    committed: int

    @property
    def available(self) -> int | None:
        return None if self.limit is None else max(self.limit - self.committed, 0)


def allowances_of(dataset: Dataset, person: Person) -> list[Allowed]:
    """Returns everybody's, then each person's, by account; without `Act.READ_LEDGER` one's own alone."""
    accounts = list(Account.objects.filter(dataset=dataset).order_by("pk"))
    rows = Allowance.objects.filter(account__in=accounts).select_related("person")
    rows_by_key = {(row.account_id, row.person_id): row for row in rows}
    people = _people(dataset, [row.person for row in rows if row.person], person)
    return [_allowed(rows_by_key, account, member) for account in accounts for member in (None, *people)]


def own(dataset: Dataset, person: User) -> dict[AccountKind, Allowed]:
    """Returns one person's allowance and spending, by kind of account."""
    accounts = Account.objects.filter(dataset=dataset).order_by("pk")
    return {allowed.kind: allowed for allowed in own_on(list(accounts), person).values()}


def own_on(accounts: Sequence[Account], person: User) -> dict[int, Allowed]:
    """Returns one person's allowance and spending on accounts of any datasets, by account."""
    rows = Allowance.objects.filter(Q(person=None) | Q(person=person), account__in=accounts)
    rows_by_key = {(row.account_id, row.person_id): row for row in rows}
    return {account.pk: _allowed(rows_by_key, account, person) for account in accounts}


def refusal(dataset: Dataset, person: User, charges: Charges) -> LedgerError | None:
    """Returns the ledger's answer to this person now, as far as allowances go; None where charges fit."""
    return refusal_within(own(dataset, person), charges)


def refusal_within(allowances: Mapping[AccountKind, Allowed], charges: Charges) -> LedgerError | None:
    """Returns the ledger's answer to charges within these allowances; None where they fit."""
    for kind, allowed in allowances.items():
        amount = charges[kind]
        if allowed.limit is None or amount == 0:
            continue
        if amount is None:
            return UnboundedCharge(kind)
        if amount > allowed.limit - allowed.committed:
            available = allowed.limit - allowed.committed
            return AllowanceExceeded(kind, requested=amount, available=available)
    return None


def change(
    person: Person, dataset: Dataset, *, account: str, analyst: str | None, allowance: str | None, reason: str
) -> None:
    """Sets what `analyst` (a username; None: everybody by default) may take of an account.

    `allowance` is a decimal; None: not limited; "default": as everybody.
    Errors: as `permissions.require`; InvalidLimit; `ParameterError` naming `account`, `analyst` or
    `allowance`.
    """
    actor = require(person, dataset, Act.CHANGE_LIMIT)
    row = Account.objects.filter(dataset=dataset, kind=account).first()
    if row is None:
        kinds = ", ".join(Account.objects.filter(dataset=dataset).values_list("kind", flat=True))
        raise ParameterError("account", account, f"accounts of this dataset: {kinds}")
    recipient = None if analyst is None else askers(dataset).get(analyst)
    if analyst is not None and recipient is None:
        raise ParameterError("analyst", analyst, "the name of an analyst or steward of this dataset")
    if allowance == DEFAULT and recipient is None:
        raise ParameterError("allowance", allowance, "a decimal number, or no limit")
    if allowance == DEFAULT:
        transitions.change_allowance(row, recipient, FOLLOWS_DEFAULT, actor=actor, reason=reason)
    else:
        kind = AccountKind(row.kind)
        units = None if allowance is None else limits.units("allowance", kind, allowance)
        transitions.change_allowance(row, recipient, units, actor=actor, reason=reason)


def askers(dataset: Dataset) -> dict[str, User]:
    """Returns everybody who may ask for releases, by name."""
    rows = Membership.objects.filter(dataset=dataset, role__in=(Role.ANALYST, Role.STEWARD))
    users = [row.user for row in rows.select_related("user").order_by("user__username")]
    return {user.get_username(): user for user in users}


def _people(dataset: Dataset, users: list[User], person: Person) -> list[User]:
    everybody = askers(dataset) | {user.get_username(): user for user in users}
    if not may(person, dataset, Act.READ_LEDGER):
        everybody = {name: user for name, user in everybody.items() if user.pk == person.pk}
    return [everybody[name] for name in sorted(everybody)]


def _allowed(
    rows_by_key: dict[tuple[int, int | None], Allowance], account: Account, person: User | None
) -> Allowed:
    general = rows_by_key.get((account.pk, None))
    row = rows_by_key.get((account.pk, None if person is None else person.pk))
    follows = person is not None and (row is None or row.follows_default)
    holds = general if follows else row
    return Allowed(
        kind=AccountKind(account.kind),
        person=person,
        follows_default=follows,
        limit=None if holds is None else holds.limit,
        committed=0 if row is None else row.committed,
    )
