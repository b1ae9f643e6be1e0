"""Shows the rounds of a collection, plans and cancels them, and gives its shuffler a token."""

from dataclasses import asdict, dataclass
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from heatmaps import queries
from heatmaps.children.turns import Busy
from heatmaps.collections import collection as collections
from heatmaps.collections import rounds
from heatmaps.collections.page import page_sha384
from heatmaps.collections.round_draws import RoundDraw
from heatmaps.collections.rounds import RoundState
from heatmaps.ledger.balances import balances
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Dataset, Round
from heatmaps.numbers import count, size
from heatmaps.people.permissions import Act, dataset_for, may, misfit
from heatmaps.record.hold import OnHold
from heatmaps.regions import region_of
from heatmaps.releases.quote import refusals
from heatmaps.releases.request import Plan
from heatmaps.views.collections.forms import RoundForm
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.collection import for_round, influence_words, title_of
from heatmaps.wording.expected_error import ErrorWords
from heatmaps.wording.release import error_words, for_guarantee, promise_for
from mechanisms.check import ParameterError

_STATES: Final = {
    RoundState.PLANNED: ("waits for its shuffler", "queued"),
    RoundState.READY: ("ready", "queued"),
    RoundState.OPEN: ("open", "published"),
    RoundState.CLOSED: ("closed, result to come", "queued"),
    RoundState.PUBLISHED: ("published", "published"),
    RoundState.NO_RESULT: ("no result", "failed"),
    RoundState.CANCELLED: ("cancelled", "cancelled"),
}
_FOR_EVERYBODY: Final = {"Access-Control-Allow-Origin": "*"}
_CANCELLABLE: Final = (RoundState.PLANNED, RoundState.READY)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLine:
    """Holds a round in the list; public facts."""

    row: Round
    title: str
    state: str
    tag: str
    least_reports: int
    reports: int | None
    has_release: bool
    may_be_cancelled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCost:
    """Shows a round's cost on one account, beside what is left of it."""

    title: str
    amount: str
    left: str  # empty: no limit
    problem: str  # empty: it fits


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundQuote:
    """Words a planned round as the page shows it."""

    promise: str
    sentences: tuple[str, ...]
    charges: list[RoundCost]
    fits: bool
    fingerprint: str
    error: ErrorWords | None
    least_reports: str
    messages: str
    packet: str
    dishonest: str


@require_http_methods(["GET", "HEAD", "POST"])
def rounds_tab(request: PersonRequest, slug: str) -> HttpResponse:
    """Lists the rounds on GET; POST shows what another one costs, or plans it."""
    dataset = dataset_for(request.user, slug)
    if misfit(dataset, Act.PLAN_ROUNDS):
        raise Http404("this dataset has no rounds")
    may_plan = may(request.user, dataset, Act.PLAN_ROUNDS)
    form = RoundForm(dataset, request.POST if request.method == "POST" else None)
    quoted = None
    if request.method == "POST":
        if not may_plan:
            raise PermissionDenied("rounds are planned by the dataset's stewards")
        quoted = _quote(dataset, form)
        is_plan = quoted is not None and request.POST.get("act") == "plan"
        if is_plan and request.POST.get("seen") != form.fingerprint:
            form.add_error(None, "You changed something since the cost was shown. Look at it again.")
        elif is_plan and _plan(request, dataset, form):
            return redirect("dataset-rounds", slug=slug)
    return _page(request, dataset, form, quoted, may_plan=may_plan)


def _page(
    request: PersonRequest,
    dataset: Dataset,
    form: RoundForm,
    quoted: Plan | None,
    *,
    may_plan: bool,
    token: str = "",
) -> HttpResponse:
    page = page_of(request, rounds.rounds_of(dataset), "rounds")
    context = {
        "section": "datasets",
        "dataset": dataset,
        "collection": dataset.collection,
        "rounds": page,
        "lines": [_line(row) for row in page.object_list],
        "may_plan": may_plan,
        "form": form,
        "quote": None if quoted is None else _words(dataset, quoted, form),
        "token": token,
    }
    return render(request, "collections/rounds.html", context, status=422 if form.errors else 200)


