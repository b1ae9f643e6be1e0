"""Orders outcomes by how much likelier they are on one of two inputs, so that tails are good events.

The order is learned on runs of its own: whatever it is, what `batches.py` finds in other runs holds.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.audit.batches import Runs
from mechanisms.check import in_range

Outcomes = NDArray[np.int64]  # (draws,): a number for what a run shows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Order:
    """Ranks of the outcomes that were seen; others stand where neither input is likelier."""

    outcomes: Outcomes = field(repr=False)  # ascending
    ranks: NDArray[np.int64] = field(repr=False)
    unseen: int

    @classmethod
    def learned(cls, first: Outcomes, second: Outcomes) -> Self:
        """Counts half a run more of each outcome on both inputs, so that a single run does not decide."""
        in_range(100, 10**9, draws=min(first.size, second.size))
        outcomes, places = np.unique(np.concatenate((first, second)), return_inverse=True)
        first_counts, second_counts = (
            np.bincount(part, minlength=outcomes.size) + 0.5
            for part in (places[: first.size], places[first.size :])
        )
        ratios = np.log(first_counts / first_counts.sum()) - np.log(second_counts / second_counts.sum())
        order = np.argsort(ratios, kind="stable")
        ranks = np.empty(outcomes.size, np.int64)
        ranks[order] = np.arange(outcomes.size)
        return cls(outcomes=outcomes, ranks=ranks, unseen=int(np.searchsorted(ratios[order], 0.0)))

    def runs(self, outcomes: Outcomes) -> Runs:
        places = np.minimum(np.searchsorted(self.outcomes, outcomes), self.outcomes.size - 1)
        is_learned = self.outcomes[places] == outcomes
        return Runs(values=np.where(is_learned, self.ranks[places], self.unseen))


def in_order(first: Outcomes, second: Outcomes) -> tuple[Runs, Runs]:
    """Returns runs of ranks for `least_loss` and `least_delta`:
    the first third on each input makes the order.
    """
    thirds = first.size // 3, second.size // 3
    order = Order.learned(first[: thirds[0]], second[: thirds[1]])
    return order.runs(first[thirds[0] :]), order.runs(second[thirds[1] :])
