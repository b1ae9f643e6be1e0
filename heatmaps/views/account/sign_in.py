"""Shows allauth's pages of sign-in, second factors and passwords, counted and cached nowhere."""

from functools import wraps
from math import ceil
from typing import Any, Final

from allauth.account import views as account_views
from allauth.account.models import EmailConfirmationHMAC
from allauth.account.stages import LoginStageController
from allauth.mfa.base import views as mfa_views
from allauth.mfa.recovery_codes import views as recovery_views
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.totp import views as totp_views
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from heatmaps.http import attempt_limits
from heatmaps.http.rate_limits import View, limited_sign_in, limited_visits
from heatmaps.people import password_links
from heatmaps.views.account.confirming import confirmed
from heatmaps.views.account.forms.sign_in import NewAppForm
from heatmaps.views.people.forms import NewPasswordForm

FORM_METHODS: Final = ["GET", "HEAD", "POST"]
# Mails to confirm an address, that one account has sent.
MAILS: Final = "confirming_mails"
MOST_MAILS: Final = 5
MAILS_SECONDS: Final = 3600


def _page(view: View) -> View:
    # Kept by no cache. Django's form views would take PUT, too, which nobody counts.
    return never_cache(require_http_methods(FORM_METHODS)(view))


def _waiting_name(request: HttpRequest) -> str:
    """Returns the name of the person whose password was right, where a code is still to come."""
    stage = LoginStageController.enter(request, AuthenticateStage.key)
    return "" if stage is None else str(stage.login.user.get_username())


def _own_name(request: HttpRequest) -> str:
    return request.user.get_username()


class SignOut(account_views.LogoutView):  # type: ignore[misc]  # allauth carries no types
    http_method_names = ["post", "options"]


sign_in = _page(limited_sign_in(account_views.login))
sign_out: Final = SignOut.as_view()
code = _page(limited_sign_in(mfa_views.authenticate, _waiting_name))
confirm = _page(limited_sign_in(account_views.reauthenticate, _own_name))
confirm_by_code = _page(limited_sign_in(mfa_views.reauthenticate, _own_name))
_change_password = limited_sign_in(account_views.password_change, _own_name)
second_factor = _page(mfa_views.index)
remove_app = _page(totp_views.deactivate_totp)
recovery_codes = _page(recovery_views.view_recovery_codes)
new_recovery_codes = _page(recovery_views.generate_recovery_codes)


class _NewApp(totp_views.ActivateTOTPView):  # type: ignore[misc]  # allauth carries no types
    def form_valid(self, form: NewAppForm) -> HttpResponse:
        answer: HttpResponse = super().form_valid(form)
        form.end_tokens()
        return answer


_activate_app: Final = _NewApp.as_view()


@_page
def new_app(request: HttpRequest) -> HttpResponseBase:
    """Sets up an authenticator app, once."""
    try:
        answer: HttpResponseBase = _activate_app(request)
    except IntegrityError:  # the form was sent twice at once
        return redirect("mfa_view_recovery_codes")
    return answer


@_page
def password(request: HttpRequest) -> HttpResponseBase:
    """Asks for the present one. Accounts without one get none here: a found session would keep them by it."""
    if not (request.user.is_authenticated and request.user.has_usable_password()):
        return render(request, "account/no_password.html", {"section": "account"})
    return _change_password(request)


def _typed_address(request: HttpRequest) -> str:
    return request.POST.get("email", "")


def _with_mail(view: View) -> View:
    """Makes a page be there only where the server sends mails."""

    @wraps(view)
    def wrapper(*arguments: Any, **named: Any) -> HttpResponseBase:
        if settings.MAIL is None:
            raise Http404("this server sends no mail")
        return view(*arguments, **named)

    return wrapper


forgotten = _page(_with_mail(limited_sign_in(account_views.password_reset, _typed_address)))
forgotten_sent = _page(_with_mail(account_views.password_reset_done))


def _change_address(request: HttpRequest) -> HttpResponseBase:
    """Counts what sends a mail: its reader may be anybody."""
    if request.method == "POST" and request.POST.keys() & {"action_add", "action_send"}:
        wait = attempt_limits.seconds_to_wait(
            MAILS, str(request.user.pk), most=MOST_MAILS, seconds=MAILS_SECONDS
        )
        if wait:
            minutes = ceil(wait / 60)
            messages.error(request, f"You had {MOST_MAILS} mails sent. Try again in {minutes} minutes.")
            return redirect("account_email")
    try:
        answer: HttpResponseBase = account_views.email(request)
    except IntegrityError:  # the form was sent twice at once
        return redirect("account_email")
    return answer


mail_address = _page(_with_mail(confirmed(_change_address)))


@_page
@_with_mail
def confirm_address(request: HttpRequest, key: str) -> HttpResponseBase:
    """Confirms an address by the link of a mail, signed in to the account that it is for. Errors: Http404."""
    confirmation = EmailConfirmationHMAC.from_key(key)
    if confirmation is None or confirmation.email_address.user_id != request.user.pk:
        return render(request, "account/no_address.html", status=404)
    answer: HttpResponseBase = account_views.confirm_email(request, key=key)
    return answer


@_page
@login_not_required
@limited_visits
def new_password(request: HttpRequest, secret: str) -> HttpResponse:
    """Sets a password by a link. It signs nobody in: a second factor may be to come.

    allauth would keep the secret in the session, in clear; here it stays in the address.
    """
    try:
        form = NewPasswordForm(password_links.account_of(secret), request.POST or None)
        if request.method == "POST" and form.is_valid():
            password_links.choose(secret, form.cleaned_data["new_password1"])
            messages.success(request, "Your password is changed. Sign in with it.")
            return redirect("account_login")
    except password_links.LinkDead:
        return render(request, "people/no_link.html", status=404)
    context = {"form": form, "account": form.user}
    return render(request, "people/new_password.html", context, status=422 if form.errors else 200)


@login_not_required
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Sends to the one door there is, and back: the administration has none of its own.

    Errors: PermissionDenied for who is in already without being an administrator.
    """
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("admin:index")
    if request.user.is_authenticated:
        if not (request.user.is_active and request.user.is_staff):
            raise PermissionDenied("only administrators of this server can do this")
        return redirect(target)
    return redirect(f"{reverse('account_login')}?{urlencode({REDIRECT_FIELD_NAME: target})}")


def admin_password(_request: HttpRequest) -> HttpResponse:
    return redirect("account_change_password")
