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
from heatmaps.views.budget.forms.allowance import AllowanceForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceLine:
    account: str
    person: str
    allowance: str
    follows_default: bool  # everybody's allowance
    used: str
    left: str
    percent: str  # taken of the allowance, for a bar


@require_http_methods(["GET", "HEAD", "POST"])
def allowances_page(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    may_change = may(request.user, dataset, Act.CHANGE_LIMIT)
    if request.method == "POST":
        require(request.user, dataset, Act.CHANGE_LIMIT)
    form = AllowanceForm(dataset, request.POST or None)

    def change() -> None:
        allowances.change(request.user, dataset, **form.arguments())

    if submitted(request, form, change, {"allowance": "amount"}):
        messages.success(request, "The allowance is changed, and the ledger says why.")
        return redirect("allowances", slug=dataset.slug)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "lines": [_line(row) for row in allowances.allowances_of(dataset, request.user)],
        "form": form if may_change else None,
        "sees_all": may(request.user, dataset, Act.READ_LEDGER),
    }
    return render(request, "budget/allowances.html", context, status=422 if form.errors else 200)


def _line(row: Allowed) -> AllowanceLine:
    limit = queries.amount_text(row.limit, row.kind, missing="as much as the limit leaves")
    everybody = row.person is None
    return AllowanceLine(
        account=row.kind.label,
        person="" if row.person is None else row.person.get_username(),
        allowance=limit,
        follows_default=row.follows_default,
        used="" if everybody else queries.amount_text(row.committed, row.kind),
        left="" if everybody else queries.amount_text(row.available, row.kind, missing=queries.NO_LIMIT),
        percent="" if everybody or row.limit is None else queries.percent_of(row.committed, row.limit),
    )
