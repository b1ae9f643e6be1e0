"""Defines what the classes of answers have in common: they are frozen, and some go on asking."""

import math
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final, Self, dataclass_transform

from hazemap_client.calls import Call
from hazemap_client.connection import Connection
from hazemap_client.errors import WaitedTooLong

_UNDER_WAY: Final = ("received", "staged", "queued")
_POLLS_S: Final = (0.2, 10.0)  # once it is due: from one to the other, twice as long each time
_LONGEST_SLEEP_S: Final = 3600.0  # a clock may be set meanwhile


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Component:
    """Holds a component of the API's document: fields are named as there, it has that name without `Out`."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Resource(Component):
    """Mirrors a component that goes on asking. Local fields, which no answer has, are not shown."""

    connection: Connection = field(repr=False, compare=False)


class Awaited(Resource):
    """Stands for work of the server, whose progress `state` says."""

    reading: ClassVar[Call]
    id: str
    state: str

    def refresh(self) -> Self:
        """Returns the same as it is now."""
        return self._load(self.reading)

    def due(self) -> datetime | None:
        """Returns when its outcome is known; None: as soon as can be."""
        return None

    def wait(self, *, timeout_s: float | None = None) -> Self:
        """Returns the same, once its outcome is known. Sleeps until it is due; asks from then on.

        Errors: `WaitedTooLong`.
        """
        latest, began, (pause, longest) = self, time.monotonic(), _POLLS_S
        while latest.state in _UNDER_WAY:
            moment = latest.due()
            ahead = 0.0 if moment is None else self.connection.seconds_until(moment)
            left = math.inf if timeout_s is None else began + timeout_s - time.monotonic()
            if left <= 0:
                raise WaitedTooLong(f"It is still {latest.state} after {timeout_s:g} s, and goes on.")
            time.sleep(min(max(ahead, pause), left, _LONGEST_SLEEP_S))
            pause, latest = _POLLS_S[0] if ahead > pause else min(2 * pause, longest), latest.refresh()
        return latest

    def _load(self, call: Call, body: object = None) -> Self:
        # Each path has one of these names.
        return self.connection.load(call, type(self), body=body, upload_id=self.id, release_id=self.id)
