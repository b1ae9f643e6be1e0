"""Words a quote for the page that asks for a release."""

from dataclasses import asdict, dataclass
from fractions import Fraction

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
from heatmaps.wording.release import error_words, for_guarantee, promise_for, result_word


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One account before and after the release; amounts as exact decimals, a percentage for its bar."""

    title: str
    before: BudgetLine
    cost: str
    left_after: str
    affordable: bool
    cost_percent: str

    @property
    def is_told(self) -> bool:
        """What costs nothing and fits is not told."""
        return self.cost != "0" or not self.affordable


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteWords:
    """A quote as the page shows it."""

    quote: Quote
    data_slice: list[tuple[str, str]]
    lines: tuple[CostLine, ...]
    promise: str  # in one sentence
    sentences: tuple[str, ...]  # all of it
    result_word: str  # "map", "point" or "map of zones"
    expected_error: ErrorWords | None
    upper_m: float | None  # the upper end of the predicted error in metres, where it is a distance
    more: Forecast
    fits: str  # the largest ε that would, where this one does not; empty where none does

    @property
    def told(self) -> list[CostLine]:
        """What is charged, or does not fit; never nothing."""
        return [line for line in self.lines if line.is_told] or list(self.lines[:1])


def quote_words(person: User, found: Dataset, asked: ReleaseRequest) -> QuoteWords:
    """What a question costs one person. Errors: `ParameterError`."""
    quoted = lifecycle.quote(found, asked)
    quote = forecast.for_person(found, person, quoted)
    region, before = region_of(found), {line.kind: line for line in queries.budget(found)}
    covered = quote.data_slice.region(region)
    expected = asdict(quote.expected_error) if quote.expected_error else None
    subject = f"this {result_word(asked.mechanism)}"
    fits = None if quote.affordable else that_fits.largest_epsilon(found, person, asked)
    return QuoteWords(
        quote=quote,
        data_slice=data_slice_words(quote.data_slice, region),
        lines=tuple(_cost_line(line, before[line.kind]) for line in quote.lines),
        promise=promise_for(quote.guarantee, found, subject=subject),
        sentences=(
            *for_guarantee(quote.guarantee, found, subject=subject),
            *mechanism_choice.on_devices(quote.on_devices, found),
        ),
        result_word=result_word(asked.mechanism),
        expected_error=error_words(asked.mechanism, expected, covered),
        upper_m=quote.expected_error.upper_m(covered) if quote.expected_error else None,
        more=forecast.forecast(found, person, quote),
        fits="" if fits is None else decimal(fits),
    )


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
    """The part of the bar that this release takes, cut where the bar ends."""
    if line.amount is None or line.available is None:
        return "0"
    return queries.percent_of(min(line.amount, line.available), line.limit)
