"""Shows the page that changes one limit."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps import queries
from heatmaps.ledger.errors import InvalidLimit, LedgerError, LimitMoved
from heatmaps.ledger.transitions import change_limit
from heatmaps.models import Account
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.views.budget.forms.limit import LimitForm
from heatmaps.views.requests import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def limit_change(request: PersonRequest, slug: str, kind: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
    account = Account.objects.filter(dataset=dataset, kind=kind).first()
    if account is None:
        raise Http404("no such account")
    form = LimitForm(account, request.POST or None)
    if request.method == "POST" and form.is_valid() and _change(request, form):
        messages.success(request, f"The limit of {account.get_kind_display()} is changed.")
        return redirect("ledger", slug=dataset.slug)
    lines = [line for line in queries.budget(dataset) if line.kind == account.kind]
    context = {"section": "datasets", "dataset": dataset, "account": account, "form": form, "budget": lines}
    return render(request, "budget/limit.html", context, status=422 if form.errors else 200)


def _change(request: PersonRequest, form: LimitForm) -> bool:
    """Tells whether the limit was changed; False when the ledger refused: the form then says why."""
    typed = form.cleaned_data
    try:
        change_limit(
            form.account,
            typed["limit"],
            actor=request.user,
            reason=typed["reason"],
            expected=typed["seen"],
        )
    except InvalidLimit as refusal:
        form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
    except LimitMoved as refusal:
        form.add_error("limit", f"{refusal}. Reload this page to see it before you change it.")
    except LedgerError as refusal:
        form.add_error(None, str(refusal))
    return form.is_valid()
