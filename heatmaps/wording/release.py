"""One release in words, and a dataset's releases together: promises, parameters, predicted error."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from heatmaps import queries
from heatmaps.models import Dataset, Release
from heatmaps.wording.guarantee import decimal, metres, sentences
from mechanisms import catalogue
from mechanisms.grid import Region
from mechanisms.guarantee import Guarantee
from mechanisms.prediction import FARTHEST


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """A predicted error: its size twice (share of the region's side, distance), what it bounds, and when.

    Mass spread evenly over the unit square is nowhere more than 1 (L1) from mass in one corner, which is
    the worst case: a bound from 1 upwards says nothing that needs data.
    """

    useful: bool  # below what a map drawn without any data keeps
    share: str
    distance: str
    quantity: str
    assumptions: str


def for_release(release: Release) -> tuple[str, ...]:
    """What one release promises."""
    return for_guarantee(Guarantee.from_json(release.guarantee), release.dataset, subject="this map")


def for_dataset(dataset: Dataset) -> tuple[str, ...]:
    """What everything that was asked for so far promises together."""
    subject = "all releases of this dataset so far together"
    return for_guarantee(queries.total_guarantee(dataset), dataset, subject=subject)


def for_guarantee(guarantee: Guarantee, dataset: Dataset, *, subject: str) -> tuple[str, ...]:
    diameter_m = queries.region_of(dataset).diameter_m
    return sentences(guarantee, subject=subject, radius_m=dataset.radius_m, diameter_m=diameter_m)


def error_words(bound: Mapping[str, object] | None, region: Region) -> ErrorWords | None:
    """`bound` is an `ErrorBound` as JSON values; None where no error can be predicted."""
    if bound is None:
        return None
    emd = float(str(bound["emd"]))
    return ErrorWords(
        useful=emd < FARTHEST / 2,
        share=f"{100 * emd:.3g} %",
        distance=metres(_two_digits(emd * max(region.width_m, region.height_m))),
        quantity=str(bound["quantity"]),
        assumptions=str(bound["assumptions"]),
    )


def parameter_words(release: Release) -> list[tuple[str, str]]:
    """(title, value) of the mechanism's own parameters, and of what every mechanism has."""
    titles = {parameter.name: parameter.title for parameter in catalogue.get(release.mechanism).parameters}
    own = [(titles.get(name, name), str(value)) for name, value in release.parameters.items()]
    side = f"{release.resolution} × {release.resolution} cells"
    return [("ε asked for", decimal(Fraction(release.epsilon))), ("Resolution", side), *own]


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")
