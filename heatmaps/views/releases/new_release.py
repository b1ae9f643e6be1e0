"""Asks for a release: first its exact cost, then, by a second act, the spending."""

import uuid
from collections.abc import Collection, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from heatmaps import queries
from heatmaps.budget import alerts
from heatmaps.data_slice import EDGES
from heatmaps.exports import example_map
from heatmaps.ledger.errors import LedgerError
from heatmaps.ledger.transitions import slots
from heatmaps.models import Dataset, Release
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.record.hold import OnHold
from heatmaps.regions import region_of
from heatmaps.releases import calibration, lifecycle, readings
from heatmaps.views.basemap import with_streets
from heatmaps.views.releases.epsilon import AGAIN, NOTHING, with_epsilon
from heatmaps.views.releases.forms.goals import WishForm
from heatmaps.views.releases.forms.mechanisms import KINDS
from heatmaps.views.releases.forms.name import NameForm
from heatmaps.views.releases.forms.release import ReleaseForm
from heatmaps.views.releases.quote_words import QuoteWords, quote_words
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.data_slice import box_words
from heatmaps.wording.mechanism_choice import Answers
from mechanisms.catalogue.registry import AnyEntry, Kind
from mechanisms.check import ParameterError

ADD, QUOTE, MORE, SPEND = "add", "quote", "more", "spend"  # what a filled form is for
PART, METHOD, PROTECT = "part", "method", "protect"  # or what of it to open; `open` keeps it so
FOLDS: Final = (PART, METHOD, PROTECT)
LIVE: Final = "live"  # asks for the cost alone, while the form is filled in


@with_streets
@require_http_methods(["GET", "HEAD", "POST"])
def new_release(request: PersonRequest, slug: str, kinds: Collection[Kind] = tuple(KINDS)) -> HttpResponse:
    """Quotes on GET of a filled form, and writes nothing; POST of the same asks for it and spends.

    Zones and places are too long for an address: POST adds them, quotes, or spends, as its `act` says.
    """
    dataset = dataset_for(request.user, slug, Act.RELEASE)
    entries = [entry for entry in readings.offered(dataset) if entry.kind in kinds]
    if not entries:
        raise Http404("no such releases here")
    with calibration.for_person(request.user.pk):
        return _new_release(request, dataset, entries)


def _new_release(request: PersonRequest, dataset: Dataset, entries: Sequence[AnyEntry]) -> HttpResponse:
    act, typed = _act(request), request.POST if request.method == "POST" else request.GET
    name_form = NameForm(request.POST if act == SPEND else None)
    form = _form(request, dataset, entries, act, typed)
    # Sentences are read where they are asked about; until then half of one is no mistake.
    wish_form = WishForm(typed) if act in (QUOTE, MORE) else WishForm(initial=typed.dict())
    valid, looked_for = form.is_valid(), NOTHING
    if valid and act == SPEND and name_form.is_valid():
        release = _ask(request, dataset, form, name_form)
        if release is not None:
            return redirect("release", release_id=release.pk)
    if valid and wish_form.is_valid():
        form, wish_form, looked_for = with_epsilon(dataset, form, wish_form)
    # Refused by the ledger: the quote says how much is missing. Refused for a field: there is none.
    quotable = valid and act not in (ADD, *FOLDS) and not wish_form.errors
    quote = None
    if quotable and not set(form.errors) - {NON_FIELD_ERRORS}:
        quote = _quote(request, dataset, form)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "form": form,
        "gathered": form.gathered,
        "title": form.entries[0].title if form.gathering else "New release",
        "kinds": _kinds(dataset, form),
        "open": _open(typed, act, form, wish_form),
        "tells_more": act == MORE,
        "may_upload": may(request.user, dataset, Act.UPLOAD),
        "quote": quote,
        "looked_for": looked_for,
        "example": _example(dataset, form) if quote else "",
        "spend_at": request.path,
        "name_form": name_form,
        "wish_form": wish_form,
        "refused": _refusals(form, wish_form),
        "typed": [*form.typed(), *form.typed_start, ("act", SPEND)] if quote else [],
        "key": uuid.uuid4(),
        "version": queries.current_version(dataset),
        "slot": slots.length(dataset).total_seconds(),
        "budget": queries.budget(dataset),
        "alerts": alerts.alerts_of(dataset, request.user),
        "bounds": ",".join(map(repr, region_of(dataset))),
        "region": box_words(dict(zip(EDGES, region_of(dataset), strict=True))),
    }
    status = 200 if not (form.errors or wish_form.errors or name_form.errors) else 409 if quote else 422
    template = "releases/live.html" if LIVE in typed else "releases/new.html"
    return render(request, template, context, status=status)


