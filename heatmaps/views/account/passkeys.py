"""Adds, names and removes passkeys, and signs people in by them."""

from typing import Any, Final

from allauth.mfa.webauthn import views
from allauth.mfa.webauthn.internal import auth
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps.http.rate_limits import View, limited_attempts, limited_visits
from heatmaps.people import passkeys
from heatmaps.people.refusals import MemberError
from heatmaps.views.account.forms.passkeys import AloneForm, NewNameForm, PasskeyForm
from heatmaps.views.requests import PersonRequest

FORM_METHODS: Final = ["GET", "HEAD", "POST"]


@never_cache
@require_safe
def listed(request: PersonRequest) -> HttpResponse:
    rows = [row.wrap() for row in passkeys.passkeys_of(request.user)]
    context = {"section": "account", "passkeys": rows, "why_none": passkeys.why_none(request)}
    return render(request, "mfa/webauthn/authenticator_list.html", context)


class Add(views.AddWebAuthnView):  # type: ignore[misc]  # allauth carries no types
    """Adds a passkey that can sign in by itself."""

    def get_form_class(self) -> type[PasskeyForm]:
        return PasskeyForm

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        why = passkeys.why_none(self.request)
        options = None if why else auth.begin_registration(self.request.user, passwordless=True)
        # Not allauth's: it would begin another registration, of a passkey that cannot sign in by itself.
        context: dict[str, Any] = super(views.AddWebAuthnView, self).get_context_data(**more)
        return context | {"section": "account", "why_none": why, "options": options}

    def form_valid(self, form: PasskeyForm) -> HttpResponse:
        answer: HttpResponse = super().form_valid(form)
        form.end_tokens()
        return answer

    def get_success_url(self) -> str:
        made_codes = self.did_generate_recovery_codes
        return reverse("mfa_view_recovery_codes" if made_codes else "mfa_list_webauthn")


class Rename(views.EditWebAuthnView):  # type: ignore[misc]  # allauth carries no types
    def get_form_class(self) -> type[NewNameForm]:
        return NewNameForm


class Remove(views.RemoveWebAuthnView):  # type: ignore[misc]  # allauth carries no types
    """Removes a passkey; GET asks once more."""

    success_url = reverse_lazy("mfa_list_webauthn")

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                User.objects.select_for_update().get(pk=self.object.user_id)
                passkeys.require_removable(self.object)
                answer: HttpResponse = super().form_valid(form)
        except MemberError as refusal:
            answer = self.render_to_response(self.get_context_data(refusal=refusal), status=409)
        return answer


class SignIn(views.LoginWebAuthnView):  # type: ignore[misc]  # allauth carries no types
    """Answers GET with what a browser needs to ask for a passkey, as JSON; POST signs in by it."""

    def get(self, request: HttpRequest, *_arguments: Any, **_named: Any) -> HttpResponse:
        if why := passkeys.why_none(request):
            raise PermissionDenied(why)
        return JsonResponse({"request_options": auth.begin_authentication(user=None)})

    def get_form_class(self) -> type[AloneForm]:
        return AloneForm


class Confirm(views.ReauthenticateWebAuthnView):  # type: ignore[misc]  # allauth carries no types
    """Lets somebody who is signed in show again who it is."""

    def form_invalid(self, form: Any) -> HttpResponse:
        answer: HttpResponse = self.render_to_response(self.get_context_data(form=form), status=422)
        return answer


def _page(view: View) -> View:
    return never_cache(require_http_methods(FORM_METHODS)(view))


add = _page(Add.as_view())
rename = _page(Rename.as_view())
remove = _page(Remove.as_view())
sign_in = _page(limited_visits(limited_attempts(SignIn.as_view())))
confirm = _page(limited_attempts(Confirm.as_view()))
