"""Addresses of the tests' provider, and what it claims of people: imported by its process alone."""

import json

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider import urls
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.views import ConnectDiscoveryInfoView

from tests.services.provider import CLAIMS, METADATA


def claims_of(name):
    path = settings.DATABASES["default"]["NAME"].with_name(CLAIMS)
    told = json.loads(path.read_text()) if path.exists() else {}
    return told.get(name, {})


def discovery(request):
    usual = json.loads(ConnectDiscoveryInfoView.as_view()(request).content)
    return JsonResponse(usual | claims_of(METADATA))


class Talkative(OAuth2Validator):
    oidc_claim_scope = None  # says what it likes, whatever was asked for

    def get_oidc_claims(self, token, token_handler, request):
        usual = {
            "sub": f"number-{request.user.pk}",
            "preferred_username": request.user.username,
            "email": f"{request.user.username}@example.edu",
            "email_verified": True,
        }
        return {name: value for name, value in (usual | self._set(request)).items() if value is not None}

    def get_id_token_dictionary(self, token, token_handler, request):
        claims, expires = super().get_id_token_dictionary(token, token_handler, request)
        return {
            name: value for name, value in (claims | self._set(request)).items() if value is not None
        }, expires

    def get_userinfo_claims(self, request):
        return super().get_userinfo_claims(request) | self._set(request).get("userinfo", {})

    @staticmethod
    def _set(request):
        return claims_of(request.user.username)


urlpatterns = [
    path("sign-in/", LoginView.as_view()),
    path("o/.well-known/openid-configuration", discovery),
    path("o/", include((urls.base_urlpatterns + urls.oidc_urlpatterns, "oauth2_provider"))),
]
