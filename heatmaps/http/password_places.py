"""Hashes passwords in few places, so that guesses never take all web threads.

A hash costs most of a second of CPU before it is known who asks, also for a name that does not exist. Every
door hashes here, as the hasher itself waits for a place.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, get_native_id
from typing import Any, Final

from allauth.core import context
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from heatmaps.children.turns import Busy
from heatmaps.http import attempt_limits

PLACES: Final = 2  # of the web's four threads; of each process
RESERVED: Final = 1  # of the places: for addresses with fewer failures than MANY
MANY: Final = 5  # failures of an address in an hour
WAIT_SECONDS: Final = 4.0  # a hash takes longer than one where the processor is busy
RETRY_SECONDS: Final = 2
NICENESS: Final = 10  # of what guessers have hashed: pages and owners get the processor first


@dataclass(slots=True, eq=False)
class _Waiter:
    failures: int
    is_admitted: bool = False


@dataclass(slots=True, kw_only=True)
class HashingPlaces:
    """Shares out the places of one process.

    One hash waits at most, that of the address with the fewest failures: more would take the threads that are
    left, and an owner who comes while many guess is next.
    """

    wait_seconds: float = WAIT_SECONDS
    _hashing: list[int] = field(default_factory=list)  # failures of the addresses that hash
    _waiter: _Waiter | None = None
    _changed: Condition = field(default_factory=Condition)

    @contextmanager
    def place(self, failures: int) -> Iterator[None]:
        """Takes a place, for an address with so many failures. Errors: Busy."""
        with self._changed:
            if self._is_free(failures):
                self._hashing.append(failures)
            elif not self._waited(_Waiter(failures)):
                raise Busy("the server is checking other passwords", retry_seconds=RETRY_SECONDS)
        try:
            yield
        finally:
            self._leave(failures)

    def _is_free(self, failures: int) -> bool:
        guessers = sum(count >= MANY for count in self._hashing)
        return len(self._hashing) < PLACES and (failures < MANY or guessers < PLACES - RESERVED)

    def _waited(self, waiter: _Waiter) -> bool:
        if self._waiter is not None and self._waiter.failures <= waiter.failures:
            return False
        self._waiter = waiter
        self._changed.notify_all()  # who waited until now gives way
        self._changed.wait_for(lambda: self._waiter is not waiter, self.wait_seconds)
        if self._waiter is waiter:
            self._waiter = None
        return waiter.is_admitted

    def _leave(self, failures: int) -> None:
        with self._changed:
            self._hashing.remove(failures)
            waiter = self._waiter
            if waiter is not None and self._is_free(waiter.failures):
                waiter.is_admitted, self._waiter = True, None
                self._hashing.append(waiter.failures)  # before who comes now could take the place as well
                self._changed.notify_all()


def _give_way() -> None:
    with suppress(OSError):  # where threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, get_native_id(), NICENESS)


places: Final = HashingPlaces()
_behind: Final = ThreadPoolExecutor(PLACES - RESERVED, "guesses", initializer=_give_way)


class Placed:
    """Makes a hasher of Django's wait for a place first; a mixin before it."""

    def encode(self, *arguments: Any, **named: Any) -> str:
        """Hashes in a place. Errors: Busy, which counts as a failure of an address that is not known."""
        hashing: Callable[[], str] = partial(super().encode, *arguments, **named)  # type: ignore[misc]  # of the hasher beside it
        request: HttpRequest | None = context.request  # None in commands
        if request is None:
            return hashing()
        address = attempt_limits.address_of(request)
        # Whoever signed in from there before is next, also while many addresses try for the first time.
        is_known = attempt_limits.is_known(address)
        failures = attempt_limits.failures(address) - is_known
        try:
            with places.place(failures):
                return hashing() if failures < MANY else _behind.submit(hashing).result()
        except Busy:
            if not is_known:  # else who comes back would be behind those who guess
                attempt_limits.count_failure(address)
            raise


class PasswordHasher(Placed, PBKDF2PasswordHasher):
    """Hashes as Django's own, in a place; hashes made by Django's are its own."""


@receiver(user_login_failed)
def count_wrong_password(request: HttpRequest | None = None, **_options: object) -> None:
    """Counts a failure, whether or not there is such a name."""
    if request is not None:
        attempt_limits.count_failure(attempt_limits.address_of(request))
