"""One release in words, and a dataset's releases together: promises, parameters, predicted error."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from heatmaps import queries
from heatmaps.lengths import length_words
from heatmaps.models import Dataset, Release
from heatmaps.quotes import asked_of
from heatmaps.wording.asked import value_words
from heatmaps.wording.guarantee import decimal, metres, sentences
from heatmaps.wording.parts import part_words
from mechanisms import catalogue
from mechanisms.catalogue import Kind
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
    least: str = ""  # a distance, where a forecast has a lower end too; empty: a bound


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceErrorWords:
    """A predicted error of a point or of mean distances: two distances, what they are, and when."""

    expected: str
    within: str
    quantity: str
    assumptions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareErrorWords:
    """A predicted error of shares of all persons: its size, what it is, and when."""

    points: str  # percentage points
    quantity: str
    assumptions: str


RESULTS: Final[Mapping[Kind, str]] = {
    "heatmap": "map",
    "centroid": "point",
    "zones": "map of zones",
    "distances": "map of distances",
}


def result_word(mechanism: str) -> str:
    """What a mechanism releases, in a word: "map", "point", "map of zones" or "map of distances"."""
    return RESULTS[catalogue.get(mechanism).kind]


def for_release(release: Release) -> tuple[str, ...]:
    """What one release promises."""
    subject = f"this {result_word(release.mechanism)}"
    return for_guarantee(Guarantee.from_json(release.guarantee), release.dataset, subject=subject)


def for_dataset(dataset: Dataset) -> tuple[str, ...]:
    """What everything that was asked for so far promises together."""
    subject = "all releases of this dataset so far together"
    return for_guarantee(queries.total_guarantee(dataset), dataset, subject=subject)


def for_guarantee(guarantee: Guarantee, dataset: Dataset, *, subject: str) -> tuple[str, ...]:
    diameter_m = queries.region_of(dataset).diameter_m
    return sentences(guarantee, subject=subject, radius_m=dataset.radius_m, diameter_m=diameter_m)


def error_words(
    bound: Mapping[str, object] | None, region: Region
) -> ErrorWords | DistanceErrorWords | ShareErrorWords | None:
    """`bound`: an `ErrorBound`, `PointError` or `ShareError` as JSON values; None where there is none."""
    if bound is None:
        return None
    if "share" in bound:
        return ShareErrorWords(
            points=f"{100 * float(str(bound['share'])):.2g}",
            quantity=str(bound["quantity"]),
            assumptions=str(bound["assumptions"]),
        )
    if "within_m" in bound:
        return DistanceErrorWords(
            expected=length_words(float(str(bound["expected_m"]))),
            within=length_words(float(str(bound["within_m"]))),
            quantity=str(bound["quantity"]),
            assumptions=str(bound["assumptions"]),
        )
    emd, side_m = float(str(bound["emd"])), max(region.width_m, region.height_m)
    return ErrorWords(
        useful=emd < FARTHEST / 2,
        share=f"{100 * emd:.3g} %",
        distance=metres(_two_digits(emd * side_m)),
        quantity=str(bound["quantity"]),
        assumptions=str(bound["assumptions"]),
        least=metres(_two_digits(float(str(bound["emd_low"])) * side_m)) if "emd_low" in bound else "",
    )


def parameter_words(release: Release) -> list[tuple[str, str]]:
    """(title, value) of what every mechanism has, of its own parameters, and of the part of the data."""
    titles = {parameter.name: parameter.title for parameter in catalogue.get(release.mechanism).parameters}
    own = [(titles.get(name, name), value_words(name, value)) for name, value in release.parameters.items()]
    side = f"{release.resolution} × {release.resolution} cells"
    grid = [] if release.resolution is None else [("Resolution", side)]
    part = part_words(asked_of(release), queries.region_of(release.dataset))
    delta = Fraction(release.delta)
    costs = [("ε asked for", decimal(Fraction(release.epsilon)))]
    costs += [("δ asked for", decimal(delta, digits=18))] if delta else []
    return [*costs, *grid, *own, *part]


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")
