"""The page that asks for shares in zones: drawn or pasted, then the exact cost, then the spending."""

import uuid

from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from heatmaps import alerts, queries, releases
from heatmaps.access import Act, dataset_for
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Dataset, Release
from heatmaps.releases import ReleaseRequest
from heatmaps.views.finding import NOTHING
from heatmaps.views.forms.zones import MECHANISM, ZonesForm
from heatmaps.views.new_release import quote_words
from heatmaps.views.requests import PersonRequest
from mechanisms import catalogue
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation

ADD, QUOTE, SPEND = "add", "quote", "spend"  # what a POST is for


@require_http_methods(["GET", "HEAD", "POST"])
def new_zones(request: PersonRequest, slug: str) -> HttpResponse:
    """POST adds a rectangle, quotes, or spends, as its `act` says; zones are too long for an address."""
    found = dataset_for(request.user, slug, Act.RELEASE)
    if Relation(found.relation) not in catalogue.get(MECHANISM).relations:
        raise Http404("no zones here")
    act = request.POST.get("act", SPEND) if request.method == "POST" else ""
    form = ZonesForm(request.POST, request.FILES) if act else ZonesForm()
    valid = bool(act) and form.is_valid()
    if valid and act == SPEND:
        made = _ask(request, found, form)
        if made is not None:
            return redirect("release", release_id=made.pk)
    quotable = valid and act != ADD and not set(form.errors) - {NON_FIELD_ERRORS}
    quote = quote_words(request.user, found, form, form.request()) if quotable else None
    status = 200 if not form.errors else 409 if quote else 422
    context = {
        "section": "datasets",
        "dataset": found,
        "quote": quote,
        "looked_for": NOTHING,
        "typed": [*form.typed(), ("act", SPEND)] if quote else [],
        "form": form.gathered() if valid and not form.errors else form,
        "errors": form.non_field_errors() if act else [],
        "zones": list(form.found) if valid and form.found else [],
        "spend_at": reverse("release-zones", args=[found.slug]),
        "key": uuid.uuid4(),
        "budget": queries.budget(found),
        "alerts": alerts.alerts_of(found, request.user),
        "bounds": ",".join(map(repr, queries.region_of(found))),
        "entry": catalogue.get(MECHANISM),
    }
    return render(request, "releases/new_zones.html", context, status=status)


def _ask(request: PersonRequest, found: Dataset, form: ZonesForm) -> Release | None:
    """The release; None when it was refused, and the form says why."""
    asked: ReleaseRequest = form.request()
    key = request.POST.get("key", "")[:120] or None
    try:
        return releases.request_release(request.user, found, asked, idempotency_key=key)
    except ParameterError as error:
        form.explain(error)
    except LedgerError as refusal:
        form.add_error(None, f"Nothing was spent: {refusal}.")
    return None