def _act(request: PersonRequest) -> str:
    """Returns the form's act; empty where there is no answer yet."""
    if request.method == "POST":
        return request.POST.get("act", SPEND)
    if "mechanism" not in request.GET:
        return ""
    act = request.GET.get("act", "")
    return ADD if AGAIN in request.GET else act if act in (MORE, *FOLDS) else QUOTE


def _form(
    request: PersonRequest, dataset: Dataset, entries: Sequence[AnyEntry], act: str, typed: QueryDict
) -> ReleaseForm:
    answers = Answers(trusted=typed.get("trusted", ""), protects=typed.get("protects", ""))
    # Another mechanism was chosen: the form has no field yet of what that one asks about.
    completed = (
        () if act == SPEND else ("epsilon", "delta", "guide", *(("resolution",) if LIVE in typed else ()))
    )
    data, files = (typed, request.FILES) if act else (None, None)
    return ReleaseForm(
        dataset, entries, data, files, answers, kind=typed.get("kind", ""), completed=completed
    )


def _kinds(dataset: Dataset, form: ReleaseForm) -> list[dict[str, Any]]:
    """Lists what can be asked about in a dataset, each at its own address."""
    new = reverse("release-new", args=[dataset.slug])
    offered = {entry.kind for entry in readings.offered(dataset)}
    current = form.selected_mechanism.entry.kind if form.selected_mechanism else ""
    cards = (
        ("heatmap", "Map", "where people are", new),
        ("centroid", "Point", "the middle of all", f"{new}?kind=centroid"),
        ("zones", "Zones", "people in areas", reverse("release-zones", args=[dataset.slug])),
        ("distances", "Distances", "people to places", reverse("release-distances", args=[dataset.slug])),
    )
    return [
        {"kind": kind, "title": title, "about": about, "address": address, "is_current": kind == current}
        for kind, title, about, address in cards
        if kind in offered
    ]


def _open(typed: QueryDict, act: str, form: ReleaseForm, wish_form: WishForm) -> list[str]:
    """Lists what of the form is open beyond its steps."""
    is_needed = {
        PART: form.asks_for_a_slice,
        METHOD: form.selected_mechanism is None or form.answers.any or "trusted" in typed,
        PROTECT: wish_form.is_used,
    }
    folds = [fold for fold in FOLDS if fold != METHOD or form.gathering is None]
    return [fold for fold in folds if act == fold or fold in typed.getlist("open") or is_needed[fold]]


def _ask(request: PersonRequest, dataset: Dataset, form: ReleaseForm, name_form: NameForm) -> Release | None:
    """Asks for the release; None when it was refused, and the form says why."""
    key = request.POST.get("key", "")[:120] or None
    label = name_form.label()
    try:
        return lifecycle.request_release(
            request.user, dataset, form.request(), idempotency_key=key, label=label
        )
    except ParameterError as error:
        form.explain(error)
    except (LedgerError, OnHold) as refusal:
        form.add_error(None, f"Nothing was spent: {refusal}.")
    return None


def _quote(request: PersonRequest, dataset: Dataset, form: ReleaseForm) -> QuoteWords | None:
    """Quotes what a question costs; None where it is refused, and the form says why."""
    try:
        return quote_words(request.user, dataset, form.request(), is_start_proposed=form.start.is_proposed)
    except ParameterError as error:
        form.explain(error)
        return None


def _example(dataset: Dataset, form: ReleaseForm) -> str:
    """Returns the address of a picture of made-up people, blurred as much; empty where there is none."""
    question = {name: str(form.data.get(name, "")) for name in ("mechanism", "epsilon", "resolution")}
    if example_map.example(dataset, question) is None:
        return ""
    return f"{reverse('release-example', args=[dataset.slug])}?{urlencode(question)}"


def _refusals(form: ReleaseForm, wish_form: WishForm) -> list[tuple[str, str]]:
    """Returns (label, what is wrong) of every field, for those who do not see the form itself."""
    return [
        (str(own[name].label), str(error))
        for own in (form, wish_form)
        for name, errors in own.errors.items()
        if name != NON_FIELD_ERRORS
        for error in errors
    ]
