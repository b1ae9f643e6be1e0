"""Signs people in by the OpenID Connect provider, brings new ones in, and links accounts that are here."""

from functools import wraps
from typing import Any, Final

import structlog
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from requests import RequestException

from heatmaps.http.rate_limits import View, limited_attempts
from heatmaps.people import invitations, provider_people
from heatmaps.people.invitations import NoSuchLink
from heatmaps.people.provider_answers import provider_refused
from heatmaps.people.provider_people import ProviderPerson
from heatmaps.people.provider_requests import the_provider
from heatmaps.people.refusals import MemberError
from heatmaps.people.sign_in import sealed, unsealed
from heatmaps.people.sign_in_provider import AGAIN, ClaimsAdapter, Provider
from heatmaps.views.account.confirming import confirmed
from heatmaps.views.account.forms.sign_in import ProviderNameForm
from heatmaps.views.requests import PersonRequest

FORM_METHODS: Final = ["GET", "HEAD", "POST"]
INVITATION: Final = "provider-invitation"
_FAILURES: Final = (OAuth2Error, PermissionDenied, ProviderException, RequestException)

_log = structlog.stdlib.get_logger(__name__)


def with_provider_button(view: View) -> View:
    """Lets a page with a form that leads to the provider send people there: it alone may."""

    @wraps(view)
    def wrapper(*arguments: Any, **named: Any) -> HttpResponseBase:
        answer = view(*arguments, **named)
        if settings.SIGN_IN_PROVIDER is not None:
            vars(answer)["_csp_update"] = {"form-action": list(the_provider().hosts)}
        return answer

    return wrapper


@login_not_required
@never_cache
@require_POST
@limited_attempts
def start(request: HttpRequest) -> HttpResponseBase:
    """Sends people to the provider, and from there back to `answer`; an invitation waits in the session."""
    _provider(request)
    if request.user.is_authenticated:
        return redirect("home")
    request.session.pop(INVITATION, None)
    after = request.POST.get("next", "")
    if secret := request.POST.get("invitation"):
        try:
            invitations.invitation(secret)
        except NoSuchLink:
            return render(request, "people/no_link.html", status=404)
        request.session[INVITATION] = sealed(secret)
        after = reverse("sign-in-provider-invitation")
    return _to_provider(request, "login", next_url=_safe(request, after))


@login_not_required
@never_cache
@require_GET
def answer(request: HttpRequest) -> HttpResponseBase:
    """Receives people whom the provider sends back: `SocialAccountAdapter` says where they go on."""
    _provider(request)
    adapter = ClaimsAdapter(request, the_provider().key)
    end: HttpResponseBase = _Answer.adapter_view(adapter)(request)
    return end


@login_not_required
@never_cache
@require_http_methods(FORM_METHODS)
def name(request: HttpRequest) -> HttpResponseBase:
    """Lets a new person choose a name; whoever has an account already links it on its own page."""
    _provider(request)
    person = provider_people.remembered(request)
    if person is None or request.user.is_authenticated:
        return redirect("home" if request.user.is_authenticated else "account_login")
    try:
        return _choose_name(request, person)
    except NoSuchLink:
        return render(request, "people/no_link.html", status=404)
    except PermissionDenied:
        return provider_refused(request, "unknown", status=403)


@login_not_required
@never_cache
@require_safe
def invited(request: HttpRequest) -> HttpResponse:
    """Leads back to the invitation from which somebody, who has an account, went to the provider."""
    _provider(request)
    secret = _invitation(request)
    request.session.pop(INVITATION, None)
    return redirect("invitation", secret=secret) if secret else redirect("home")


@never_cache
@require_http_methods(FORM_METHODS)
@with_provider_button
@confirmed
def link(request: PersonRequest) -> HttpResponseBase:
    """Says what a link does on GET; POST leads to the provider."""
    _provider(request)
    if provider_people.link_of(request.user) is not None:
        return redirect("account")
    if request.method != "POST":
        return render(request, "account/provider_link.html", _context())
    return limited_attempts(_to_provider)(request, "connect", account=request.user.pk)


