"""The pages that ask about zones and about places: given, then the exact cost, then the spending."""

import uuid

from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from heatmaps import alerts, plans, queries
from heatmaps.access import Act, dataset_for
from heatmaps.models import Dataset
from heatmaps.slices import EDGES
from heatmaps.views.finding import NOTHING, gathered_with_epsilon
from heatmaps.views.forms.gathering import GatheringForm
from heatmaps.views.forms.places import PlacesForm
from heatmaps.views.forms.wishes import WishForm
from heatmaps.views.forms.zones import ZonesForm
from heatmaps.views.new_release import ask, quote_words
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.parts import box_words
from mechanisms import catalogue
from mechanisms.guarantee import Relation

ADD, QUOTE, SPEND = "add", "quote", "spend"  # what a POST is for


@require_http_methods(["GET", "HEAD", "POST"])
def new_zones(request: PersonRequest, slug: str) -> HttpResponse:
    """Shares in zones."""
    return _page(request, slug, ZonesForm)


@require_http_methods(["GET", "HEAD", "POST"])
def new_distances(request: PersonRequest, slug: str) -> HttpResponse:
    """Mean distances to places."""
    return _page(request, slug, PlacesForm)


def _page(request: PersonRequest, slug: str, asking: type[GatheringForm]) -> HttpResponse:
    """POST adds a zone or place, quotes, or spends, as its `act` says; they are too long for an address."""
    found = dataset_for(request.user, slug, Act.RELEASE)
    entry = catalogue.get(asking.mechanism)
    if Relation(found.relation) not in entry.relations:
        raise Http404("no such releases here")
    act = request.POST.get("act", SPEND) if request.method == "POST" else ""
    form = asking(request.POST, request.FILES) if act else asking(initial=_to_begin_with(found))
    # Sentences are read where they are asked about; until then half of one is no mistake.
    wish_form = WishForm(request.POST) if act not in ("", ADD) else WishForm(initial=request.POST.dict())
    valid, looked_for = bool(act) and form.is_valid(), NOTHING
    if valid and act == SPEND:
        made = ask(request, found, form, form.request())
        if made is not None:
            return redirect("release", release_id=made.pk)
    quotable = valid and wish_form.is_valid()
    if quotable and act == QUOTE:
        form, wish_form, looked_for = gathered_with_epsilon(found, form, wish_form)
    # As on the page of a new release: refused by the ledger, the quote says how much is missing.
    quotable = quotable and not wish_form.errors and not set(form.errors) - {NON_FIELD_ERRORS}
    quote = quote_words(request.user, found, form, form.request()) if quotable else None
    refused = form.errors or wish_form.errors
    context = {
        "section": "datasets",
        "dataset": found,
        "quote": quote,
        "looked_for": looked_for,
        "typed": [*form.typed(), ("act", SPEND)] if quote else [],
        "posted": True,
        "form": form.gathered() if valid and not form.errors else form,
        "wish_form": wish_form,
        "errors": form.non_field_errors() if act else [],
        "gathered": list(form.found) if valid and form.found else [],
        "one": asking.one,
        "spend_at": reverse(asking.address, args=[found.slug]),
        "key": uuid.uuid4(),
        "budget": queries.budget(found),
        "alerts": alerts.alerts_of(found, request.user),
        "bounds": ",".join(map(repr, queries.region_of(found))),
        "entry": entry,
        "region": box_words(dict(zip(EDGES, queries.region_of(found), strict=True))),
    }
    status = 200 if not refused else 409 if quote else 422
    return render(request, asking.template, context, status=status)


def _to_begin_with(found: Dataset) -> dict[str, str]:
    return {"epsilon": plans.usual_epsilon(found)}
