"""Words a quote for the page that asks for a release."""

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Final

from django.contrib.auth.models import User

from heatmaps import queries
from heatmaps.models import Dataset
from heatmaps.numbers import amount
from heatmaps.queries import BudgetLine
from heatmaps.regions import region_of
from heatmaps.releases import lifecycle
from heatmaps.releases.epsilon import forecast, that_fits
from heatmaps.releases.epsilon.forecast import Forecast
from heatmaps.releases.lifecycle import ChargeLine, Quote, ReleaseRequest
from heatmaps.wording import mechanism_choice
from heatmaps.wording.data_slice import data_slice_words
from heatmaps.wording.expected_error import ErrorWords
from heatmaps.wording.guarantee import decimal
from heatmaps.wording.guides import option
from heatmaps.wording.release import error_words, for_map, promise_for_map, result_word
from mechanisms.expected_error import ExpectedError
from mechanisms.space.grid import Region

NO_SUMS: Final = " With it the map shows measured rectangles: no smooth view and no sums of areas."


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """Holds one account before and after the release; amounts as exact decimals, a percentage for its bar."""

    title: str
    before: BudgetLine
    cost: str
    left_after: str
    affordable: bool
    cost_percent: str

    @property
    def is_listed(self) -> bool:
        """Tells whether it is listed: what costs nothing and fits is not."""
        return self.cost != "0" or not self.affordable


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteWords:
    """Words a quote as the page shows it."""

    quote: Quote
    data_slice: list[tuple[str, str]]
    lines: tuple[CostLine, ...]
    promise: str  # in one sentence
    sentences: tuple[str, ...]  # all of it
    result_word: str  # "map", "point" or "map of zones"
    expected_error: ErrorWords | None
    start: str  # the title of the map that this one starts from; empty: from none
    error_without_start: ErrorWords | None
    upper_m: float | None  # the upper end of the predicted error in metres, where it is a distance
    more: Forecast
    fits: str  # the largest ε that would, where this one does not; empty where none does

    @property
    def gains(self) -> bool:
        """Tells whether another error is predicted without the start."""
        error, without = self.expected_error, self.error_without_start
        return error is not None and without is not None and error.short != without.short

    @property
    def start_sentence(self) -> str:
        """Says what the start is worth and what it costs the map; empty where nothing is predicted."""
        error, without = self.expected_error, self.error_without_start
        if error is None or without is None:
            return ""
        lost = NO_SUMS if self.quote.is_in_rectangles else ""
        if not self.gains:
            return f"No more exact here: {error.short} with and without it.{lost}"
        return f"Probably {error.short} instead of {without.short} if it fits, at the same cost.{lost}"

    @property
    def listed_lines(self) -> list[CostLine]:
        """Returns the cost lines that are charged, or do not fit; never none."""
        return [line for line in self.lines if line.is_listed] or list(self.lines[:1])


def quote_words(
    person: User, dataset: Dataset, request: ReleaseRequest, *, is_start_proposed: bool = False
) -> QuoteWords:
    """Says what a question costs one person. Errors: `ParameterError`.

    is_start_proposed: whether nobody chose its guide, so that the question may do without.
    """
    quoted = lifecycle.quote(dataset, request)
    quote = forecast.for_person(dataset, person, quoted)
    region, before = region_of(dataset), {line.kind: line for line in queries.budget(dataset)}
    covered = quote.data_slice.region(region)
    least = replace(request, guide=None) if is_start_proposed else request
    fits = None if quote.affordable else that_fits.largest_epsilon(dataset, person, least)
    return QuoteWords(
        quote=quote,
        data_slice=data_slice_words(quote.data_slice, region),
        lines=tuple(_cost_line(line, before[line.kind]) for line in quote.lines),
        promise=promise_for_map(quote.guarantee, dataset, quote.guide, mechanism=request.mechanism),
        sentences=(
            *for_map(quote.guarantee, dataset, quote.guide, mechanism=request.mechanism),
            *mechanism_choice.with_shuffler(quote.with_shuffler, dataset),
        ),
        result_word=result_word(request.mechanism),
        expected_error=_error(request, quote.expected_error, covered),
        start="" if quote.guide is None else option(dataset, quote.guide),
        error_without_start=_error(request, quote.expected_error_without_guide, covered),
        upper_m=quote.expected_error.upper_m(covered) if quote.expected_error else None,
        more=forecast.forecast(dataset, person, quote),
        fits="" if fits is None else decimal(fits),
    )


def _error(request: ReleaseRequest, error: ExpectedError | None, covered: Region) -> ErrorWords | None:
    return error_words(request.mechanism, asdict(error) if error else None, covered)


def _cost_line(line: ChargeLine, before: BudgetLine) -> CostLine:
    return CostLine(
        title=line.kind.label,
        before=before,
        cost=queries.amount_text(line.amount, line.kind),
        left_after=_left_after(line),
        affordable=line.affordable,
        cost_percent=_fitting(line),
    )


def _left_after(line: ChargeLine) -> str:
    if line.available is None:
        return queries.NO_LIMIT
    if line.amount is None:
        return "—"
    after = line.available - line.amount
    if after >= 0:
        return queries.amount_text(after, line.kind)
    return f"{amount(Fraction(queries.amount_text(-after, line.kind)))} too little"


def _fitting(line: ChargeLine) -> str:
    """Returns the part of the bar that this release takes, cut where the bar ends."""
    if line.amount is None or line.available is None:
        return "0"
    return queries.percent_of(min(line.amount, line.available), line.limit)
