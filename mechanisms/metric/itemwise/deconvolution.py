"""Finds the likeliest map behind counted reports that were moved at random, by columns and by rows."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

STEPS: Final = 1000
_NOTHING: Final = 1e-12  # of the whole; below, a share is 0 for good

Floats = NDArray[np.float64]


def likeliest(reports: NDArray[np.int64], across: Floats, along: Floats, *, steps: int = STEPS) -> Floats:
    """Returns `(columns, rows)` shares with sum 1, none negative, for numbers of reports of that shape.

    across, along: `(columns, columns)` and `(rows, rows)` probabilities of a report (column of the matrix)
    by place (row), none 0. Expectation maximisation from the even map (Richardson 1972, Lucy 1974;
    Dempster, Laird, Rubin 1977): each step raises the likelihood, sums stay 1 and nothing becomes
    negative. Stopped after few steps it stays near to the even map where reports say little, which keeps
    noise from becoming peaks. Post-processing. Without reports the map is even.
    """
    shares = np.full(reports.shape, 1 / reports.size)
    total = int(reports.sum())
    if not total:
        return shares
    frequencies = reports / total
    for _ in range(steps):
        shares *= across @ (frequencies / (across.T @ shares @ along)) @ along.T
        shares[shares < _NOTHING] = 0  # also keeps numbers from becoming denormal, and slow
        shares /= shares.sum()
    return shares
