"""Finds a statistical lower bound on what a mechanism really costs, to hold beside its claim.

It can refute a claim, never prove one. Two neighbouring inputs are released many times. On one half of the
runs an event is chosen that tells the inputs apart; on the other half its two probabilities are bounded
(Clopper, Pearson 1934), and log(p/q) is a lower bound on the loss.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol, SupportsFloat, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from mechanisms.calibration import sensitivity
from mechanisms.candidate_net import MICRO, Plane
from mechanisms.central.adaptive.mechanism import GUIDED, Adaptive
from mechanisms.central.adaptive.rounds import NoisyRounds
from mechanisms.central.exponential.mechanism import Exponential
from mechanisms.central.grid_laplace.noisy_cells import NoisyGrid
from mechanisms.central.privtree.mechanism import PrivTree
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.check import in_range
from mechanisms.guarantee import Relation
from mechanisms.guide import SIDE, Guide
from mechanisms.local.reports import LocalMechanism
from mechanisms.mechanism import HeatmapMechanism
from mechanisms.metric.linear.answers import AnswerSums
from mechanisms.randomness import RandomSource
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid

_BINS: Final = 12  # a feature; coarse bins cost some power, never validity
_FEATURES: Final = 4  # the most telling ones; the others would only blur the score

Matrix: TypeAlias = NDArray[np.float64]
Cell: TypeAlias = tuple[int, int]  # column from the west, row from the south
Input = TypeVar("Input", MassMap, RecordMeans, AnswerSums, ItemRecords, Cell)
Data_contra = TypeVar("Data_contra", contravariant=True)
# One run on one input: the features `(f,)` an attacker sees, always in the same places.
Draw: TypeAlias = Callable[[Input, RandomSource], Matrix]


class NoisySums(Protocol[Data_contra]):
    """Releases what follows from sums with noise."""

    def noisy_sums(self, data: Data_contra, rng: RandomSource, /) -> Sequence[SupportsFloat]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """Bounds the loss at the given delta: it is at least `epsilon` with probability `confidence`."""

    epsilon: float
    confidence: float
    draws: int  # on each of the two inputs


def audit(
    draw: Draw[Input],
    first: Input,
    second: Input,
    rng: RandomSource,
    *,
    draws: int,
    confidence: float = 1 - 1e-6,
    delta: float = 0.0,
) -> LowerBound:
    """Returns a lower bound on the loss between two neighbouring inputs, from `draws` runs on each.

    Power: an event of probability 1/2 against exp(-2)/2 is bounded above 1.5 with 2,000 draws.
    """
    in_range(100, 10**8, draws=draws)
    runs_one, runs_other = (np.stack([draw(data, rng) for _ in range(draws)]) for data in (first, second))
    return bound_of_runs(runs_one, runs_other, confidence=confidence, delta=delta)


def bound_of_runs(
    runs_one: Matrix, runs_other: Matrix, *, confidence: float = 1 - 1e-6, delta: float = 0.0
) -> LowerBound:
    """Returns the bound that `audit` finds in runs made elsewhere.

    They are features `(draws, f)` of independent runs on each input.
    """
    draws = len(runs_one)
    half = draws // 2
    score = _score(runs_one[:half], runs_other[:half])
    selection = score(runs_one[:half]), score(runs_other[:half])
    held_out = score(runs_one[half:]), score(runs_other[half:])
    event = max(_events(*selection), key=lambda event: event.loss(*selection, delta, confidence))
    epsilon = max(0.0, event.loss(*held_out, delta, confidence))
    return LowerBound(epsilon=epsilon, confidence=confidence, draws=draws)


def private_part(mechanism: HeatmapMechanism) -> Draw[MassMap]:
    """Returns the earliest output the guarantee covers:
    what comes after is post-processing and hides losses.
    """
    if isinstance(mechanism, Adaptive | NoisyRounds):
        return _rounds(mechanism)
    if isinstance(mechanism, PrivTree):
        return _leaves(mechanism)
    if isinstance(mechanism, NoisyGrid):
        return _cells(mechanism)
    return _measurements(mechanism) if isinstance(mechanism, SparseEmd) else released_masses(mechanism)


def released_masses(mechanism: HeatmapMechanism) -> Draw[MassMap]:
    """Returns features of a release on a small grid: every cell's mass, in persons."""

    def draw(masses: MassMap, rng: RandomSource) -> Matrix:
        heatmap = mechanism.release(masses, rng)
        total = float(heatmap.values.sum())
        return heatmap.dense().ravel() * total

    return draw


