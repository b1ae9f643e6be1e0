"""Computes a schedule's due moments: a public rule in UTC, whose days all have 24 hours."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Self

from mechanisms.check import ParameterError

DAILY, WEEKLY, MONTHLY = "daily", "weekly", "monthly"
EVERY: Final = (DAILY, WEEKLY, MONTHLY)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
LAST_DAY: Final = 28  # that every month has

_LONGEST_WAIT: Final = 32  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Says when versions are made: at the full hour, UTC: each day, on one day of the week, or on one day of
    the month.

    Errors: `ParameterError` naming `schedule.<field>`.
    """

    every: str
    hour: int
    weekday: str | None = None  # WEEKLY only
    day: int | None = None  # of the month; MONTHLY only

    def __post_init__(self) -> None:
        if self.every not in EVERY:
            raise ParameterError("schedule.every", self.every, " or ".join(EVERY))
        _whole("schedule.hour", self.hour, 0, 23, "of UTC")
        if self.every != WEEKLY:
            _empty("schedule.weekday", self.weekday, WEEKLY)
        elif self.weekday not in WEEKDAYS:
            raise ParameterError("schedule.weekday", self.weekday or "", ", ".join(WEEKDAYS))
        if self.every != MONTHLY:
            _empty("schedule.day", self.day, MONTHLY)
        else:
            _whole("schedule.day", self.day, 1, LAST_DAY, "which every month has")

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parses what `text` writes; None of an empty one."""
        if not text:
            return None
        every, *when, hour = text.split()
        return cls(
            every=every,
            hour=int(hour.removesuffix(":00")),
            weekday=when[0] if every == WEEKLY else None,
            day=int(when[0]) if every == MONTHLY else None,
        )

    @property
    def text(self) -> str:
        """Writes it as the database and the ledger's events do, such as `weekly monday 03:00`."""
        return " ".join(filter(None, (self.every, self.weekday, str(self.day or ""), f"{self.hour:02}:00")))

    @property
    def words(self) -> str:
        """Writes it for people, such as "every Monday at 03:00 UTC"."""
        days = {
            DAILY: "every day",
            WEEKLY: f"every {str(self.weekday).capitalize()}",
            MONTHLY: f"on day {self.day} of every month",
        }
        return f"{days[self.every]} at {self.hour:02}:00 UTC"

    def next_after(self, moment: datetime) -> datetime:
        """Returns the first due moment later than that one."""
        days = (moment.astimezone(UTC).date() + timedelta(days=ahead) for ahead in range(_LONGEST_WAIT + 1))
        return next(due for due in map(self._at, filter(self._falls_on, days)) if due > moment)

    def last_until(self, moment: datetime) -> datetime:
        """Returns the latest due moment that is not later than that one."""
        days = (moment.astimezone(UTC).date() - timedelta(days=back) for back in range(_LONGEST_WAIT + 1))
        return next(due for due in map(self._at, filter(self._falls_on, days)) if due <= moment)

    def _falls_on(self, day: date) -> bool:
        if self.every == WEEKLY:
            return WEEKDAYS[day.weekday()] == self.weekday
        return self.every == DAILY or day.day == self.day

    def _at(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, self.hour, tzinfo=UTC)


def _whole(name: str, value: object, low: int, high: int, unit: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(name, "" if value is None else value, f"a whole number {low} to {high}, {unit}")


def _empty(name: str, value: object, owner: str) -> None:
    if value is not None:
        raise ParameterError(name, value, f"nothing; it belongs to {owner}")
