"""Counts recent attempts, for all processes together where they share a Redis.

A count begins with the first attempt and ends `seconds` later. Only counts are stored there, under keys that
tell nothing: names and addresses are hashed. Nobody ends a count by flooding (`heatmaps.http.counters`).

Passwords and codes, at all pages and the API together, are counted by name *and* address, and more
loosely by address. By name alone only at addresses from where nobody signed in under it before: then nobody
guesses an account's password from many addresses, or under many that a proxy lets him choose, and its owner
still gets in where he did before. Elsewhere he waits a minute once the others stop, as does who shares an
address with a guesser; who is signed in notices nothing. Whoever gets in was not guessing: the failures under
that name from that address are forgotten.
"""

import ipaddress
import unicodedata
from collections.abc import Callable
from typing import Final

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from heatmaps.http import counters

SIGN_IN_NAME, SIGN_IN_ADDRESS, PUBLIC_ADDRESS = "sign_in_name", "sign_in_address", "public_address"
SIGN_IN_ACCOUNT: Final = "sign_in_account"
FAILURES: Final = "sign_in_failures"
FAILURES_SECONDS: Final = 3600
KNOWN: Final = "sign_in_known"  # an address
OWN: Final = "sign_in_own"  # a name from an address
KNOWN_SECONDS: Final = 30 * 24 * 3600
BLUR: Final = "blur"
EXAMPLE: Final = "example"
AREAS: Final = "areas"
GUIDES: Final = "guides"
TILES: Final = "tiles"  # and parts of files: a map on a screen asks for some dozens at once
PERIOD_SECONDS: Final = 60
KEY_DIGITS: Final = 32
NETWORK_BITS: Final = 64  # of an IPv6 address: whoever has one has all others of its network

_log = structlog.stdlib.get_logger(__name__)


def sign_in(name: str | None, address: str) -> int:
    """Counts a sign-in, whether or not there is such a name; 0, or how many seconds to wait.

    An address that has to wait adds no more names to the table.
    """
    wait = _a_minute(SIGN_IN_ADDRESS, address)
    if wait or name is None:
        return wait
    name_there = _name_from(name, address)
    wait = _a_minute(SIGN_IN_NAME, name_there)
    if wait or _times(OWN, _key(name_there)):
        return wait
    return _a_minute(SIGN_IN_ACCOUNT, _normalised(name))


def forget_sign_in(name: str, address: str) -> None:
    """Forgets attempts after a right password: its owner may sign in as often as an address may."""
    _forget(SIGN_IN_NAME, _key(_name_from(name, address)))
    _forget(FAILURES, _key(address))
    _count(KNOWN, address, KNOWN_SECONDS)
    _count(OWN, _name_from(name, address), KNOWN_SECONDS)


def count_failure(address: str) -> None:
    """Counts a wrong password, or a try that got no place to be hashed (`password_places`)."""
    _count(FAILURES, address, FAILURES_SECONDS)


def failures(address: str) -> int:
    """Counts the failures of an address in this hour."""
    return _times(FAILURES, _key(address))


def is_known(address: str) -> bool:
    """Returns whether somebody signed in from an address within 30 days, as far as the counts remember."""
    return _times(KNOWN, _key(address)) > 0


def visit(address: str) -> int:
    """Counts a request of somebody without an account; 0, or how many seconds to wait."""
    return _a_minute(PUBLIC_ADDRESS, address)


def blur(account_id: int) -> int:
    """Counts a file that somebody has blurred, at the page or the API; 0, or how many seconds to wait."""
    return _a_minute(BLUR, str(account_id))


def example(account_id: int) -> int:
    """Counts an example of the blur that has to be drawn for somebody; 0, or how many seconds to wait."""
    return _a_minute(EXAMPLE, str(account_id))


def guide(account_id: int) -> int:
    """Counts a guide file that somebody sends, at the page or the API; 0, or how many seconds to wait."""
    return _a_minute(GUIDES, str(account_id))


def wait_of(scope: str, account_id: int) -> int:
    """Returns the seconds that somebody has to wait whose minute is used up, else 0; counts nothing.

    For forms with large bodies: refused before the body comes, counted once its CSRF token is checked.
    """
    key = _key(str(account_id))
    count = _by_counters(lambda table: table.look(scope, key))
    return count.seconds_left if count.times >= settings.MOST_A_MINUTE[scope] else 0


def address_of(request: HttpRequest) -> str:
    """Returns a request's address (`heatmaps.front.proxy` gives it behind a proxy)."""
    return network_of(str(request.META.get("REMOTE_ADDR", "")))


def network_of(text: str) -> str:
    """Returns the part of an address that counts: all of IPv4, of IPv6 the network, its holder's whole."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return text
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), NETWORK_BITS), strict=False))


def seconds_to_wait(scope: str, subject: str, *, most: int, seconds: int) -> int:
    """Counts an attempt; 0 while there were at most `most` in `seconds`, else how long to wait."""
    counted = _count(scope, subject, seconds)
    return 0 if counted.times <= most else counted.seconds_left


def _a_minute(scope: str, subject: str) -> int:
    return seconds_to_wait(scope, subject, most=settings.MOST_A_MINUTE[scope], seconds=PERIOD_SECONDS)


def _name_from(name: str, address: str) -> str:
    """Joins a name with the address that it is tried from."""
    return f"{address} {_normalised(name)}"


def _normalised(name: str) -> str:
    """Returns one spelling for all of a name."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _count(scope: str, subject: str, seconds: int) -> counters.Count:
    key = _key(subject)
    return _by_counters(lambda table: table.count(scope, key, seconds))


def _by_counters(
    act: Callable[[counters.OwnCounters | counters.SharedCounters], counters.Count],
) -> counters.Count:
    if shared := counters.shared():
        try:
            return act(shared)
        except RedisError as error:
            _log.warning("attempts.counted_here_only", cause=type(error))
    return act(counters.own())


def _times(scope: str, key: str) -> int:
    return _by_counters(lambda table: table.look(scope, key)).times


def _forget(scope: str, key: str) -> None:
    counters.own().forget(scope, key)
    if shared := counters.shared():
        try:
            shared.forget(scope, key)
        except RedisError as error:
            _log.warning("attempts.counted_here_only", cause=type(error))


def _key(subject: str) -> str:
    return salted_hmac(__name__, subject, algorithm="sha256").hexdigest()[:KEY_DIGITS]