def neighbours(mechanism: HeatmapMechanism) -> tuple[MassMap, MassMap]:
    """Returns two inputs at the farthest distance the relation allows:
    one person more, or one at another place.
    """
    cells = mechanism.resolution**2
    crowd = {0: 2, cells // 2: 1, cells - 1: 3}  # persons by cell; cell 1 is empty
    there = {**crowd, 1: 1}
    gone = crowd if mechanism.relation is Relation.ADD_REMOVE else {**crowd, cells - 2: 1}
    return _persons_in(mechanism, there), _persons_in(mechanism, gone)


def guided(mechanism: Adaptive) -> Adaptive:
    """Returns the same with a guide that expects most people about the place where `neighbours` differ.

    For the public guess that is nearest to its own among those that allow a guide.
    """
    least, most = (
        math.ceil(sensitivity(mechanism.relation) * scales / mechanism.epsilon) for scales in GUIDED
    )
    persons = min(max(mechanism.expected_persons, least), most - 1)
    values = np.ones((SIDE, SIDE))
    values[SIDE // 2 :, : SIDE // 2] = 8.0
    return replace(mechanism, expected_persons=persons, guide=Guide.of_values(values))


def drawn_place(mechanism: Exponential) -> Draw[RecordMeans]:
    """Returns features of a central point: its column and row in the net."""
    law_of = lru_cache(maxsize=2)(mechanism.law)

    def draw(means: RecordMeans, rng: RandomSource) -> Matrix:
        return np.array(law_of(means).draw(rng), dtype=np.float64)

    return draw


def moved(mechanism: Exponential, distance_m: Fraction) -> tuple[RecordMeans, RecordMeans]:
    """Places everybody at the south-westernmost candidate, and one person moved east by at most the distance.

    From there almost every move brings the other candidates nearer, so that both factors of the loss, the
    weight and the sum of all weights, count.
    """
    plane, net, n = Plane(mechanism.region), mechanism.net, mechanism.persons
    start_x, start_y = PARTS // (2 * net.columns), PARTS // (2 * net.rows)
    parts = int(distance_m / plane.shrink * MICRO * PARTS / plane.width_um)
    base = RecordMeans(persons=n, x=n * start_x, y=n * start_y)
    return base, RecordMeans(persons=n, x=base.x + min(parts, PARTS - start_x), y=base.y)


def drawn_sums(mechanism: NoisySums[Input]) -> Draw[Input]:
    """Returns features of what is cut afterwards: the sums with their noise, all that is promised about."""

    def draw(data: Input, rng: RandomSource) -> Matrix:
        return np.array([float(value) for value in mechanism.noisy_sums(data, rng)])

    return draw


def one_moved(mechanism: ShuffledCentroid, distance_m: Fraction) -> tuple[RecordMeans, RecordMeans]:
    """Places everybody in the middle of the western border, and one person moved east."""
    plane, n = Plane(mechanism.region), mechanism.persons
    parts = int(distance_m / plane.shrink * MICRO * PARTS / plane.width_um)
    here = RecordMeans(persons=n, x=0, y=n * PARTS // 2)
    return here, RecordMeans(persons=n, x=min(parts, PARTS), y=here.y)


def drawn_report(mechanism: LocalMechanism) -> Draw[Cell]:
    """Returns features of one report: its column and row."""

    def draw(cell: Cell, rng: RandomSource) -> Matrix:
        column, row = (np.array([index], dtype=np.int64) for index in cell)
        return np.concatenate(mechanism.release((column, row), rng)).astype(np.float64)

    return draw


def _measurements(mechanism: SparseEmd) -> Draw[MassMap]:
    """Returns noisy masses of all cells of all levels, in mass units; -inf where nothing was measured."""

    def draw(masses: MassMap, rng: RandomSource) -> Matrix:
        measured = mechanism.measure(masses, rng)
        vectors = [np.full(4**level.level, -np.inf) for level in measured]
        for vector, level in zip(vectors, measured, strict=True):
            vector[level.cells] = level.noisy
        return np.concatenate(vectors)

    return draw


def _rounds(mechanism: Adaptive | NoisyRounds) -> Draw[MassMap]:
    """Returns the features that tell `neighbours` apart in the rounds, at any noise scale,
    and the shape of the last one's cells.

    Of a round: Σ |noisy - second| - |noisy - first| over its cells, in persons, which is the log likelihood
    ratio of Laplace noise but for its scale. Of the last cells: their number, and the depth at each place
    that differs.
    """
    first, second = neighbours(mechanism)
    places = np.setxor1d(first.cells, second.cells)

    def draw(masses: MassMap, rng: RandomSource) -> Matrix:
        rounds = mechanism.measure(masses, rng)
        ratios = [
            np.abs(part.noisy - part.cells.masses(second)) - np.abs(part.noisy - part.cells.masses(first))
            for part in rounds
        ]
        last = rounds[-1].cells
        depths = last.nodes.depths[last.holding(places, level=first.level)]
        return np.array(
            [*(ratio.sum() / mechanism.unit for ratio in ratios), last.nodes.depths.size, *depths]
        )

    return draw


def _cells(mechanism: NoisyGrid) -> Draw[MassMap]:
    """Returns noisy masses of all cells, in mass units."""

    def draw(masses: MassMap, rng: RandomSource) -> Matrix:
        return mechanism.measure(masses, rng).astype(np.float64)

    return draw


def _leaves(mechanism: PrivTree) -> Draw[MassMap]:
    """Returns noisy masses of the leaves, in mass units, spread evenly over their cells."""

    def draw(masses: MassMap, rng: RandomSource) -> Matrix:
        cut, noisy = mechanism.measure(masses, rng)
        cells = 4 ** (masses.level - cut.levels)
        return np.repeat(noisy / cells, cells)

    return draw


def _persons_in(mechanism: HeatmapMechanism, persons: dict[int, int]) -> MassMap:
    cells = np.array(sorted(persons), dtype=np.int64)
    masses = np.array([persons[cell] * mechanism.unit for cell in sorted(persons)], dtype=np.int64)
    return MassMap(
        level=mechanism.resolution.bit_length() - 1, unit=mechanism.unit, cells=cells, masses=masses
    )


@dataclass(frozen=True, slots=True)
class _Event:
    """Selects {score ≥ threshold}, or its complement, on the input where it is more likely."""

    threshold: float
    above: bool

    def loss(self, first: Matrix, second: Matrix, delta: float, confidence: float) -> float:
        likely, rare = (first, second) if self.above else (second, first)
        hits = [int(((part >= self.threshold) == self.above).sum()) for part in (likely, rare)]
        risk = (1 - confidence) / 2  # two bounds must hold at once
        low = _at_least(hits[0], likely.size, risk) - delta
        return math.log(low / _at_most(hits[1], rare.size, risk)) if low > 0 else -math.inf


def _events(first: Matrix, second: Matrix) -> list[_Event]:
    thresholds = np.unique(np.quantile(np.concatenate((first, second)), np.linspace(0.01, 0.99, 99)))
    return [_Event(float(threshold), above) for threshold in thresholds for above in (True, False)]


def _at_least(hits: int, trials: int, risk: float) -> float:
    return float(beta.ppf(risk, hits, trials - hits + 1)) if hits else 0.0


def _at_most(hits: int, trials: int, risk: float) -> float:
    return float(beta.isf(risk, hits + 1, trials - hits)) if hits < trials else 1.0


def _score(first: Matrix, second: Matrix) -> Callable[[Matrix], Matrix]:
    """Returns the sum over the most telling features of their log likelihood ratios,
    learned from binned counts.

    Noise is independent between cells and levels, so the sum is close to the best test there is.
    """
    learned = [_log_ratios(first[:, place], second[:, place]) for place in range(first.shape[1])]
    best = sorted(range(len(learned)), key=lambda place: learned[place][2], reverse=True)[:_FEATURES]

    def score(features: Matrix) -> Matrix:
        total = np.zeros(len(features))
        for place in best:
            edges, ratios, _ = learned[place]
            total += ratios[np.searchsorted(edges, features[:, place], side="right")]
        return total

    return score


def _log_ratios(first: Matrix, second: Matrix) -> tuple[Matrix, Matrix, float]:
    """Returns (bin edges, log ratio in each bin, how telling the feature is: the symmetric KL divergence)."""
    edges = np.unique(
        np.quantile(np.concatenate((first, second)), np.linspace(0, 1, _BINS + 1)[1:-1], method="lower")
    )
    shares = []
    for values in (first, second):
        counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=edges.size + 1)
        shares.append((counts + 0.5) / (counts + 0.5).sum())
    ratios = np.log(shares[0] / shares[1])
    return edges, ratios, float(((shares[0] - shares[1]) * ratios).sum())
