"""The ledger of a dataset, and the page that changes one of its limits."""

from typing import Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps import queries
from heatmaps.access import Act, dataset_for, may
from heatmaps.ledger import verification
from heatmaps.ledger.errors import InvalidLimit, LedgerError, LimitMoved
from heatmaps.ledger.transitions import change_limit
from heatmaps.models import Account
from heatmaps.views.forms.limit import LimitForm
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.events import event_line

EVENTS_A_PAGE: Final = 25
VERIFIED_UNASKED: Final = 200  # events; longer chains are verified when somebody asks for it


@require_safe
def ledger(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.READ_LEDGER)
    events = page_of(request, queries.events_of(found), "page", size=EVENTS_A_PAGE)
    verify = "verify" in request.GET or events.paginator.count <= VERIFIED_UNASKED
    exact_time = may(request.user, found, Act.SEE_DATA)
    context = {
        "section": "datasets",
        "dataset": found,
        "budget": queries.budget(found),
        "events": events,
        "lines": [event_line(event, exact_time=exact_time) for event in events],
        "report": verification.verify(found) if verify else None,
        "may_change_limits": may(request.user, found, Act.CHANGE_LIMIT),
    }
    return render(request, "ledger/ledger.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def limit_change(request: PersonRequest, slug: str, kind: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
    account = Account.objects.filter(dataset=found, kind=kind).first()
    if account is None:
        raise Http404("no such account")
    form = LimitForm(account, request.POST or None)
    if request.method == "POST" and form.is_valid() and _changed(request, form):
        messages.success(request, f"The limit of {account.get_kind_display()} is changed.")
        return redirect("ledger", slug=found.slug)
    lines = [line for line in queries.budget(found) if line.kind == account.kind]
    context = {"section": "datasets", "dataset": found, "account": account, "form": form, "budget": lines}
    return render(request, "ledger/limit.html", context, status=422 if form.errors else 200)


def _changed(request: PersonRequest, form: LimitForm) -> bool:
    """False when the ledger refused; the form then says why."""
    try:
        change_limit(
            form.account,
            form.units,
            actor=request.user,
            reason=form.cleaned_data["reason"],
            expected=form.seen_units,
        )
    except InvalidLimit as refusal:
        form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
    except LimitMoved as refusal:
        form.add_error("limit", f"{refusal}. Reload this page to see it before you change it.")
    except LedgerError as refusal:
        form.add_error(None, str(refusal))
    return form.is_valid()
