"""How often something was tried lately: counted for all processes together where they share a Redis.

A count begins with the first attempt and ends `seconds` later. Only counts are stored there, under keys that
tell nothing: names and addresses are hashed.

Sign-ins, at the page, the administration and the API together, are counted by name *and* address, and more
loosely by address. Not by name alone: then anybody could lock a person out by failing under that name. Who
shares an address with such a guesser waits a minute at most; who is signed in notices nothing. Whoever gets
in was not guessing: the failures under that name from that address are forgotten.
"""

import ipaddress
import time
import unicodedata
from typing import Final

import structlog
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

SIGN_IN_NAME, SIGN_IN_ADDRESS, PUBLIC_ADDRESS = "sign_in_name", "sign_in_address", "public_address"
BLUR: Final = "blur"
PERIOD_SECONDS: Final = 60
SHARED: Final = "counters"
OWN: Final = "default"  # this process's memory, while Redis is away
NETWORK_BITS: Final = 64  # of an IPv6 address: whoever has one has all others of its network

_log = structlog.stdlib.get_logger(__name__)


def sign_in(name: str, address: str) -> int:
    """Count a sign-in, whether or not there is such a name; 0, or how many seconds to wait."""
    counted = ((SIGN_IN_ADDRESS, address), (SIGN_IN_NAME, name_from(name, address)))
    return max(_a_minute(scope, whose) for scope, whose in counted)


def forget_sign_in(name: str, address: str) -> None:
    """After a right password: its owner may sign in as often as an address may."""
    key = _key(SIGN_IN_NAME, name_from(name, address))
    keys = [key, f"{key}:end"]
    caches[OWN].delete_many(keys)
    try:
        caches[SHARED].delete_many(keys)
    except RedisError as error:
        _log.warning("attempts.counted_here_only", cause=type(error))


def visit(address: str) -> int:
    """Count a request of somebody without an account; 0, or how many seconds to wait."""
    return _a_minute(PUBLIC_ADDRESS, address)


def blur(account_id: int) -> int:
    """Count a file that somebody has blurred, at the page or the API; 0, or how many seconds to wait."""
    return _a_minute(BLUR, str(account_id))


def name_from(name: str, address: str) -> str:
    """A name as it is tried from an address; other spellings of a name are the same one."""
    return f"{address} {unicodedata.normalize('NFKC', name).casefold().strip()}"


def address_of(request: HttpRequest) -> str:
    """Where a request comes from: the client's address, or what the nearest proxy of ours says it is."""
    said = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.PROXIES else ""
    text = said.split(",")[-1].strip() or request.META.get("REMOTE_ADDR", "")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return text
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), NETWORK_BITS), strict=False))


def _a_minute(scope: str, whose: str) -> int:
    return seconds_to_wait(scope, whose, most=settings.MOST_A_MINUTE[scope], seconds=PERIOD_SECONDS)


def seconds_to_wait(scope: str, whose: str, *, most: int, seconds: int) -> int:
    """Count an attempt; 0 while there were at most `most` in `seconds`, else how long to wait."""
    key = _key(scope, whose)
    try:
        return _count(caches[SHARED], key, most, seconds)
    except RedisError as error:
        _log.warning("attempts.counted_here_only", cause=type(error))
        return _count(caches[OWN], key, most, seconds)


def _key(scope: str, whose: str) -> str:
    return f"{scope}:{salted_hmac(__name__, whose, algorithm='sha256').hexdigest()}"


def _count(cache: BaseCache, key: str, most: int, seconds: int) -> int:
    now = int(time.time())
    cache.add(f"{key}:end", now + seconds, seconds)
    cache.add(key, 0, seconds)
    try:
        count = cache.incr(key)
    except ValueError:  # it ended between the two lines above
        return 0
    return 0 if count <= most else max(1, cache.get(f"{key}:end", now) - now)
