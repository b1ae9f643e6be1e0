"""How allowances, alerts, forecasts and spending look in JSON."""

from collections.abc import Sequence
from typing import Any

from api.serializers.budget import AlertOut, AllowancesOut, ForecastOut, SpendingOut
from heatmaps.alerts import Alert
from heatmaps.allowances import Allowed
from heatmaps.forecasts import Forecast
from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import AccountKind
from heatmaps.spending import BY, Part, Spending

Body = dict[str, Any]


def allowances(found: list[Allowed]) -> Body:
    return AllowancesOut({"allowances": [_allowance(one) for one in found]}).data


def alerts(found: Sequence[Alert]) -> list[Body]:
    return [
        AlertOut(
            {
                "account": one.kind.value,
                "percent": one.percent,
                "of": "allowance" if one.own else "limit",
                "sentence": one.sentence,
            }
        ).data
        for one in found
    ]


def forecast(found: Forecast) -> Body:
    lines = [{"account": line.kind.value, "count": line.count} for line in found.lines]
    return ForecastOut({"overall": found.overall, "accounts": lines}).data


def spending(found: tuple[Spending, ...]) -> Body:
    return SpendingOut({"accounts": [_spending(one) for one in found]}).data


def _allowance(one: Allowed) -> Body:
    return {
        "account": one.kind.value,
        "analyst": None if one.person is None else one.person.get_username(),
        "follows_default": one.follows_default,
        "allowance": _amount(one.limit, one.kind),
        "taken": None if one.person is None else _amount(one.taken, one.kind),
        "available": None if one.person is None else _amount(one.available, one.kind),
    }


def _spending(one: Spending) -> Body:
    return {
        "account": one.kind.value,
        "taken": None if one.unbounded else _amount(one.committed, one.kind),
        "limit": _amount(one.limit, one.kind),
        **{f"by_{by}": [_part(part, one.kind) for part in one.parts[by]] for by in BY},
    }


def _part(part: Part, kind: AccountKind) -> Body:
    return {"name": part.name, "amount": _amount(part.units, kind), "releases": part.releases}


def _amount(units: int | None, kind: AccountKind) -> str | None:
    return None if units is None else as_decimal(units, kind)
