"""Shows one's own account and its tokens."""

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from heatmaps.models import ApiToken, Membership
from heatmaps.people.permissions import may_create_datasets
from heatmaps.views.forms.people import TokenForm
from heatmaps.views.requests import PersonRequest

FORM_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def account(request: PersonRequest) -> HttpResponse:
    return _page(request, TokenForm())


@require_POST
@never_cache
def new_token(request: PersonRequest) -> HttpResponse:
    """Its secret is in this answer and never again."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    typed = form.cleaned_data
    made, secret = ApiToken.objects.create(
        user=request.user,
        name=typed["name"],
        scopes=sorted(typed["scopes"]),
        expiry=timedelta(days=typed["days"]) if typed["days"] else None,
    )
    return render(request, "people/new_token.html", {"section": "account", "token": made, "secret": secret})


@require_http_methods(FORM_METHODS)
def revoke_token(request: PersonRequest, token_id: str) -> HttpResponse:
    """GET asks once more."""
    found = ApiToken.objects.filter(user=request.user, token_key=token_id).first()
    if found is None:
        raise Http404("no such token")
    if request.method == "POST":
        found.delete()
        messages.success(request, f"The token {found.name} is revoked.")
        return redirect("account")
    return render(request, "people/revoke_token.html", {"section": "account", "token": found})


def _page(request: PersonRequest, form: TokenForm, *, status: int = 200) -> HttpResponse:
    context = {
        "section": "account",
        "form": form,
        "tokens": ApiToken.objects.filter(user=request.user).order_by("-created"),
        "memberships": Membership.objects.filter(user=request.user)
        .select_related("dataset")
        .order_by("dataset__title", "dataset__slug"),
        "may_create": may_create_datasets(request.user),
    }
    return render(request, "people/account.html", context, status=status)
