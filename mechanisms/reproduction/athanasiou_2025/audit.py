"""Audits of shuffled sums: what is printed is refuted, what is claimed here is not, in one run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.accounting.sgdl import sgdl
from mechanisms.audit.batches import CONFIDENCE, Runs, least_delta, least_loss, tilted_geometric_sum
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.reproduction.athanasiou_2025 import printed_constants
from mechanisms.reproduction.exhibit import ExhibitRequest, Row, panels
from mechanisms.samplers.two_sided import sgdl_noise
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.protocol import rounded_down
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum

DRAWS: Final = 1_000_000  # on each input
FAR: Final = 233  # steps
TABLE_3_EPSILON: Final = 0.01767766953  # ε/(6√2) a step
_ROWS_AT_A_TIME: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCase:
    """Holds a claim of `epsilon` a step at δ, and runs on two inputs that are `distance` steps apart."""

    name: str
    persons: int
    epsilon: float
    delta: float
    distance: int
    runs: Callable[[int], tuple[Runs, Runs]]  # of the number of draws
    sound: bool = False  # whether the claim is one of ours
    tight: bool = False  # whether our claim is reached, not only kept

    @property
    def claim(self) -> float:
        return self.epsilon * self.distance

    def row(self, draws: int) -> Row:
        first, second = self.runs(draws)
        loss = least_loss(first, second, delta=self.delta, seed=1)
        delta = least_delta(first, second, loss=self.claim, seed=2)
        return {
            "what": self.name,
            "n": self.persons,
            "epsilon_a_step": self.epsilon,
            "distance": self.distance,
            "claimed_loss": self.claim,
            "least_loss": loss,
            "claimed_delta": self.delta,
            "least_delta": delta,
            "part_of_claim": loss / self.claim,
            "refuted": str(loss > self.claim),
        }


def run(request: ExhibitRequest) -> list[Path]:
    """Writes lower bounds for printed claims and for ours. Errors: as `ExhibitRequest.write`."""
    draws = DRAWS * (10 if request.full else 1)
    ours = our_cases(persons=50, domain=1000) if request.full else our_cases(persons=10, domain=20)
    rows = [case.row(draws) for case in [*printed_cases(), *ours]]
    figure, (axes,) = panels(1, height=5)
    labels = [f"{row['what']} (n={row['n']}, d={row['distance']})" for row in rows]
    parts = [float(str(row["part_of_claim"])) for row in rows]
    axes.barh(labels, parts, color=["#ad2b2b" if part > 1 else "#0b6e75" for part in parts])
    axes.axvline(1, color="#1d2530", linewidth=1)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel(f"lower bound on the loss / claim, {CONFIDENCE:.1%}", fontsize=9)
    return request.write(rows, figure, draws=f"{draws:,}")


def printed_cases() -> Iterator[AuditCase]:
    """Yields claims of the paper at its own settings."""
    few, many = _Setting(50, 0.2, 1e-4), _Setting(1000, TABLE_3_EPSILON, 5e-5)
    yield many.case("Lemma C.1: shares within the printed padding", 1, _within_printed_padding)
    for setting, distance in ((few, 10), (many, 6)):
        clamped = _Clamped(*setting, distance)
        yield setting.case("SGDL-Shuffle clamped at the printed padding", distance, clamped)
    far = _Far(50, printed_constants.geo_epsilon(0.2, 50, 1e-4))
    yield few.case("Theorem 4.1: Geo-Shuffle as printed, far move", FAR, far)
    near = _Near(50, calibrate_geo_sum(persons=50, epsilon=0.2, delta=1e-4, radius=1), 20)
    yield few.case("Theorem 4.1: exact at one step, at twenty", 20, near)


def our_cases(*, persons: int, domain: int) -> Iterator[AuditCase]:
    """Yields claims of this package, by its own protocols and samplers; RR-Shuffle with fewer bits."""
    for kind, tight in ((GeoSum, False), (SgdlSum, True)):
        yield _ours(kind, persons, domain, Fraction(1, 10**4), tight=tight)
    yield _ours(GeoSum, 8, 10, Fraction(1, 100), tight=True)
    yield _ours(RrSum, 8, 10, Fraction(1, 100), tight=False)
    far = calibrate_geo_sum(persons=50, epsilon=0.2, delta=1e-4, radius=FAR)
    case = _Setting(50, 0.2, 1e-4).case("geo-shuffle, far move", FAR, _Far(50, far))
    yield replace(case, sound=True, tight=True)


class _Setting(NamedTuple):
    """Names the setting that a claim is made for."""

    persons: int
    epsilon: float
    delta: float

    def case(self, name: str, distance: int, runs: Callable[[int], tuple[Runs, Runs]]) -> AuditCase:
        return AuditCase(name=name, distance=distance, runs=runs, **self._asdict())


def _ours(
    kind: type[GeoSum] | type[SgdlSum] | type[RrSum],
    persons: int,
    domain: int,
    delta: Fraction,
    *,
    tight: bool,
) -> AuditCase:
    protocol = kind.calibrate(persons=persons, epsilon=Fraction(1, 5), delta=delta, radius=10, domain=domain)
    case = _Setting(persons, 0.2, float(delta)).case(
        protocol.name,
        10,
        lambda draws: (published_ones(protocol, 0, draws, 1), published_ones(protocol, 10, draws, 2)),
    )
    return replace(case, sound=True, tight=tight)


def published_ones(protocol: GeoSum | SgdlSum | RrSum, value: int, draws: int, seed: int) -> Runs:
    """Returns numbers of ones that the shuffler publishes: one person at `value`, all others at 0."""
    rng, counts = SeededSource(seed), np.zeros(draws, np.int64)
    for first in range(0, draws, _ROWS_AT_A_TIME):
        rows = min(_ROWS_AT_A_TIME, draws - first)
        for person in range(protocol.persons):
            own = np.full(rows, value if person == 0 else 0)
            counts[first : first + rows] += _ones(protocol, own, rng)
    return Runs(values=counts)


def _ones(
    protocol: GeoSum | SgdlSum | RrSum, values: NDArray[np.int64], rng: SeededSource
) -> NDArray[np.int64]:
    """Returns ones that each device sends; of padded noise without writing the bits down."""
    ones: NDArray[np.int64]
    if isinstance(protocol, RrSum):
        ones = np.bitwise_count(protocol.randomise(values, rng)).sum(axis=1, dtype=np.int64)
    else:
        noise = protocol.noise
        ones = np.clip(values + noise.noise(rng, values.size) + noise.padding, 0, protocol.places)
    return ones


@dataclass(frozen=True, slots=True)
class _Far:
    """Runs on x + d, and tilted ones on x that reach the tail which tells them apart."""

    persons: int
    epsilon_geo: float

    def __call__(self, draws: int) -> tuple[Runs, Runs]:
        epsilon_geo = rounded_down(self.epsilon_geo)
        plain = sgdl_noise(SeededSource(1), shape=Fraction(self.persons), epsilon=epsilon_geo, size=draws)
        tilted = tilted_geometric_sum(
            SeededSource(2), persons=self.persons, epsilon_geo=epsilon_geo, mean=FAR + 30, draws=draws
        )
        return Runs(values=plain).moved(FAR), tilted


@dataclass(frozen=True, slots=True)
class _Near:
    """Draws plain runs of the sum of n geometric noises and of another, moved."""

    persons: int
    epsilon_geo: float
    distance: int

    def __call__(self, draws: int) -> tuple[Runs, Runs]:
        shape, epsilon = Fraction(self.persons), rounded_down(self.epsilon_geo)
        base, other = (
            Runs(values=sgdl_noise(SeededSource(seed), shape=shape, epsilon=epsilon, size=draws))
            for seed in (1, 2)
        )
        return base, other.moved(self.distance)


@dataclass(frozen=True, slots=True)
class _Clamped:
    """Places everybody at the domain's end, where a padding cuts; one person moves away from it."""

    persons: int
    epsilon: float
    delta: float
    distance: int

    def __call__(self, draws: int) -> tuple[Runs, Runs]:
        padding = printed_constants.sgdl_padding(self.epsilon, self.persons, self.delta)
        rng, n = np.random.default_rng(1), self.persons
        first = self._sums(rng, n, draws, padding)
        moved = self._sums(rng, n - 1, draws, padding)
        moved += self._sums(rng, 1, draws, padding + self.distance) - self.distance
        return Runs(values=first), Runs(values=moved)

    def _sums(self, rng: np.random.Generator, people: int, draws: int, most: int) -> NDArray[np.int64]:
        law = sgdl(1 / self.persons, self.epsilon, radius=int(60 / self.epsilon))
        steps = np.arange(-law.radius, law.radius + 1)
        return sums_of_shares(rng, np.minimum(steps, most), np.exp(law.two_sided()), people, draws)


