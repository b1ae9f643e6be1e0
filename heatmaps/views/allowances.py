"""Shows and changes who may spend how much of a budget."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import queries
from heatmaps.budget import allowances
from heatmaps.budget.allowances import Allowed
from heatmaps.people.permissions import Act, dataset_for, may, require
from heatmaps.views.forms.allowance import AllowanceForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceLine:
    account: str
    person: str
    allowance: str
    follows_default: bool  # everybody's allowance
    taken: str
    left: str
    percent: str  # taken of the allowance, for a bar


@require_http_methods(["GET", "HEAD", "POST"])
def allowances_page(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug)
    may_change = may(request.user, found, Act.CHANGE_LIMIT)
    if request.method == "POST":
        require(request.user, found, Act.CHANGE_LIMIT)
    form = AllowanceForm(found, request.POST or None)

    def change() -> None:
        allowances.change(request.user, found, **form.asked())

    if submitted(request, form, change, {"allowance": "amount"}):
        messages.success(request, "The allowance is changed, and the ledger says why.")
        return redirect("allowances", slug=found.slug)
    context = {
        "section": "datasets",
        "dataset": found,
        "lines": [_line(one) for one in allowances.allowances_of(found, request.user)],
        "form": form if may_change else None,
        "sees_all": may(request.user, found, Act.READ_LEDGER),
    }
    return render(request, "ledger/allowances.html", context, status=422 if form.errors else 200)


def _line(one: Allowed) -> AllowanceLine:
    limit = queries.amount_text(one.limit, one.kind, missing="as much as the limit leaves")
    everybody = one.person is None
    return AllowanceLine(
        account=one.kind.label,
        person="" if one.person is None else one.person.get_username(),
        allowance=limit,
        follows_default=one.follows_default,
        taken="" if everybody else queries.amount_text(one.committed, one.kind),
        left="" if everybody else queries.amount_text(one.available, one.kind, missing=queries.NO_LIMIT),
        percent="" if everybody or one.limit is None else queries.percent_of(one.committed, one.limit),
    )
