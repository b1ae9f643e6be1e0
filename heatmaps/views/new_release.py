"""The page that asks for a release: first its exact cost, then, by a second act, the spending."""

import uuid
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from heatmaps import alerts, fitting, forecasts, queries, releases
from heatmaps.access import Act, dataset_for, may
from heatmaps.forecasts import Forecast
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Dataset, Release
from heatmaps.releases import ChargeLine, Quote, ReleaseRequest
from heatmaps.views.finding import AGAIN, NOTHING, with_epsilon
from heatmaps.views.forms.gathering import GatheringForm
from heatmaps.views.forms.release import ReleaseForm
from heatmaps.views.forms.wishes import WishForm
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import choosing
from heatmaps.wording.choosing import Answers
from heatmaps.wording.parts import part_words
from heatmaps.wording.release import (
    DistanceErrorWords,
    ErrorWords,
    ShareErrorWords,
    error_words,
    for_guarantee,
    result_word,
)
from mechanisms import catalogue
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One account before and after the release; amounts as exact decimals, percentages for its bar."""

    title: str
    cost: str
    left_before: str
    left_after: str
    limit: str
    affordable: bool
    has_limit: bool
    reserved: str  # held by queued releases; empty when nothing is
    used_percent: str
    cost_percent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteWords:
    """A quote as the page shows it."""

    quote: Quote
    part: list[tuple[str, str]]
    lines: tuple[CostLine, ...]
    sentences: tuple[str, ...]
    result_word: str  # "map", "point" or "map of zones"
    expected_error: ErrorWords | DistanceErrorWords | ShareErrorWords | None
    more: Forecast
    fits: str  # the largest ε that would, where this one does not; empty where none does


@require_http_methods(["GET", "HEAD", "POST"])
def new_release(request: PersonRequest, slug: str) -> HttpResponse:
    """GET with a filled form quotes, nothing is written; POST of the same asks for it and spends."""
    found = dataset_for(request.user, slug, Act.RELEASE)
    typed: QueryDict = request.POST if request.method == "POST" else request.GET
    answers = Answers(trusted=typed.get("trusted", ""), protects=typed.get("protects", ""))
    form, wish_form = ReleaseForm(found, typed if "mechanism" in typed else None, answers), WishForm()
    looked_for = NOTHING
    if request.method != "POST" and form.is_bound:
        form, wish_form, looked_for = with_epsilon(found, form, typed)
    asks = form.is_valid() and not wish_form.errors and AGAIN not in typed
    asked = form.request() if asks else None
    if asked is not None and request.method == "POST":
        made = ask(request, found, form, asked)
        if made is not None:
            return redirect("release", release_id=made.pk)
    # Refused by the ledger: the quote says how much is missing. Refused for a field: there is none.
    quotable = asked is not None and not set(form.errors) - {NON_FIELD_ERRORS}
    quote = quote_words(request.user, found, form, asked) if asked is not None and quotable else None
    context = {
        "section": "datasets",
        "dataset": found,
        "form": form,
        "may_upload": may(request.user, found, Act.UPLOAD),
        "quote": quote,
        "looked_for": looked_for,
        "spend_at": reverse("release-new", args=[found.slug]),
        "takes_zones": any(catalogue.entries(relation=Relation(found.relation), kind="zones")),
        "wish_form": wish_form,
        "typed": [*form.typed(), *_given(answers)] if quote else [],
        "key": uuid.uuid4(),
        "version": queries.current_version(found),
        "budget": queries.budget(found),
        "alerts": alerts.alerts_of(found, request.user),
        "bounds": ",".join(map(repr, queries.region_of(found))),
    }
    status = 200 if not form.errors and not wish_form.errors else 409 if quote else 422
    return render(request, "releases/new.html", context, status=status)


def _given(answers: Answers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in asdict(answers).items() if value]


def ask(
    request: PersonRequest, found: Dataset, form: ReleaseForm | GatheringForm, asked: ReleaseRequest
) -> Release | None:
    """The release; None when it was refused, and the form says why."""
    key = request.POST.get("key", "")[:120] or None
    try:
        return releases.request_release(request.user, found, asked, idempotency_key=key)
    except ParameterError as error:
        form.explain(error)
    except LedgerError as refusal:
        form.add_error(None, f"Nothing was spent: {refusal}.")
    return None


def quote_words(
    person: User, found: Dataset, form: ReleaseForm | GatheringForm, asked: ReleaseRequest
) -> QuoteWords | None:
    """What a question costs; None where it is refused, and the form says why."""
    try:
        quoted = releases.quote(found, asked)
    except ParameterError as error:
        form.explain(error)
        return None
    quote = forecasts.for_person(found, person, quoted)
    region = queries.region_of(found)
    expected = asdict(quote.expected_error) if quote.expected_error else None
    return QuoteWords(
        quote=quote,
        part=part_words(quote.asked, region),
        lines=_cost_lines(found, quote),
        sentences=(
            *for_guarantee(quote.guarantee, found, subject=f"this {result_word(asked.mechanism)}"),
            *choosing.on_devices(quote.on_devices, found),
        ),
        result_word=result_word(asked.mechanism),
        expected_error=error_words(expected, quote.asked.region(region)),
        more=forecasts.forecast(found, person, quote),
        fits="" if quote.affordable else fitting.largest_epsilon(found, person, asked),
    )


def _cost_lines(found: Dataset, quote: Quote) -> tuple[CostLine, ...]:
    held = {line.kind: line.reserved for line in queries.budget(found)}
    return tuple(_cost_line(line, held[line.kind]) for line in quote.lines)


def _cost_line(line: ChargeLine, reserved: str) -> CostLine:
    return CostLine(
        title=line.kind.label,
        cost=queries.amount_text(line.amount, line.kind),
        left_before=queries.amount_text(line.available, line.kind, missing=queries.NO_LIMIT),
        left_after=_left_after(line),
        limit=queries.amount_text(line.limit, line.kind, missing=queries.NO_LIMIT),
        affordable=line.affordable,
        has_limit=line.limit is not None,
        reserved="" if reserved == "0" else reserved,
        used_percent=queries.percent_of(line.committed, line.limit),
        cost_percent=_fitting(line),
    )


def _left_after(line: ChargeLine) -> str:
    if line.available is None:
        return queries.NO_LIMIT
    if line.amount is None:
        return "—"
    after = line.available - line.amount
    return f"{queries.amount_text(abs(after), line.kind)}{'' if after >= 0 else ' too little'}"


def _fitting(line: ChargeLine) -> str:
    """The part of the bar that this release takes, cut where the bar ends."""
    if line.amount is None or line.available is None:
        return "0"
    return queries.percent_of(min(line.amount, line.available), line.limit)