@require_POST
def cancel(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.PLAN_ROUNDS)
    try:
        rounds.cancel(request.user, rounds.round_of(dataset, number))
        messages.success(request, f"Round {number} is cancelled; its charge went back into the budget.")
    except LedgerError as error:
        messages.error(request, f"{str(error).capitalize()}.")
    return redirect("dataset-rounds", slug=slug)


@require_POST
def new_token(request: PersonRequest, slug: str) -> HttpResponse:
    """Makes another token for the shuffler, shown in this answer only."""
    dataset = dataset_for(request.user, slug, Act.PLAN_ROUNDS)
    token = collections.new_token(rounds.collection_of(dataset))
    return _page(request, dataset, RoundForm(dataset), None, may_plan=True, token=token)


@login_not_required
@require_safe
def facts(request: HttpRequest, round_id: UUID) -> HttpResponse:  # noqa: ARG001 - the same for everybody
    """Serves the text that devices compare with the shuffler's, for everybody, whatever page asks for it."""
    row = Round.objects.filter(pk=round_id).exclude(facts="").select_related("release").first()
    if row is None or rounds.state_of(row) is RoundState.CANCELLED:
        # A page of another origin may read this, too: else it could not tell it from a server that is away.
        return HttpResponse(status=404, headers=_FOR_EVERYBODY)
    answer = HttpResponse(row.facts, content_type="application/json", headers=_FOR_EVERYBODY)
    answer["ETag"] = f'"{row.facts_sha256}"'
    answer["Cache-Control"] = "no-cache"
    return answer


def _quote(dataset: Dataset, form: RoundForm) -> Plan | None:
    if not form.is_valid():
        return None
    try:
        return rounds.quote(dataset, form.request())
    except ParameterError as error:
        form.explain(error)
    except Busy as error:  # what was typed is kept
        form.add_error(None, f"{str(error).capitalize()}.")
    return None


def _plan(request: PersonRequest, dataset: Dataset, form: RoundForm) -> bool:
    try:
        new_round = rounds.plan(
            request.user, dataset, form.request(), page_sha384=page_sha384(), **form.moments
        )
    except ParameterError as error:
        form.explain(error)
    except (LedgerError, Busy, OnHold) as error:
        form.add_error(None, f"{str(error).capitalize()}.")
    else:
        messages.success(
            request, f"Round {new_round.number} is planned. Its shuffler has until the opening to join."
        )
        return True
    return False


def _line(row: Round) -> RoundLine:
    state = rounds.state_of(row)
    title, tag = _STATES[state]
    return RoundLine(
        row=row,
        title=title_of(row.release),
        state=title,
        tag=tag,
        least_reports=rounds.least_reports_of(row),
        reports=rounds.reports_of(row),
        has_release=state in {RoundState.OPEN, RoundState.CLOSED, RoundState.PUBLISHED, RoundState.NO_RESULT},
        may_be_cancelled=state in _CANCELLABLE,
    )


def _costs(dataset: Dataset, quoted: Plan) -> list[RoundCost]:
    """Returns the costs that are charged, or do not fit."""
    left = {line.kind: line for line in queries.budget(dataset)}
    refused = refusals(balances(dataset), quoted.charges)
    return [
        RoundCost(
            title=kind.label,
            amount=queries.amount_text(units, kind),
            left=left[kind].left if left[kind].has_limit else "",
            problem="" if refused[kind] is None else str(refused[kind]),
        )
        for kind, units in quoted.charges.items()
        if units != 0 or refused[kind] is not None
    ]


def _words(dataset: Dataset, quoted: Plan, form: RoundForm) -> RoundQuote:
    draw: RoundDraw = quoted.draw
    error = asdict(draw.expected_error(dataset, quoted.data_slice))
    charges = _costs(dataset, quoted)
    return RoundQuote(
        promise=promise_for(quoted.guarantee, dataset, subject="this round"),
        sentences=(
            *for_guarantee(quoted.guarantee, dataset, subject="this round"),
            *for_round(dataset.collection, quoted.guarantee, draw.least_honest),
        ),
        charges=charges,
        fits=not any(cost.problem for cost in charges),
        fingerprint=form.fingerprint,
        error=error_words(
            form.cleaned_data["mechanism"], error, region_of(dataset), runs_on=dataset.origin.runs_on
        ),
        least_reports=count(draw.least_reports),
        messages=count(draw.device.messages),
        packet=size(draw.packet_bytes),
        dishonest=influence_words(draw),
    )
