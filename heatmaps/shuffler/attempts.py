"""Counts wrong invitations and open-link requests by address, in tables of bounded size in memory.

Only hashes of addresses are counted, under a key that this process made and nobody stores.
"""

import hashlib
import secrets
from typing import Final

from django.http import HttpRequest

from heatmaps.http.attempt_limits import network_of
from heatmaps.http.counters import OwnCounters
from heatmaps.shuffler import settings
from heatmaps.shuffler.problems import Refusal

_counters: Final = OwnCounters()
_key: Final = secrets.token_bytes(32)
_DAY: Final = 24 * 3600
_WRONG: Final = "wrong invitations"
_OPEN: Final = "open link"


def was_wrong(request: HttpRequest) -> None:
    """Counts a wrong invitation; right ones never are, whoever else shares the address.

    Errors: Refusal, which says no more than that guesses are to wait: nobody guesses 128 bits.
    """
    _count(_WRONG, _visitor_digest(request), settings.WRONG_INVITATIONS_A_MINUTE, 60)


def ask_for_invitation(request: HttpRequest, round_id: object, *, places: int) -> None:
    """Counts one of an open link: a day's of one address never fill more than half of a round's places.

    Errors: Refusal.
    """
    most = min(settings.OPEN_LINK_DAILY, (places + 1) // 2)
    _count(_OPEN, _visitor_digest(request, str(round_id)), most, _DAY)


def _count(table: str, visitor: str, most: int, seconds: int) -> None:
    counted = _counters.count(table, visitor, seconds)
    if counted.times > most:
        raise Refusal("too_many_requests", wait_seconds=counted.seconds_left)


def _visitor_digest(request: HttpRequest, more: str = "") -> str:
    network = network_of(str(request.META.get("REMOTE_ADDR", "")))
    return hashlib.blake2b(f"{network} {more}".encode(), key=_key, digest_size=16).hexdigest()
