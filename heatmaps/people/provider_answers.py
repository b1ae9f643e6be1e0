"""Says where somebody goes on whom the provider named."""

from typing import Any

import structlog
from allauth.account.internal.flows.login import record_authentication
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from heatmaps.people import provider_people
from heatmaps.people.provider_requests import ProviderSession, the_provider
from heatmaps.people.sign_in_provider import AGAIN

_log = structlog.stdlib.get_logger(__name__)


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Signs in whoever is linked; accounts and links are made on pages of ours alone."""

    def get_requests_session(self) -> ProviderSession:
        return ProviderSession(the_provider().hosts)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Decides who is signed in. Errors: ImmediateHttpResponse, with where to go."""
        process = sociallogin.state.get("process")
        account = (sociallogin.state.get("data") or {}).get("account")
        uid, name = sociallogin.account.uid, sociallogin.user.username
        if process == AuthProcess.LOGIN and request.user.is_authenticated:
            raise ImmediateHttpResponse(redirect("home"))
        if process == AuthProcess.LOGIN and sociallogin.is_existing:
            return
        if process == AuthProcess.LOGIN:
            provider_people.remember(request, uid, name)
            raise ImmediateHttpResponse(redirect("sign-in-provider-name"))
        if request.user.pk is None or request.user.pk != account:
            raise ImmediateHttpResponse(provider_refused(request, "other", status=400))
        if process == AuthProcess.CONNECT:
            provider_people.remember(request, uid, name, account=account)
            raise ImmediateHttpResponse(redirect("account-provider-confirm"))
        raise ImmediateHttpResponse(_confirmed(request, sociallogin))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Answers a sign-in that failed.

        Errors: ImmediateHttpResponse, with words; no word of the provider's is shown.
        """
        if exception is not None:
            _log.warning("sign_in_provider.failed", cause=exception)
            raise ImmediateHttpResponse(provider_refused(request, "failed", status=502))
        why = "cancelled" if error == AuthError.CANCELLED else "old" if _is_old(extra_context) else "failed"
        raise ImmediateHttpResponse(provider_refused(request, why, status=400))


def provider_refused(request: HttpRequest, why: str, *, status: int) -> HttpResponse:
    """Returns words for whoever comes back from the provider without being signed in.

    `why`: a part of the page.
    """
    context = {"why": why, "provider": settings.SIGN_IN_PROVIDER}
    return render(request, "account/provider_refused.html", context, status=status)


def _confirmed(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    """Records that somebody who is signed in said again at the provider who it is."""
    if sociallogin.state.get("process") != AGAIN or sociallogin.user.pk != request.user.pk:
        return provider_refused(request, "other", status=400)
    identity = {"provider": sociallogin.account.provider, "uid": sociallogin.account.uid}
    record_authentication(request, request.user, "socialaccount", reauthenticated=True, **identity)
    return redirect(sociallogin.state.get("next") or "account")


def _is_old(extra_context: dict[str, Any] | None) -> bool:
    """Tells whether an answer belongs to no way that began here."""
    return (extra_context or {}).get("state") is None
