"""Compares released maps with the truth as the heatmap paper does (Ghazi et al. 2022, §4).

A trial draws persons of a place without replacement, cuts their records to it, lets each weigh 1, releases
the sum and compares both maps after smoothing. Every mechanism and epsilon meets the same persons.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.catalogue.registry import build
from mechanisms.check import ParameterError, in_range, power_of_two
from mechanisms.evaluation.earth_mover import EXACT_SIDE_LIMIT, block_sums, emd_exact, emd_metres
from mechanisms.evaluation.places import CheckInPlace
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.evaluation.similarity import kl, kl_mixed, normalised, pearson, similarity
from mechanisms.evaluation.smoothing import MAX_SIGMA_CELLS, smooth_cut
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism, Target
from mechanisms.records.aggregation import masses
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import DENSE_SIDE_LIMIT, Heatmap
from mechanisms.space.grid import morton_decode

_TRUTH_UNIT: Final = 2**40  # shares of a person are cut by less than 1e-12

Dense = NDArray[np.float64]
Progress = Callable[[int, int], None]  # (trials done, of how many)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Holds settings that are the same for every mechanism. Errors: `ParameterError`.

    Smoothing cuts off what leaves the grid and normalises again. The earth mover's distance is taken on
    32 × 32 blocks, or with `exact` on the full grid.
    """

    persons: int  # drawn in a trial
    trials: int  # in total, dealt to the places in turn
    sigma: float = 4.0  # cells
    resolution: int = 256
    exact: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        in_range(1, 2**20, persons=self.persons)
        in_range(1, 10**6, trials=self.trials)
        in_range(0, MAX_SIGMA_CELLS, sigma=self.sigma)
        power_of_two(2, EXACT_SIDE_LIMIT if self.exact else DENSE_SIDE_LIMIT, resolution=self.resolution)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """Holds means over the trials of one mechanism and epsilon, with standard errors (nan for one trial)."""

    mechanism: str
    epsilon: float
    persons: int
    trials: int
    emd: float  # L1 on the unit square
    emd_se: float
    emd_metres: float
    kl: float
    kl_se: float
    kl_mixed: float
    kl_mixed_se: float
    similarity: float
    similarity_se: float
    pearson: float
    pearson_se: float
    sigma: float
    resolution: int
    seconds: float  # in which all releases together were drawn, comparisons not counted

    def of(self, measures: Iterable[str]) -> dict[str, float]:
        """Returns these means and their standard errors, by name."""
        return {key: float(getattr(self, key)) for measure in measures for key in (measure, f"{measure}_se")}


def listed(
    name: str, epsilon: str | Fraction, persons: int, *, resolution: int, parameters: Mapping[str, str]
) -> HeatmapMechanism:
    """Returns a mechanism of the catalogue that was given the right number of persons."""
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon), expected_persons=persons)
    return build(name, target=target, resolution=resolution, parameters=parameters)


def compare(
    places: Sequence[CheckInPlace],
    mechanisms: Sequence[HeatmapMechanism],
    protocol: Protocol,
    *,
    progress: Progress | None = None,
) -> list[ComparisonRow]:
    """Returns a row for each mechanism. Trial t takes place t mod len(places);
    the same seed, the same numbers.

    Errors: `ParameterError` when a place has fewer persons than a trial draws.
    """
    _check(places, mechanisms, protocol)
    tallies = [_ErrorTally(mechanism=mechanism) for mechanism in mechanisms]
    for number in range(protocol.trials):
        repetition, which = divmod(number, len(places))
        trial = Trial(place=places[which], repetition=repetition, protocol=protocol)
        for tally in tallies:
            tally.add(trial)
        if progress is not None:
            progress(number + 1, protocol.trials)
    return [tally.row(protocol) for tally in tallies]


def _check(
    places: Sequence[CheckInPlace], mechanisms: Sequence[HeatmapMechanism], protocol: Protocol
) -> None:
    fewest = min((place.persons for place in places), default=0)
    if fewest < protocol.persons:
        raise ParameterError("persons", protocol.persons, f"at most {fewest}, the persons of a place")
    for mechanism in mechanisms:
        if mechanism.resolution != protocol.resolution:
            raise ParameterError(
                "resolution", mechanism.resolution, f"{protocol.resolution}, as the protocol's"
            )


