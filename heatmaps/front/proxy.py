"""Finds the client's address and scheme, trusting only the operator's own proxy."""

import ipaddress
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

SCHEMES = frozenset({"http", "https"})
CLAIMS = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP")  # beginnings of their names
CHECKS = ("/healthz",)  # asked on the proxy's machine without the proxy

_log = structlog.stdlib.get_logger(__name__)


def believe_proxy(get_response: GetResponse) -> GetResponse:
    """Believes the proxy, before all middleware that asks for scheme or address.

    From a peer in `HAZEMAP_PROXY` the last address of X-Forwarded-For is the client's (a proxy adds it behind
    whatever the client wrote) and X-Forwarded-Proto the scheme. All others of their kind are removed. The
    first request from there that names no client is logged: whoever comes without the proxy may name any.
    """
    is_noticed = False

    def answer(request: HttpRequest) -> HttpResponse:
        nonlocal is_noticed
        claims = {name: request.META.pop(name) for name in list(request.META) if name.startswith(CLAIMS)}
        if is_proxy(str(request.META.get("REMOTE_ADDR", ""))):
            client = str(claims.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
            if _address(client):
                request.META["REMOTE_ADDR"] = client
            elif not is_noticed and request.path not in CHECKS:
                is_noticed = True
                _log.warning("proxy.names_no_client")
            if (scheme := claims.get("HTTP_X_FORWARDED_PROTO")) in SCHEMES:
                request.META["HTTP_X_FORWARDED_PROTO"] = scheme
        return get_response(request)

    return answer


def doubt() -> str:
    """Says why it is doubtful that a proxy is in front; "" for nothing."""
    if not settings.TRUSTED_PROXIES or settings.CSRF_TRUSTED_ORIGINS:
        return ""
    return (
        "HAZEMAP_PROXY names a proxy and HAZEMAP_ORIGINS no origin: whoever asks from there without a proxy "
        "chooses the address under which wrong passwords are counted; unset HAZEMAP_PROXY where no proxy is "
        "in front"
    )


def is_proxy(peer: str) -> bool:
    """Returns whether the address is one of `HAZEMAP_PROXY`."""
    address = _address(peer)
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
