"""Who may take how much of a budget, and the change of it."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import allowances, queries
from heatmaps.access import Act, dataset_for, may, require
from heatmaps.allowances import Allowed
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Dataset
from heatmaps.views.forms.allowance import AllowanceForm
from heatmaps.views.forms.shared import explain
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceLine:
    account: str
    person: str
    allowance: str
    taken: str
    left: str
    percent: str  # taken of the allowance, for a bar


@require_http_methods(["GET", "HEAD", "POST"])
def allowances_page(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug)
    may_change = may(request.user, found, Act.CHANGE_LIMIT)
    if request.method == "POST":
        require(request.user, found, Act.CHANGE_LIMIT)
    form = AllowanceForm(found, request.POST or None) if may_change else None
    if form is not None and request.method == "POST" and form.is_valid() and _changed(request, found, form):
        messages.success(request, "The allowance is changed, and the ledger says why.")
        return redirect("allowances", slug=found.slug)
    context = {
        "section": "datasets",
        "dataset": found,
        "lines": [_line(one) for one in allowances.allowances_of(found, request.user)],
        "form": form,
        "sees_all": may(request.user, found, Act.READ_LEDGER),
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "ledger/allowances.html", context, status=status)


def _changed(request: PersonRequest, found: Dataset, form: AllowanceForm) -> bool:
    """False when it was refused; the form then says why."""
    try:
        allowances.change(request.user, found, **form.asked())
    except ParameterError as error:
        explain(form, error, {"allowance": "amount"})
    except LedgerError as refusal:
        form.add_error(None, str(refusal))
    return form.is_valid()


def _line(one: Allowed) -> AllowanceLine:
    limit = queries.amount_text(one.limit, one.kind, missing="as much as the limit leaves")
    everybody = one.person is None
    return AllowanceLine(
        account=one.kind.label,
        person="" if one.person is None else one.person.get_username(),
        allowance=f"{limit} (as everybody)" if one.follows_default else limit,
        taken="" if everybody else queries.amount_text(one.taken, one.kind),
        left="" if everybody else queries.amount_text(one.available, one.kind, missing=queries.NO_LIMIT),
        percent="" if everybody or one.limit is None else queries.percent_of(one.taken, one.limit),
    )
