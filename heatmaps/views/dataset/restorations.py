"""Asks a steward, after a restore, who is still a member and whether all who opted out are left out."""

import json

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import queries
from heatmaps.ingest import restorations
from heatmaps.ledger.transitions.moves import RESTORED
from heatmaps.models import Event
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.views.dataset.forms.restoration import RestorationForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted


@require_http_methods(["GET", "HEAD", "POST"])
def restoration(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.CONFIRM_RESTORATION)
    latest = restorations.latest(dataset)
    if latest is None or latest.confirmed_at is not None:
        raise Http404("nothing waits to be confirmed")
    form = RestorationForm(
        request.POST if request.method == "POST" else None,
        other_members=restorations.other_members(request.user, dataset),
        asks_opt_outs=restorations.asks_opt_outs(latest),
    )

    def confirm() -> None:
        restorations.confirm(
            request.user,
            dataset,
            members_kept=form.accounts_kept,
            opt_outs_entered=form.cleaned_data.get("opt_outs_entered", False),
        )

    if submitted(request, form, confirm):
        messages.success(request, "Confirmed: members see this dataset again, and questions can be asked.")
        return redirect("people", slug=dataset.slug)
    event = Event.objects.filter(dataset=dataset, kind=RESTORED).latest("sequence")
    context = {
        "section": "datasets",
        "dataset": dataset,
        "restoration": latest,
        "reason": json.loads(event.after)["reason"],
        "charges": [
            (row.kind.label, queries.amount_text(row.amount, row.kind))
            for row in restorations.charges_of(latest)
        ],
        "form": form,
    }
    return render(request, "dataset/restoration.html", context, status=422 if form.errors else 200)
