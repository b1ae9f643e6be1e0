"""Words the promises of reports that were blurred one by one."""

import math
from typing import Final

from heatmaps.numbers import count, error_length, exact_length, length_at_least
from heatmaps.wording.guarantee import factor, loss
from heatmaps.wording.record_distance import PLACES_AS_READ
from mechanisms.guarantee import Guarantee
from mechanisms.local.least_error import LeastError, least_error
from mechanisms.local.reports import LocalMechanism

_WEAK_EPSILON: Final = 5
_UNPROTECTED: Final = (
    "Not protected: user (who), time (when), the order of the rows and the number of rows. A person's "
    "rows stay linked: many reports from one place show it more clearly, as the second line counts."
)


ON_A_DEVICE: Final = (
    "The person who runs this command sees the true places; run on a person's own device, nobody else does."
)
ON_THE_SERVER: Final = (
    "The server that blurred the file saw the true places, and so did the uploader: both are trusted. "
    "Run on a person's own device, nobody else would be."
)


def statements(
    mechanism: LocalMechanism, *, radius_m: int, diameter_m: float, trusted: str = ON_A_DEVICE
) -> tuple[str, ...]:
    """Says what is promised of a file of reports, what is not, how far reports are off, and who is
    trusted."""
    times, error = mechanism.max_reports, mechanism.expected_error()
    farthest_m = math.floor(diameter_m) + 1
    within_words = error_length(error.within_m)
    within = f"within {exact_length(radius_m)} of the true one"
    single = f"One report: any place {within}"
    reports = "1 report" if times == 1 else f"{count(times)} reports"
    each = f"A person with {reports}: any other places, each {within},"
    return (
        _promise(single, mechanism.per_report, radius_m),
        _promise(each, mechanism.guarantee, radius_m),
        _promise("The same person: any other places in the region", mechanism.guarantee, farthest_m),
        PLACES_AS_READ,
        _UNPROTECTED,
        "Further reports of the same people, in another file or run, add their loss to this.",
        f"Expected error: {error_length(error.expected_m)}; 95 % of reports are within {within_words}. "
        + error.assumptions,
        "No mechanism can do better than this with no more loss a metre of the region's flat map, between "
        "cells of this size: " + at_best(least_of(mechanism)),
        trusted,
    )


def least_of(mechanism: LocalMechanism) -> LeastError:
    """Returns the least error of all mechanisms on the same cells that lose no more a metre: from public
    facts."""
    return least_error(mechanism.lattice, mechanism.costs.per_metre)


def at_best(least: LeastError) -> str:
    return (
        f"an expected error of {length_at_least(least.mean_m)}, averaged over all cells alike, and of "
        f"{length_at_least(least.worst_m)} in the cell where it is largest."
    )


def _promise(what: str, guarantee: Guarantee, distance_m: int) -> str:
    epsilon = guarantee.loss(distance_m)
    weak = " That is a weak promise." if epsilon > _WEAK_EPSILON else ""
    return (
        f"{what} could have led to the same with a probability that differs by a factor of at most "
        f"{factor(epsilon)} (ε = {loss(epsilon)}, δ = {loss(guarantee.delta)}).{weak}"
    )