@never_cache
@require_http_methods(FORM_METHODS)
@with_provider_button
def again(request: PersonRequest) -> HttpResponseBase:
    """Says on GET why somebody is asked again who it is; POST leads to the provider, which asks."""
    _provider(request)
    after = (request.POST if request.method == "POST" else request.GET).get("next", "")
    if provider_people.link_of(request.user) is None:
        return redirect("account")
    if request.method != "POST":
        return render(request, "account/provider_again.html", _context() | {"next": after})
    safe = _safe(request, after)
    return limited_attempts(_to_provider)(request, AGAIN, next_url=safe, account=request.user.pk)


@never_cache
@require_http_methods(FORM_METHODS)
@confirmed
def confirm(request: PersonRequest) -> HttpResponseBase:
    """Shows whom the provider named on GET; POST links that person to the account."""
    _provider(request)
    person = provider_people.remembered(request)
    if person is None:
        return redirect("account")
    if request.method != "POST":
        return render(request, "account/provider_confirm.html", _context() | {"named": person.name})
    provider_people.forget(request)
    try:
        provider_people.link(request.user, person)
    except MemberError as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    else:
        messages.success(request, f"You can sign in with {the_provider().name} from now on.")
    return redirect("account")


@never_cache
@require_http_methods(FORM_METHODS)
@confirmed
def unlink(request: PersonRequest) -> HttpResponseBase:
    """Removes the link; GET asks once more."""
    _provider(request)
    refusal = None
    if request.method == "POST":
        try:
            provider_people.unlink(request.user)
        except MemberError as error:
            refusal = error
        else:
            messages.success(request, "The link is removed.")
            return redirect("account")
    context = _context() | {"refusal": refusal}
    return render(request, "account/provider_unlink.html", context, status=409 if refusal else 200)


class _Answer(OAuth2CallbackView):  # type: ignore[misc]  # allauth has no types
    """Tells allauth how we ask what was kept of the way to the provider."""

    def _get_state(self, request: HttpRequest, provider: Provider) -> Any:
        state, refusal = super()._get_state(request, provider)
        self.adapter.state = state or {}
        return state, refusal


def _safe(request: HttpRequest, after: str) -> str | None:
    """Returns an address of ours, or None."""
    is_ours = url_has_allowed_host_and_scheme(after, {request.get_host()}, require_https=request.is_secure())
    return after if is_ours else None


def _context() -> dict[str, object]:
    return {"section": "account", "provider": settings.SIGN_IN_PROVIDER}


def _invitation(request: HttpRequest) -> str | None:
    """Returns the secret of the invitation that brought somebody here."""
    sealed_secret = request.session.get(INVITATION)
    return None if sealed_secret is None else unsealed(sealed_secret)


def _to_provider(
    request: HttpRequest, process: str, *, next_url: str | None = None, account: int | None = None
) -> HttpResponseBase:
    try:
        return _provider(request).redirect(request, process, next_url=next_url, data={"account": account})
    except ImmediateHttpResponse as page:
        answer: HttpResponseBase = page.response
        return answer
    except _FAILURES as error:
        _log.warning("sign_in_provider.failed", cause=error)
        return provider_refused(request, "failed", status=502)


def _provider(request: HttpRequest) -> Provider:
    """Returns the provider. Errors: Http404 where there is none."""
    provider: Provider = get_adapter().get_provider(request, the_provider().key)
    return provider


def _choose_name(request: HttpRequest, person: ProviderPerson) -> HttpResponseBase:
    secret = _invitation(request)
    invitation = invitations.invitation(secret) if secret else None
    if not (invitations.may_sign_up(invitation) if invitation else the_provider().sign_up):
        raise PermissionDenied("people come by an invitation")
    form = ProviderNameForm(request.POST or None, initial={"username": person.name})
    if request.method == "POST" and form.is_valid():
        try:
            user = provider_people.join(person, form.cleaned_data["username"], secret)
        except IntegrityError:
            form.say_taken()
        else:
            return _sign_in(request, person, user)
    context = {"form": form, "link": invitation, "provider": settings.SIGN_IN_PROVIDER}
    return render(request, "account/provider_name.html", context, status=422 if form.errors else 200)


def _sign_in(request: HttpRequest, person: ProviderPerson, user: User) -> HttpResponseBase:
    provider_people.forget(request)
    request.session.pop(INVITATION, None)
    record_authentication(request, user, "socialaccount", provider=person.provider, uid=person.uid)
    messages.success(request, "Your account is ready, and you are signed in.")
    inside: HttpResponseBase = perform_login(request, Login(user=user))
    return inside
