"""What a release is asked for, and what it would cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, TypedDict

from hazemap_client import markup
from hazemap_client.numbers import Exact, Number, rounded_up, written


class Question(TypedDict, total=False):
    """What is left out has the server's default; amounts may be decimals, fractions, numbers or texts."""

    mechanism: str
    epsilon: Number
    delta: Number | None
    resolution: int | None
    parameters: Mapping[str, Any]  # numbers, and GeoJSON or what has a `__geo_interface__`
    since: datetime | str | None
    until: datetime | str | None
    rectangle: tuple[float, float, float, float] | None  # west, south, east, north
    guide: str | None


_EXACT: Final = ("epsilon", "delta", "error_m")
_SLICE: Final = ("since", "until", "rectangle")
_USELESS: Final = 1.0  # of a map: an even one is never farther off


def body_of(question: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a question. Errors: ValueError where a number is none."""
    given = {name: value for name, value in question.items() if value is not None}
    body: dict[str, Any] = {
        name: written(value) if name in _EXACT else value
        for name, value in given.items()
        if name not in _SLICE and name != "parameters"
    }
    if parameters := given.get("parameters"):
        body["parameters"] = {name: _parameter(value) for name, value in parameters.items()}
    if data_slice := {name: _bound(given[name]) for name in _SLICE if name in given}:
        body["data_slice"] = data_slice
    return body


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedError:
    """How far a result may be off, in the numbers of its kind; from public facts alone."""

    component: ClassVar = "ErrorBoundOut"
    quantity: str
    assumptions: str
    emd: float | None = None
    emd_low: float | None = None
    expected_m: float | None = None
    within_m: float | None = None
    share: float | None = None

    def __str__(self) -> str:
        if self.expected_m is not None and self.within_m is not None:
            return (
                f"± {rounded_up(self.expected_m)} m on average, ± {rounded_up(self.within_m)} m in 95 of 100"
            )
        if self.share is not None:
            return f"± {rounded_up(100 * self.share)} percentage points (standard error)"
        return self._of_map()

    def _of_map(self) -> str:
        if self.emd is None or self.emd >= _USELESS:
            return "no useful bound"
        most = f"± {rounded_up(100 * self.emd)} % of the region's longer side"
        return f"{most}, probably" if self.emd_low is not None else f"{most} at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What is taken of an account; null: no bound."""

    component: ClassVar = "ChargeOut"
    account: str
    amount: Exact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine(Charge):
    """And what is there; null: no limit."""

    component: ClassVar = "ChargeLineOut"
    limit: Exact | None
    available: Exact | None
    affordable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How many more such releases fit; null: no limit."""

    component: ClassVar = "ForecastOut"
    overall: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The exact cost and the predicted error of a release; nothing is spent or read for it."""

    component: ClassVar = "QuoteOut"
    epsilon: Exact
    delta: Exact
    guarantee: Mapping[str, Any]  # exact numbers as texts, "p/q" or "inf"
    statements: tuple[str, ...]
    distance: str
    accounts: tuple[ChargeLine, ...]
    expected_error: ExpectedError | None
    affordable: bool
    problem: str | None
    largest_epsilon: Exact | None
    same_release: str | None
    more_like_this: Forecast

    def _repr_html_(self) -> str:
        heads = ("account", "cost", "available", "limit", "fits")
        rows = [_line(one) for one in self.accounts]
        error = f"Expected error: {self.expected_error}." if self.expected_error else ""
        again = "The same question was answered already: asking again is free." if self.same_release else ""
        fits = f"ε = {self.largest_epsilon} would fit." if self.largest_epsilon is not None else ""
        costs = markup.table(heads, rows, caption=f"ε = {self.epsilon}, δ = {self.delta}")
        return costs + markup.paragraphs((self.problem or "", fits, again, error, *self.statements))


def _line(line: ChargeLine) -> tuple[object, ...]:
    amount = "no bound" if line.amount is None else line.amount
    limits = ("no limit" if value is None else value for value in (line.available, line.limit))
    return line.account, amount, *limits, line.affordable


def _parameter(value: Any) -> Any:
    shape = getattr(value, "__geo_interface__", value)
    return written(shape) if isinstance(shape, float | Decimal | Exact) else shape


def _bound(value: object) -> object:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
