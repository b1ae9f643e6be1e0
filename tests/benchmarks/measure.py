"""Times a benchmark beside its yardstick, in turns, and says how sure the ratio is.

The noise of a figure is the spread of its ratio over repetitions: each repetition runs both, one right after
the other, and has a ratio of its own. The interval is from the smallest to the largest of them. A true ratio
below a goal leaves all of n repetitions above it with a chance of 2^-n at most. What does not vary, such as
bytes and queries, is measured once.
"""

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

T = TypeVar("T")
FEWEST_REPEATS: Final = 3  # of what varies and has a goal


class Size(StrEnum):
    """How large the inputs of a run are."""

    TINY = "tiny"  # whether everything runs: its figures mean nothing
    USUAL = "usual"
    LARGE = "large"

    @property
    def is_tiny(self) -> bool:
        return self is Size.TINY

    def repeats(self, usual: int) -> int:
        return 1 if self.is_tiny else usual


class Unit(StrEnum):
    """Names what is measured; all but times and memory are the same in each repetition."""

    SECONDS = "s"
    MEGABYTES = "MB"
    BYTES = "bytes"
    QUERIES = "queries"

    @property
    def varies(self) -> bool:
        return self in (Unit.SECONDS, Unit.MEGABYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Holds what we take beside what a named yardstick takes, by repetition, in turns.

    goal: name of its row in `goals.GOALS`, or "". `details` say where it was measured and what else was.
    Errors: ValueError for yardsticks of another number of repetitions.
    """

    name: str
    alternative: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    unit: Unit = Unit.SECONDS
    goal: str = ""
    details: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.ours or len(self.ours) != len(self.theirs):
            raise ValueError(f"{self.name}: {len(self.ours)} repetitions beside {len(self.theirs)}")

    @classmethod
    def of_json(cls, line: str) -> "Figure":
        """Reads what `json` wrote."""
        fields = json.loads(line)
        return cls(
            **fields
            | {
                "ours": tuple(fields["ours"]),
                "theirs": tuple(fields["theirs"]),
                "unit": Unit(fields["unit"]),
            }
        )

    def json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def ratio(self) -> float:
        """Returns the quotient of the medians."""
        return statistics.median(self.ours) / statistics.median(self.theirs)

    @property
    def interval(self) -> tuple[float, float]:
        """Returns the smallest and the largest ratio of a repetition."""
        ratios = [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]
        return min(ratios), max(ratios)

    @property
    def is_judged(self) -> bool:
        """Tells whether its noise is known, so that a goal may be held against it."""
        return len(self.ours) >= FEWEST_REPEATS or not self.unit.varies

    def row(self) -> dict[str, object]:
        low, high = self.interval
        return {
            "name": self.name,
            "alternative": self.alternative,
            "unit": self.unit.value,
            "measured": statistics.median(self.ours),
            "alternative_measured": statistics.median(self.theirs),
            "ratio": round(self.ratio, 3),
            "low": round(low, 3),
            "high": round(high, 3),
            "repeats": len(self.ours),
            "goal": self.goal,
            "details": self.details,
        }

    def __str__(self) -> str:
        low, high = self.interval
        noise = f" ({low:.3g} to {high:.3g})" if len(self.ours) > 1 else ""
        return (
            f"{self.ratio:8.3f} x{noise}  {self.name}: {statistics.median(self.ours):.4g} {self.unit}; "
            f"{self.alternative}: {statistics.median(self.theirs):.4g} {self.unit}"
        )


def in_turns(
    ours: Callable[[], T], theirs: Callable[[], T], *, repeats: int
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Returns what both return, by repetition. Who goes first changes with each."""
    returned: tuple[list[T], list[T]] = ([], [])
    pairs = list(zip((ours, theirs), returned, strict=True))
    for _ in range(repeats):
        for run, values in pairs:
            values.append(run())
        pairs.reverse()
    return tuple(returned[0]), tuple(returned[1])


def compare(
    name: str,
    ours: Callable[[], object],
    alternative: str,
    theirs: Callable[[], object],
    *,
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    goal: str = "",
) -> Figure:
    """Times both in turns, so that a slow moment of the machine meets both.

    clock: what is counted, in seconds.
    """

    def timed(run: Callable[[], object]) -> Callable[[], float]:
        def seconds() -> float:
            begin = clock()
            run()
            return clock() - begin

        return seconds

    measured, yardstick = in_turns(timed(ours), timed(theirs), repeats=repeats)
    return Figure(name=name, alternative=alternative, ours=measured, theirs=yardstick, goal=goal)
