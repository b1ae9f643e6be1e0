"""Quotes a release's cost and predicted error from public facts alone; writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from heatmaps.data_slice import DataSlice
from heatmaps.guides.choices import Chosen
from heatmaps.ledger import amounts, balances
from heatmaps.ledger.balances import Balance
from heatmaps.ledger.errors import BudgetExceeded, LedgerError, UnboundedCharge
from heatmaps.models import AccountKind, Dataset, Release
from heatmaps.releases import readings
from heatmaps.releases.question import latest_version, same_release
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.expected_error import ExpectedError
from mechanisms.guarantee import Guarantee


class NoDataVersion(LedgerError):  # noqa: N818 - as the other domain errors
    """Says that nothing was made available in the dataset yet; whether it was is public."""

    code = "no_data_version"

    def __init__(self) -> None:
        super().__init__(
            "this dataset has no data version yet: a steward has to upload check-ins and make them "
            "available first, or make a version of a table in a lake"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine:
    """States what a release costs on one account, in the account's units; an amount of None has no bound."""

    kind: AccountKind
    amount: int | None
    limit: int | None
    committed: int
    available: int | None  # None: no limit
    affordable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Holds the exact cost. `problem` is empty, or the readable reason why it would be refused now."""

    request: ReleaseRequest
    data_slice: DataSlice
    epsilon: Fraction
    delta: Fraction  # as asked for, or the mechanism's usual one
    guarantee: Guarantee
    with_shuffler: Guarantee | None  # of the same protocol with a shuffler, where this one simulates it
    lines: tuple[ChargeLine, ...]
    expected_error: ExpectedError | None  # None: no public number of persons to reckon with
    guide: Chosen | None
    expected_error_without_guide: ExpectedError | None  # None, too, where no guide is named
    is_in_rectangles: bool  # the map would state no errors of sums, as its guide says where people are
    affordable: bool
    problem: str
    same_release: Release | None  # a published answer to the same question: free


def quote(dataset: Dataset, request: ReleaseRequest) -> Quote:
    """Returns the exact cost and the predicted error of a release. Errors: `ParameterError`."""
    plan = Plan.of(dataset, request)
    lines, refused = _lines(balances.balances(dataset), plan.charges)
    version = latest_version(dataset)
    same = None if version is None else same_release(dataset, plan.question(version))
    if version is None:
        refused = [NoDataVersion()]
    elif same is not None:
        refused = []
    return Quote(
        request=request,
        data_slice=plan.data_slice,
        epsilon=plan.terms.epsilon,
        delta=plan.terms.delta,
        guarantee=plan.guarantee,
        with_shuffler=plan.draw.with_shuffler,
        lines=lines,
        expected_error=plan.expected_error(dataset),
        guide=plan.guide,
        expected_error_without_guide=_unguided_error(dataset, plan),
        is_in_rectangles=isinstance(plan.mechanism, Adaptive) and plan.mechanism.is_in_rectangles,
        affordable=not refused,
        problem=str(refused[0]) if refused else "",
        same_release=same,
    )


def refusals(
    accounts: Sequence[Balance], charges: amounts.Charges
) -> Mapping[AccountKind, LedgerError | None]:
    """Returns the ledger's refusals now, by account; None where a charge fits."""
    return {balance.kind: _refusal(balance, charges[balance.kind]) for balance in accounts}


def _unguided_error(dataset: Dataset, plan: Plan) -> ExpectedError | None:
    """Returns the error to expect if the same question named no guide; None: it names none."""
    if plan.guide is None:
        return None
    terms = replace(plan.terms, guide=None, parameters=plan.draw.parameters)
    draw = readings.draw_for(dataset, terms, build=readings.not_beforehand)
    return draw.expected_error(dataset, plan.data_slice)


def _lines(
    accounts: list[Balance], charges: amounts.Charges
) -> tuple[tuple[ChargeLine, ...], list[LedgerError]]:
    refused = refusals(accounts, charges)
    lines = tuple(
        ChargeLine(
            kind=balance.kind,
            amount=charges[balance.kind],
            limit=balance.limit,
            committed=balance.committed,
            available=balance.available,
            affordable=refused[balance.kind] is None,
        )
        for balance in accounts
    )
    return lines, [refusal for refusal in refused.values() if refusal is not None]


def _refusal(balance: Balance, amount: int | None) -> LedgerError | None:
    """Returns the ledger's refusal now, or None."""
    if balance.available is None:
        return None
    if amount is None:
        return UnboundedCharge(balance.kind)
    if amount <= balance.available:
        return None
    return BudgetExceeded(
        balance.kind, requested=amount, available=balance.available, reserved=balance.reserved
    )
