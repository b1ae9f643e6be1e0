"""Reads which OpenID Connect provider people may sign in with: one, or none."""

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from heatmaps.config import web_addresses

_ALLOWED: Final = (
    "an address such as https://login.example.org/realm: https (http for this machine alone), a host in "
    "lower case without a password, and no ? or #"
)
_NETWORK_LOCATION: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
_PATH: Final = re.compile(r"[A-Za-z0-9._~%/+,:@-]*")
_DISCOVERY: Final = "/.well-known/openid-configuration"
_LONGEST_NAME: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInProvider:
    """Identifies people. `hosts`: origins that this server may ask for it, the issuer's first."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    sign_up: bool  # also without an invitation
    hosts: tuple[str, ...]

    @property
    def key(self) -> str:
        """Returns the key of linked accounts: another one for another issuer, so that nobody is mistaken."""
        return f"oidc-{hashlib.sha256(self.issuer.encode()).hexdigest()[:16]}"


def sign_in_provider() -> SignInProvider | None:
    """Reads `HAZEMAP_OIDC_ISSUER`'s. Errors: RuntimeError naming the variable; OSError for its file."""
    texts = {name: os.environ.get(f"HAZEMAP_OIDC_{name}", "") for name in ("ISSUER", "CLIENT_ID", "NAME")}
    sign_up, secret = _sign_up(), _secret()
    if not texts["ISSUER"]:
        if texts["CLIENT_ID"] or secret:
            raise RuntimeError("HAZEMAP_OIDC_CLIENT_ID and its secret need HAZEMAP_OIDC_ISSUER")
        return None
    origin = _origin(texts["ISSUER"])
    if not (texts["CLIENT_ID"] and secret):
        raise RuntimeError(
            "HAZEMAP_OIDC_ISSUER needs HAZEMAP_OIDC_CLIENT_ID, and HAZEMAP_OIDC_CLIENT_SECRET or "
            "HAZEMAP_OIDC_CLIENT_SECRET_FILE, as the provider gave them to you"
        )
    return SignInProvider(
        issuer=texts["ISSUER"],
        client_id=texts["CLIENT_ID"],
        client_secret=secret,
        name=_name(texts["NAME"] or urlsplit(origin).netloc[:_LONGEST_NAME]),
        sign_up=sign_up,
        hosts=(origin, *_other_hosts()),
    )


def for_allauth(provider: SignInProvider | None) -> dict[str, Any]:
    """Returns `SOCIALACCOUNT_PROVIDERS`: the one provider, read by a class of ours."""
    facts = {"provider_class": "heatmaps.people.sign_in_provider.Provider", "OAUTH_PKCE_ENABLED": True}
    if provider is None:
        return {"openid_connect": facts | {"APPS": []}}
    app = {
        "provider_id": provider.key,
        "name": provider.name,
        "client_id": provider.client_id,
        "secret": provider.client_secret,
        "settings": {"server_url": provider.issuer.removesuffix("/") + _DISCOVERY},
    }
    return {"openid_connect": facts | {"APPS": [app]}}


def _origin(issuer: str) -> str:
    parts = _parts(issuer)
    if parts is None:
        raise RuntimeError(f"HAZEMAP_OIDC_ISSUER must be {_ALLOWED}; not {issuer!r}")
    return f"{parts.scheme}://{parts.netloc}"


def _parts(text: str) -> SplitResult | None:
    """Splits an address; None for one that is not allowed."""
    parts = web_addresses.read(text)
    if parts is None:
        return None
    whole = text == f"{parts.scheme}://{parts.netloc}{parts.path}" and _PATH.fullmatch(parts.path)
    return parts if whole else None


def _other_hosts() -> tuple[str, ...]:
    text = os.environ.get("HAZEMAP_OIDC_HOSTS", "")
    hosts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [host for host in hosts if not _NETWORK_LOCATION.fullmatch(host)]:
        raise RuntimeError(
            "HAZEMAP_OIDC_HOSTS must be names of hosts, such as tokens.example.org, separated by commas; "
            f"not {wrong[0]!r}"
        )
    return tuple(f"https://{host}" for host in hosts)


def _secret() -> str:
    text, file = (os.environ.get(f"HAZEMAP_OIDC_CLIENT_SECRET{part}", "") for part in ("", "_FILE"))
    if text and file:
        raise RuntimeError("set HAZEMAP_OIDC_CLIENT_SECRET or HAZEMAP_OIDC_CLIENT_SECRET_FILE, not both")
    return Path(file).read_text().strip() if file else text


def _sign_up() -> bool:
    text = os.environ.get("HAZEMAP_OIDC_SIGN_UP") or "0"
    if text not in {"0", "1"}:
        raise RuntimeError(f"HAZEMAP_OIDC_SIGN_UP must be 0 or 1, not {text!r}")
    return text == "1"


def _name(text: str) -> str:
    if len(text) > _LONGEST_NAME or not text.isprintable():
        raise RuntimeError(
            f"HAZEMAP_OIDC_NAME must be up to {_LONGEST_NAME} characters for a button, not {text!r}"
        )
    return text
