"""Finds the client's address and scheme, trusting only the operator's own proxy."""

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

SCHEMES = frozenset({"http", "https"})
CLAIMS = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP")  # beginnings of their names


def believe_proxy(get_response: GetResponse) -> GetResponse:
    """Middleware, before everything that asks for scheme or address.

    From a peer in `HAZEMAP_PROXY` the last address of X-Forwarded-For is the client's (a proxy adds it behind
    whatever the client wrote) and X-Forwarded-Proto the scheme. All others of their kind are removed.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        claims = {name: request.META.pop(name) for name in list(request.META) if name.startswith(CLAIMS)}
        if is_proxy(str(request.META.get("REMOTE_ADDR", ""))):
            client = str(claims.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
            if _address(client):
                request.META["REMOTE_ADDR"] = client
            if (scheme := claims.get("HTTP_X_FORWARDED_PROTO")) in SCHEMES:
                request.META["HTTP_X_FORWARDED_PROTO"] = scheme
        return get_response(request)

    return answer


def is_proxy(peer: str) -> bool:
    """Whether the address is one of `HAZEMAP_PROXY`."""
    address = _address(peer)
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
