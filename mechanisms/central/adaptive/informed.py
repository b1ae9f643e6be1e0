"""Decides with a rule that counts in what was measured before, where that is public."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.binary_tree import Measured, binary_tree, linear_estimates
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.token_walk import Integers, Worth

_WIDEST: Final = 3.0  # noise of before, in own scales: a wider one says too little to go by


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EarlierEstimate:
    """Holds linear estimates of the nodes of one depth, in mass units."""

    codes: Integers
    mean: NDArray[np.float64]
    tokens: NDArray[np.float64]  # how many of the own tokens have the variance of the mean
    inner: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Informed:
    """Judges whether a cell is worth it by the mean of the look and of what is known.

    The mean is weighted by their precisions.

    A cell that was split before needs less the better the mean is: finer cells were measured there already.
    """

    worth: Worth
    estimates: Sequence[EarlierEstimate]  # from depth 0 on

    @classmethod
    def of(cls, worth: Worth, earlier: Sequence[Measured]) -> Self:
        """Returns the rule that counts in `earlier`, which is in own noise scales."""
        used = [part for part in earlier if part.scale <= _WIDEST]
        if not used:
            return cls(worth=worth, estimates=())
        depths, scale = binary_tree(used), float(worth.scale)
        return cls(
            worth=worth,
            estimates=[
                EarlierEstimate(
                    codes=depth.codes,
                    mean=estimate.mean * scale,
                    tokens=estimate.variance / 2,
                    inner=depth.inner,
                )
                for depth, estimate in zip(depths, linear_estimates(depths), strict=True)
            ],
        )

    def __call__(self, nodes: Nodes, looks: Integers, tokens: int) -> NDArray[np.bool_]:
        mean, own_tokens = looks.astype(np.float64), np.full(looks.size, float(tokens))
        least = own_tokens.copy()
        for depth, estimate in enumerate(self.estimates):
            here = np.flatnonzero(nodes.depths == depth)
            place = np.searchsorted(estimate.codes, nodes.codes[here])
            there = place < estimate.codes.size
            there[there] = estimate.codes[place[there]] == nodes.codes[here[there]]
            here, place = here[there], place[there]
            own, before = 1 / own_tokens[here], 1 / estimate.tokens[place]
            mean[here] = (mean[here] * own + estimate.mean[place] * before) / (own + before)
            both = 1 / (own + before)
            least[here] = np.where(estimate.inner[place], both, np.maximum(both, self.worth.branches))
        is_split: NDArray[np.bool_] = mean >= self.worth.least(least)
        return is_split
