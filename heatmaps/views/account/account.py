"""Shows one's own account and its tokens."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps.models import ApiToken
from heatmaps.people import code_tries, interventions
from heatmaps.people.permissions import may_create_datasets, memberships
from heatmaps.people.tokens import make_token
from heatmaps.views.account.confirming import confirmed
from heatmaps.views.people.forms import TokenForm
from heatmaps.views.requests import PersonRequest

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def account(request: PersonRequest) -> HttpResponse:
    rows = memberships(request.user).select_related("dataset")
    context = {
        "section": "account",
        "tokens": ApiToken.objects.filter(user=request.user).order_by("-created"),
        "memberships": rows.order_by("dataset__title", "dataset__slug"),
        "may_create": may_create_datasets(request.user),
        "events": [*interventions.of(request.user), *code_tries.wrong_codes_of(request.user)],
    }
    return render(request, "people/account.html", context)


@require_http_methods(FORM_METHODS)
@never_cache
@confirmed
def new_token(request: PersonRequest) -> HttpResponse:
    """Makes a token; its secret is in this answer and never again."""
    form = TokenForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        context = {"section": "account", "form": form}
        return render(request, "people/token.html", context, status=422 if form.errors else 200)
    typed = form.cleaned_data
    token, secret = make_token(
        request.user, name=typed["name"], scopes=typed["scopes"], days=typed["days"] or None
    )
    return render(request, "people/new_token.html", {"section": "account", "token": token, "secret": secret})


@require_http_methods(FORM_METHODS)
def revoke_token(request: PersonRequest, token_id: str) -> HttpResponse:
    """Revokes a token of one's own; GET asks once more."""
    token = ApiToken.objects.filter(user=request.user, token_key=token_id).first()
    if token is None:
        raise Http404("no such token")
    if request.method == "POST":
        token.delete()
        messages.success(request, f"The token {token.name} is revoked.")
        return redirect("account")
    return render(request, "people/revoke_token.html", {"section": "account", "token": token})
