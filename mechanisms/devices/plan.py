"""Defines what a mechanism is to a round of devices: numbers for devices, a promise, an analysis."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, whole
from mechanisms.expected_error import ErrorBound, PointError
from mechanisms.guarantee import Guarantee, Trust
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import Point

Json: TypeAlias = bool | int | str | list["Json"] | dict[str, "Json"]
Messages: TypeAlias = NDArray[np.uint8]  # (n, message_bytes)
Kind: TypeAlias = Literal["heatmap", "centroid"]

MOST_MESSAGES: Final = 20_000  # of one report: a phone seals so many in a few seconds
MOST_REPORTS: Final = 10**6  # of a round
_AT_ONCE: Final = 1 << 22  # messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """Bounds how far some dishonest devices can move a result, beside what honest ones in their place say.

    `number` is infinite where there is no bound.
    """

    number: float
    unit: Literal["people", "metres", "share"]
    sentence: str

    @property
    def is_bounded(self) -> bool:
        return math.isfinite(self.number)


class DevicePlan(Protocol):
    """Fixes one round's mechanism: a frozen value of public facts."""

    @property
    def name(self) -> str: ...

    @property
    def trust(self) -> Trust:
        """Returns LOCAL or SHUFFLE."""
        ...

    @property
    def kind(self) -> Kind: ...

    @property
    def encoding(self) -> dict[str, Json]:
        """Returns the `encoding` of the round's facts."""
        ...

    @property
    def table(self) -> bytes:
        """Returns the table that `encoding` refers to."""
        ...

    @property
    def messages(self) -> int:
        """Returns the number of messages of one report."""
        ...

    @property
    def message_bytes(self) -> int: ...

    @property
    def resolution(self) -> int | None:
        """Returns cells a side of the map; None for a point."""
        ...

    @property
    def per_report(self) -> Guarantee: ...

    def guarantee(self, reports: int) -> Guarantee:
        """Returns the guarantee of so many reports of one person in one round."""
        ...

    def expected_error(self, reports: int) -> ErrorBound | PointError:
        """Returns the error from public facts, for so many reports in the round."""
        ...

    def analyse(self, messages: Messages, reports: int) -> Heatmap | Point:
        """Returns the result of a round. Total: what no honest device sends is left out.

        Errors: `ParameterError`, for `reports`.
        """
        ...

    def influence(self, dishonest: int, reports: int) -> Influence: ...


def number(value: int) -> int | str:
    """Returns an integer as the facts write it: a text from 2^53 on."""
    return value if abs(value) < 1 << 53 else str(value)


def check_reports(reports: int, most: int) -> None:
    """Refuses numbers of reports out of range. Errors: `ParameterError`."""
    whole(1, most, reports=reports)


def check_messages(parameter: str, value: object, messages: int) -> None:
    """Refuses a plan with too many messages. Errors: `ParameterError` naming what to change, where one report
    would be too many messages.
    """
    if messages > MOST_MESSAGES:
        allowed = f"another: one report would be {messages} messages, of at most {MOST_MESSAGES}"
        raise ParameterError(parameter, value, allowed)


def in_parts(messages: Messages) -> Iterator[Messages]:
    """Yields the same messages, so many at a time that counting them takes little memory."""
    for first in range(0, len(messages), _AT_ONCE):
        yield messages[first : first + _AT_ONCE]


def big_endian(messages: Messages) -> NDArray[np.int64]:
    """Returns `(n,)` integers of up to 7 bytes each."""
    numbers = np.zeros(messages.shape[0], np.int64)
    for column in range(messages.shape[1]):
        numbers = numbers << 8 | messages[:, column]
    return numbers