def _within_printed_padding(draws: int) -> tuple[Runs, Runs]:
    padding = printed_constants.sgdl_padding(TABLE_3_EPSILON, 1000, 5e-5)
    law = np.exp(sgdl(1 / 1000, TABLE_3_EPSILON, radius=padding).two_sided())
    steps, rng = np.arange(-padding, padding + 1), np.random.default_rng(1)
    first, second = (Runs(values=sums_of_shares(rng, steps, law, 1000, draws)) for _ in range(2))
    return first, second.moved(1)


def sums_of_shares(
    rng: np.random.Generator,
    steps: NDArray[np.int64],
    law: NDArray[np.float64],
    people: int,
    draws: int,
) -> NDArray[np.int64]:
    """Returns `(draws,)` sums of independent draws, most of which are 0: only the others are made.

    steps: (k,) values; law: (k,) their weights. Floating point: for refuting printed claims only.
    """
    away = steps != 0
    cumulative = np.cumsum(law[away])
    counts = rng.binomial(people, cumulative[-1] / law.sum(), draws)
    places = np.searchsorted(cumulative, rng.random(int(counts.sum())) * cumulative[-1])
    values = steps[away][np.minimum(places, cumulative.size - 1)]
    return np.bincount(np.repeat(np.arange(draws), counts), weights=values, minlength=draws).astype(np.int64)
