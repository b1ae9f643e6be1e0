"""Plain sentences about reports that were blurred one by one."""

import math
from typing import Final

from heatmaps.lengths import at_least_words, length_words
from heatmaps.wording.guarantee import decimal, factor, metres
from mechanisms.geometry.least_error import LeastError, least_error
from mechanisms.guarantee import Guarantee
from mechanisms.local.reports import LocalMechanism

_WEAK_EPSILON: Final = 5
_UNPROTECTED: Final = (
    "Not protected: user (who), time (when), the order of the rows and the number of rows. A person's "
    "rows stay linked: many reports from one place show it more clearly, as the second line counts."
)


ON_A_DEVICE: Final = (
    "Whoever runs this command sees the true places; run on a person's own device, nobody else does."
)
ON_THE_SERVER: Final = (
    "The server that blurred the file saw the true places, and so did whoever uploaded it: they are trusted. "
    "Run on a person's own device, nobody else would be."
)


def statements(
    mechanism: LocalMechanism, *, radius_m: int, diameter_m: float, trusted: str = ON_A_DEVICE
) -> tuple[str, ...]:
    """What is promised of a file of reports, what is not, how far reports are off, and who is trusted."""
    times, error = mechanism.max_reports, mechanism.expected_error()
    within_words = length_words(error.within_m)
    within = f"within {metres(radius_m)} of the true one"
    one = f"One report: any place {within}"
    reports = "1 report" if times == 1 else f"{times:,} reports"
    each = f"A person with {reports}: any other places, each {within},"
    return (
        _promise(one, mechanism.per_report, radius_m),
        _promise(each, mechanism.guarantee, radius_m),
        _promise("The same person: any other places in the region", mechanism.guarantee, _far(diameter_m)),
        _UNPROTECTED,
        "Further reports of the same persons, in another file or run, add their loss to this.",
        f"Expected error: {length_words(error.expected_m)}; 95 % of reports are within {within_words}. "
        + error.assumptions,
        "No mechanism can do better than this with no more loss a metre between cells of this size: "
        + at_best(least_of(mechanism)),
        trusted,
    )


def least_of(mechanism: LocalMechanism) -> LeastError:
    """Of all mechanisms on the same cells that lose no more a metre: from public facts."""
    return least_error(mechanism.lattice, mechanism.costs.per_metre)


def at_best(least: LeastError) -> str:
    return (
        f"an expected error of {at_least_words(least.mean_m)}, averaged over all cells alike, and of "
        f"{at_least_words(least.worst_m)} in the cell where it is largest."
    )


def _promise(what: str, guarantee: Guarantee, distance_m: int) -> str:
    loss = guarantee.loss(distance_m)
    weak = " That is a weak promise." if loss > _WEAK_EPSILON else ""
    return (
        f"{what} could have led to the same with a probability that differs by a factor of at most "
        f"{factor(loss)} (ε = {decimal(loss, digits=6)}, δ = 0).{weak}"
    )


def _far(diameter_m: float) -> int:
    return math.floor(diameter_m) + 1
