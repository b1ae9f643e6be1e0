"""Reads what the OpenID Connect provider says of somebody, and believes no more than needed.

Of all claims two are used: `sub`, with the issuer, says which account of ours; `preferred_username` is
proposed to a new person as a name. No claim gives a role, none is stored, and no address is asked for.
"""

import hashlib
import json
import secrets
import time
from typing import Any, Final

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialToken
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import build_absolute_uri
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from heatmaps.people.provider_requests import the_provider

SCOPE: Final = "openid profile"  # in this order: some providers tell nobody apart in another
# Signatures that the provider alone can make: none by a secret that both know.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
AGAIN: Final = "again"  # a way to the provider: somebody who is signed in says once more who it is
LONGEST_SUBJECT: Final = 255  # OpenID Connect Core, section 2
CLOCKS_DIFFER_SECONDS: Final = 60
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_ASKED_IF_THERE: Final = "userinfo_endpoint"
_NAMES_ISSUER: Final = "authorization_response_iss_parameter_supported"
# Of JSON of another shape, or deeper than Python reads.
_UNREADABLE: Final = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

Json = dict[str, Any]


class ClaimsAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    """Asks the provider. Errors: ProviderException, OAuth2Error, requests.RequestException."""

    state: Json = {}

    @property
    def openid_config(self) -> Json:
        """Returns the provider's own facts, if it is the issuer that settings name."""
        if not hasattr(self, "_openid_config"):
            self._openid_config = _checked(_json_at(self.get_provider().server_url))
        return self._openid_config

    def get_callback_url(self, request: HttpRequest, app: object) -> str:
        return str(build_absolute_uri(request, reverse("sign-in-provider-answer")))

    def get_access_token_data(self, *arguments: Any, **named: Any) -> Json:
        """Sends the code of the answer, if it comes from the issuer whose code it is to be (RFC 9207)."""
        issuers = self.request.GET.getlist("iss")
        if issuers != [the_provider().issuer] and (issuers or self.openid_config.get(_NAMES_ISSUER) is True):
            raise ProviderException("the answer does not come from the provider")
        try:
            return dict(super().get_access_token_data(*arguments, **named))
        except _UNREADABLE as error:
            raise ProviderException("the provider's tokens cannot be read") from error

    def parse_token(self, data: Json) -> SocialToken:
        """Parses a token, used once, below, and never stored."""
        if not isinstance(data["access_token"], str):
            raise ProviderException("the provider's access token is not a text")
        return SocialToken(token=data["access_token"])

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **named: Any) -> Any:
        """Joins what a signed token says and what the provider says of the same person when asked with it."""
        claims = self._verified(named["response"].get("id_token"), app.client_id)
        if not secrets.compare_digest(str(claims.get("nonce", "")), str(self.state.get("nonce") or object())):
            raise ProviderException("the token answers another sign-in")
        if not self._is_fresh(claims.get("auth_time")):
            raise ProviderException("the provider did not ask again who somebody is")
        if _ASKED_IF_THERE in self.openid_config:
            profile = _json_at(self.profile_url, headers={"Authorization": f"Bearer {token.token}"})
            if profile.get("sub") != claims["sub"]:
                raise ProviderException("the provider speaks of two people")
            claims = profile | claims
        return self.get_provider().sociallogin_from_response(request, claims)

    def _is_fresh(self, auth_time: object) -> bool:
        asked_at = self.state.get("asked_at")
        if asked_at is None:
            return True
        return isinstance(auth_time, int) and auth_time >= asked_at - CLOCKS_DIFFER_SECONDS

    def _verified(self, token: object, client_id: str) -> Json:
        try:
            claims: Json = jwt.decode(
                str(token),
                _key_of(str(token), _json_at(self.openid_config["jwks_uri"])),
                algorithms=list(ALGORITHMS),
                audience=client_id,
                issuer=the_provider().issuer,
                leeway=CLOCKS_DIFFER_SECONDS,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (jwt.PyJWTError, *_UNREADABLE) as error:
            raise ProviderException("the provider's token is not valid") from error
        is_alone = claims["aud"] in (client_id, [client_id])
        if claims.get("azp", client_id if is_alone else None) != client_id:
            raise ProviderException("the provider's token is for another program")
        return claims


class Provider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth has no types
    """Stands for the one provider that settings name."""

    oauth2_adapter_class = ClaimsAdapter

    def redirect(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: Json | None = None,
        **_: object,
    ) -> HttpResponse:
        """Sends somebody to the provider; nothing in the address of a request changes what it is asked."""
        nonce = secrets.token_urlsafe(24)
        login_options = {"prompt": "login", "max_age": "0"} if process == AGAIN else {}
        options: Json = {"scope": [SCOPE], "auth_params": {"nonce": nonce} | login_options, "nonce": nonce}
        if process == AGAIN:
            options["asked_at"] = int(time.time())
        answer: HttpResponse = super().redirect(request, process, next_url=next_url, data=data, **options)
        return answer

    def extract_uid(self, data: Json) -> str:
        """Returns the SHA-256 of issuer and subject together. Errors: ProviderException."""
        subject = data.get("sub")
        if not isinstance(subject, str) or not subject.isascii() or not 0 < len(subject) <= LONGEST_SUBJECT:
            raise ProviderException("the provider does not say who somebody is")
        identity = json.dumps([the_provider().issuer, subject])
        return hashlib.sha256(identity.encode()).hexdigest()

    def extract_extra_data(self, data: Json) -> Json:
        return {}

    def extract_email_addresses(self, data: Json) -> list[object]:
        return []

    def extract_common_fields(self, data: Json) -> Json:
        return {"username": proposed_name(data.get("preferred_username"))}


def proposed_name(claim: object) -> str:
    """Returns a claim as a name that somebody may take here; "" where it is none, or an e-mail address."""
    if not isinstance(claim, str) or "@" in claim:
        return ""
    try:
        return str(User._meta.get_field("username").clean(claim, None))
    except (ValidationError, ValueError):
        return ""


def _json_at(address: str, **options: Any) -> Json:
    """Fetches the JSON object at an address. Errors: ProviderException, requests.RequestException."""
    with get_adapter().get_requests_session() as session:
        response = session.get(address, **options)
        response.raise_for_status()
        try:
            document = response.json()
        except RecursionError as error:
            raise ProviderException("the provider's answer cannot be read") from error
    if not isinstance(document, dict):
        raise ProviderException("the provider does not answer with a JSON object")
    return document


def _checked(configuration: Json) -> Json:
    """Checks what a provider says of itself. Errors: ProviderException.

    Which hosts may be asked, `provider_requests` checks.
    """
    if configuration.get("issuer") != the_provider().issuer:
        raise ProviderException("the provider calls itself another issuer than HAZEMAP_OIDC_ISSUER")
    if not all(
        isinstance(configuration.get(name), str)
        for name in {*_ENDPOINTS, *configuration.keys() & {_ASKED_IF_THERE}}
    ):
        raise ProviderException("the provider does not say where it is asked")
    if not configuration["authorization_endpoint"].startswith(
        tuple(f"{host}/" for host in the_provider().hosts)
    ):
        raise ProviderException("the provider's page is at a host that HAZEMAP_OIDC_HOSTS does not list")
    if "?" in configuration["authorization_endpoint"] or "#" in configuration["authorization_endpoint"]:
        raise ProviderException("the address of the provider's page has parameters")
    methods = configuration.get("token_endpoint_auth_methods_supported")
    # Discovery, section 3: what is not said is client_secret_basic.
    configuration["token_endpoint_auth_methods_supported"] = (
        methods if isinstance(methods, list) else ["client_secret_basic"]
    )
    return configuration


def _key_of(token: str, keys: Json) -> jwt.PyJWK:
    """Returns the key that a token names, or the only one there is."""
    name = jwt.get_unverified_header(token).get("kid")
    candidates = [key for key in jwt.PyJWKSet.from_dict(keys).keys if name is None or key.key_id == name]
    if len(candidates) != 1:
        raise jwt.InvalidTokenError("no such key")
    return candidates[0]