class Trial:
    """Holds persons drawn from a place, and the truth about them."""

    def __init__(self, *, place: CheckInPlace, repetition: int, protocol: Protocol) -> None:
        self.place, self.repetition, self.protocol = place, repetition, protocol
        rng = np.random.default_rng(self.seed("persons"))
        self._set(rng.choice(place.persons, protocol.persons, replace=False))

    def of_others(self, turn: int = 0) -> Self:
        """Returns the same trial with other persons:
        as many of those who were not drawn, or all who are left.

        Equal turns draw the same. Errors: ValueError where nobody is left.
        """
        left = np.setdiff1d(np.arange(self.place.persons), self._chosen)
        rng = np.random.default_rng(self.seed("others", turn))
        other = type(self)(place=self.place, repetition=self.repetition, protocol=self.protocol)
        other._set(rng.choice(left, min(self.protocol.persons, left.size), replace=False))
        return other

    def _set(self, members: NDArray[np.int64]) -> None:
        self._chosen = np.sort(members)
        self._persons, self._cells = self.place.records(self._chosen)
        self._masses: dict[int, MassMap] = {}
        self.truth = self.smoothed(_dense(self.masses(_TRUTH_UNIT)))

    def seed(self, *words: object) -> int:
        """Returns the seed of a stream of its own for each use,
        so that results do not depend on what else is compared.
        """
        key = (self.protocol.seed, self.place.number, self.repetition, *words)
        return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:16])

    def masses(self, unit: int) -> MassMap:
        if unit not in self._masses:
            level = self.protocol.resolution.bit_length() - 1
            self._masses[unit] = masses(persons=self._persons, cells=self._cells, level=level, unit=unit)
        return self._masses[unit]

    def smoothed(self, dense: Dense) -> Dense:
        return normalised(smooth_cut(dense, self.protocol.sigma))

    def released(self, mechanism: HeatmapMechanism) -> Heatmap:
        """Returns the mechanism's map of these persons, with a seed of its name and epsilon."""
        rng = SeededSource(self.seed("noise", mechanism.name, str(mechanism.epsilon)))
        return mechanism.release(self.masses(mechanism.unit), rng)

    def metres(self, released: Dense) -> float:
        # The flow between neighbours: the same number as `emd` gives on blocks, twenty times as fast.
        return emd_metres(*self._blocks(self.smoothed(released)), self.place.region, exact=True)

    def similarities(self, released: Dense) -> dict[str, float]:
        truth, release = self.truth, self.smoothed(released)
        return {
            "emd": emd_exact(*self._blocks(release)),
            "kl": kl(truth, release),
            "kl_mixed": kl_mixed(truth, release),
            "similarity": similarity(truth, release),
            "pearson": pearson(truth, release),
        }

    def _blocks(self, release: Dense) -> tuple[Dense, Dense]:
        if self.protocol.exact:
            return self.truth, release
        return block_sums(self.truth), block_sums(release)


@dataclass(slots=True, kw_only=True)
class _ErrorTally:
    mechanism: HeatmapMechanism
    seconds: float = 0.0
    measures: list[dict[str, float]] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        trial.masses(self.mechanism.unit)  # summed before the clock starts
        start = time.perf_counter()
        heatmap = trial.released(self.mechanism)
        self.seconds += time.perf_counter() - start
        dense = heatmap.dense()
        self.measures.append(trial.similarities(dense) | {"emd_metres": trial.metres(dense)})

    def row(self, protocol: Protocol) -> ComparisonRow:
        means = {name: [measured[name] for measured in self.measures] for name in self.measures[0]}
        errors = {f"{name}_se": _standard_error(values) for name, values in means.items()}
        del errors["emd_metres_se"]
        return ComparisonRow(
            mechanism=self.mechanism.name,
            epsilon=float(self.mechanism.epsilon),
            persons=protocol.persons,
            trials=len(self.measures),
            sigma=protocol.sigma,
            resolution=protocol.resolution,
            seconds=self.seconds,
            **{name: math.fsum(values) / len(values) for name, values in means.items()},
            **errors,
        )


def _standard_error(values: Sequence[float]) -> float:
    """Returns the standard error of the mean, trials taken as independent."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _dense(summed: MassMap) -> Dense:
    """Returns the map with row 0 north, as `Heatmap.dense`."""
    side = 1 << summed.level
    x, y = morton_decode(summed.cells, summed.level)
    dense = np.zeros((side, side))
    dense[side - 1 - y, x] = summed.masses
    return normalised(dense)
