"""Shuffled sums: calibration for a million persons, and 100,000 participants with 1,000 values."""

import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.flipped_bits import flipped_bits
from mechanisms.accounting.randomised_response import largest_ones_delta
from mechanisms.accounting.sgdl import sgdl
from mechanisms.randomness import SystemSource
from mechanisms.samplers import negative_binomial
from mechanisms.shuffle import rr_shuffle
from mechanisms.shuffle.bits import shuffle_bits
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.padded_noise import PaddedSum
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum
from mechanisms.shuffle.unary import count_ones, encode
from tests.benchmarks.measure import Figure, Size, compare

REPEATS, COIN_BITS = 3, 10
Values = NDArray[np.int64]
KINDS = (GeoSum, SgdlSum, RrSum)
MANY, PARTICIPANTS, DOMAIN = 1_000_000, 100_000, 1000
TARGET = {"epsilon": Fraction(1, 50), "delta": Fraction(1, 10**6), "radius": 6}
CACHES = (largest_ones_delta, flipped_bits, rr_shuffle._spent, negative_binomial.table)


def figures(size: Size) -> Iterator[Figure]:
    many, participants, domain = (2_000, 2_000, 10) if size.is_tiny else (MANY, PARTICIPANTS, DOMAIN)
    for kind in KINDS:
        yield calibration(kind, many, domain, size.repeats(REPEATS))
    for kind in KINDS:
        yield from protocol(kind, participants, domain, size.repeats(REPEATS))


def calibration(kind: type, persons: int, domain: int, repeats: int) -> Figure:
    """The convolution that a calibration avoids: the law of the sum, once, with itself."""
    epsilon_geo = float(GeoSum.calibrate(persons=persons, domain=domain, **TARGET).epsilon_geo)
    table = np.exp(sgdl(persons, epsilon_geo, radius=4_000).two_sided())

    def calibrated() -> None:
        for cache in CACHES:
            cache.cache_clear()
        kind.calibrate(persons=persons, domain=domain, **TARGET)

    return compare(
        f"calibrate {kind.name}, n = {persons:,}",
        calibrated,
        f"one convolution of {table.size} entries",
        lambda: np.convolve(table, table),
        repeats=repeats,
        clock=time.process_time,
    )


def protocol(kind: type, participants: int, domain: int, repeats: int) -> Iterator[Figure]:
    """Each piece beside its bits alone, packed, with numpy's generator: ours draws from the system's.

    Memory is in the names.
    """
    sums, rng = kind.calibrate(persons=participants, domain=domain, **TARGET), SystemSource()
    values, quick = np.random.default_rng(0).integers(0, domain + 1, participants), np.random.default_rng(0)
    reports = sums.randomise(values, rng)
    published = shuffle_bits(rng, reports, sums.places)
    words = published[: published.size // 8 * 8].view(np.uint64)
    devices, who = f"{reports.nbytes / 1e6:.1f} MB packed", f"{kind.name}, {participants:,} participants"
    drawn, draw = bare_noise(sums, participants, quick)
    compared = (
        (
            f"randomise ({sums.places} bits each, {devices})",
            lambda: sums.randomise(values, rng),
            drawn,
            lambda: draw(values),
        ),
        (
            f"shuffle every bit ({published.nbytes / 1e6:.1f} MB packed)",
            lambda: shuffle_bits(rng, reports, sums.places),
            f"{COIN_BITS} packed words of numpy's generator, joined",
            lambda: packed_coins(quick, published.size, chance=513),
        ),
        (
            "analyse",
            lambda: sums.analyse(count_ones(published), participants),
            "numpy's count of the ones in packed words",
            lambda: np.bitwise_count(words).sum(dtype=np.int64),
        ),
    )
    for piece, ours, alternative, theirs in compared:
        yield compare(f"{who}: {piece}", ours, alternative, theirs, repeats=repeats, clock=time.process_time)


def bare_noise(
    sums: RrSum | PaddedSum, participants: int, quick: np.random.Generator
) -> tuple[str, Callable[[Values], object]]:
    """Returns what an expert takes where noise need not be exact, and its name."""
    if isinstance(sums, RrSum):
        chance = round(sums.flip * (1 << COIN_BITS))
        row = -(-sums.places // 8)
        return (
            "unary encoding and flips of numpy's generator, packed",
            lambda values: (
                encode(values, sums.places)
                ^ packed_coins(quick, participants * row, chance=chance).reshape(participants, row)
            ),
        )
    shape, odds = float(sums.noise.shape), 1 - math.exp(-float(sums.noise.epsilon))

    def noisy(values: Values) -> object:
        noise = quick.negative_binomial(shape, odds, (2, participants))
        return encode(np.clip(values + noise[0] - noise[1] + sums.noise.padding, 0, sums.places), sums.places)

    return "numpy's negative binomials, encoded", noisy


def packed_coins(quick: np.random.Generator, size: int, *, chance: int) -> NDArray[np.uint8]:
    """Returns `(size,)` bytes of coins with a chance of `chance` in 1,024: a random word a digit of it."""
    coins = np.zeros(-(-size // 8), np.uint64)
    for digit in range(COIN_BITS):
        word = quick.integers(0, 1 << 64, coins.size, np.uint64, endpoint=False)
        coins = coins | word if chance >> digit & 1 else coins & word
    return coins.view(np.uint8)[:size]
