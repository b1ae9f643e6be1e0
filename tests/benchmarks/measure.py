"""How a benchmark is timed and written down."""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum


class Size(StrEnum):
    """How large the inputs of a run are."""

    TINY = "tiny"  # whether everything runs: its figures mean nothing
    USUAL = "usual"
    LARGE = "large"

    @property
    def is_tiny(self) -> bool:
        return self is Size.TINY


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`seconds` of what we do beside `alternative_seconds` of the named alternative, medians of `repeats`.

    `details` say where it was measured and what else was.
    """

    name: str
    alternative: str
    seconds: float
    alternative_seconds: float
    repeats: int
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.seconds / self.alternative_seconds

    def row(self) -> dict[str, object]:
        return asdict(self) | {"ratio": round(self.ratio, 3)}

    def __str__(self) -> str:
        return (
            f"{self.ratio:8.3f} x  {self.name}: {self.seconds:.4f} s; "
            f"{self.alternative}: {self.alternative_seconds:.4f} s"
        )


def compare(
    name: str,
    ours: Callable[[], object],
    alternative: str,
    theirs: Callable[[], object],
    *,
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Figure:
    """Both in turns, so that a slow moment of the machine meets both.

    clock: what is counted, in seconds.
    """
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for run, spent in zip((ours, theirs), seconds, strict=True):
            begin = clock()
            run()
            spent.append(clock() - begin)
    return Figure(
        name=name,
        alternative=alternative,
        seconds=statistics.median(seconds[0]),
        alternative_seconds=statistics.median(seconds[1]),
        repeats=repeats,
    )
