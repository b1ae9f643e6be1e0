"""Holds the mean positions of persons' records, summed, in integers."""

from dataclasses import dataclass, field
from typing import Final

from mechanisms.check import in_range

PARTS: Final = 2**32  # of a region's width and of its height: positions are counted in them
MOST_PERSONS: Final = 2**31  # sums of positions fit 63 bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordMeans:
    """Holds the sum over all persons of their record's mean position, in integers.

    x counts from west to east, y from south to north, each in 1/`PARTS` of the region a person.
    Neighbours exchange one record: they differ by one person's move. Errors: ValueError, without a value.
    """

    persons: int  # n, public: all who are enrolled, whether they have check-ins or not
    x: int = field(repr=False)
    y: int = field(repr=False)

    def __post_init__(self) -> None:
        in_range(1, MOST_PERSONS, persons=self.persons)
        if not all(isinstance(s, int) and 0 <= s <= self.persons * PARTS for s in (self.x, self.y)):
            raise ValueError("sums of positions must be whole and lie in the region")
