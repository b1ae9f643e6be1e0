"""Says what a release is asked for, and what it would cost."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypedDict

from hazemap_client import markup
from hazemap_client.components import Component
from hazemap_client.markup import bound, limit
from hazemap_client.numbers import Exact, Number, amounts, rounded_up, written


class Mechanism(Component):
    """Describes a way to make a release."""

    name: str
    title: str
    summary: str
    kind: str
    relations: tuple[str, ...]
    trust: str
    max_resolution: int
    usual_delta: str
    parameters: tuple[Mapping[str, Any], ...]


class DataSlice(TypedDict, total=False):
    """Restricts a question to a period, a rectangle, or both."""

    since: datetime | str  # to the second
    until: datetime | str
    rectangle: tuple[float, float, float, float]  # west, south, east, north


class Question(TypedDict, total=False):
    """Asks for a release. Left-out fields have the server's defaults.

    Amounts may be decimals, fractions, numbers or texts.
    """

    mechanism: str
    epsilon: Number
    delta: Number
    resolution: int
    parameters: Mapping[str, Any]  # numbers, and GeoJSON or what has a `__geo_interface__`
    data_slice: DataSlice
    guide: str


class NamedQuestion(Question, total=False):
    """Adds to a question what its release is called; members read it."""

    name: str
    note: str


class QuotedQuestion(Question, total=False):
    """Asks by ε, or by the error that is wished: the least ε for it is quoted."""

    error_m: Number


_AMOUNTS: Final = ("epsilon", "delta", "error_m")


def body_of(question: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the JSON of a question. Errors: ValueError where a number is none."""
    body = {**question, **amounts({name: question[name] for name in _AMOUNTS if name in question})}
    if parameters := question.get("parameters"):
        numbers = {name: written(value) for name, value in parameters.items() if isinstance(value, float)}
        body["parameters"] = {**parameters, **numbers}
    return body


class ErrorBound(Component):
    """Says how far a result may be off, in the numbers of its kind; from public facts alone."""

    quantity: str
    assumptions: str
    emd: float | None = None
    emd_low: float | None = None
    expected_m: float | None = None
    within_m: float | None = None
    share: float | None = None

    def __str__(self) -> str:
        if self.expected_m is not None and self.within_m is not None:
            usual, most = rounded_up(self.expected_m), rounded_up(self.within_m)
            return f"± {usual} m on average, ± {most} m in 95 of 100"
        if self.share is not None:
            return f"± {rounded_up(100 * self.share)} percentage points (standard error)"
        if self.emd is None or self.emd >= 1.0:  # an even map is never farther off
            return "no useful bound"
        how_surely = "at most" if self.emd_low is None else "probably"
        return f"± {rounded_up(100 * self.emd)} % of the region's longer side, {how_surely}"


class Charge(Component):
    """Charges an account; null: no bound."""

    account: str
    amount: Exact | None


class ChargeLine(Charge):
    """Adds to a charge what is there; null: no limit."""

    limit: Exact | None
    available: Exact | None
    affordable: bool


class Forecast(Component):
    """Says how many more such releases fit; null: no limit."""

    overall: int | None


class Quote(Component):
    """Holds the exact cost and the predicted error of a release; nothing is spent or read for it."""

    epsilon: Exact
    delta: Exact
    guarantee: Mapping[str, Any]  # exact numbers as texts, "p/q" or "inf"
    statements: tuple[str, ...]
    distance: str
    accounts: tuple[ChargeLine, ...]
    expected_error: ErrorBound | None
    affordable: bool
    problem: str | None
    largest_epsilon: Exact | None
    same_release: str | None
    more_like_this: Forecast

    def _repr_html_(self) -> str:
        heads = ("account", "cost", "available", "limit", "fits")
        rows = (
            (row.account, bound(row.amount), limit(row.available), limit(row.limit), row.affordable)
            for row in self.accounts
        )
        costs = markup.table(rows, heads=heads, caption=f"ε = {self.epsilon}, δ = {self.delta}")
        error = f"Expected error: {self.expected_error}." if self.expected_error else ""
        again = "The same question was answered already: asking again is free." if self.same_release else ""
        fits = f"ε = {self.largest_epsilon} would fit." if self.largest_epsilon is not None else ""
        return costs + markup.paragraphs((self.problem or "", fits, again, error, *self.statements))
