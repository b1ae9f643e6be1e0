"""Divides a round into public slots, one for each report that it takes from a person."""

from dataclasses import dataclass
from typing import Final, Self

from hazemap_device.facts import Facts

LONGEST_READING_S: Final = 20  # that finding out where one is may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Holds seconds since 1970. They follow from the facts: nothing of a person moves them."""

    index: int
    starts_at: int  # when the place is read
    sends_at: int  # later by a fixed time, so that how long reading took is not seen
    ends_at: int

    @classmethod
    def of(cls, facts: Facts, index: int) -> Self:
        length, count = facts.closes_at - facts.opens_at, facts.reports_per_person
        starts_at = facts.opens_at + length * index // count
        ends_at = facts.opens_at + length * (index + 1) // count
        sends_at = starts_at + min(LONGEST_READING_S, (ends_at - starts_at) // 4)
        return cls(index=index, starts_at=starts_at, sends_at=sends_at, ends_at=ends_at)


def slot_at(facts: Facts, now: float) -> Slot | None:
    """Finds the slot that a moment is in; none before the round opens and once it has closed."""
    if not facts.opens_at <= now < facts.closes_at:
        return None
    slots = (Slot.of(facts, index) for index in range(facts.reports_per_person))
    return next(slot for slot in slots if now < slot.ends_at)
