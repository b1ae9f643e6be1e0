"""Shuffled sums: calibration for a million persons, and 100,000 participants with 1,000 values."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from mechanisms.accounting.flipped_bits import flipped_bits
from mechanisms.accounting.randomised_response import largest_ones_delta
from mechanisms.accounting.sgdl import sgdl
from mechanisms.randomness import SystemSource
from mechanisms.samplers import negative_binomial
from mechanisms.shuffle import rr_shuffle
from mechanisms.shuffle.bits import shuffle_bits
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum
from mechanisms.shuffle.unary import count_ones, encode
from tests.benchmarks.measure import Figure, Size, compare

KINDS = (GeoSum, SgdlSum, RrSum)
MANY, PARTICIPANTS, DOMAIN = 1_000_000, 100_000, 1000
TARGET = {"epsilon": Fraction(1, 50), "delta": Fraction(1, 10**6), "radius": 6}
CACHES = (largest_ones_delta, flipped_bits, rr_shuffle._spent, negative_binomial.table)


def figures(size: Size) -> Iterator[Figure]:
    many, participants, domain = (2_000, 2_000, 10) if size.is_tiny else (MANY, PARTICIPANTS, DOMAIN)
    for kind in KINDS:
        yield calibration(kind, many, domain)
    for kind in KINDS:
        yield from protocol(kind, participants, domain)


def calibration(kind: type, persons: int, domain: int) -> Figure:
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
        repeats=3,
    )


def protocol(kind: type, participants: int, domain: int) -> Iterator[Figure]:
    """Each piece against a plain counterpart; memory is in the names."""
    sums, rng = kind.calibrate(persons=participants, domain=domain, **TARGET), SystemSource()
    values = np.random.default_rng(0).integers(0, domain + 1, participants)
    reports = sums.randomise(values, rng)
    published = shuffle_bits(rng, reports, sums.places)
    devices, who = f"{reports.nbytes / 1e6:.1f} MB packed", f"{kind.name}, {participants:,} participants"
    yield compare(
        f"{who}: randomise ({sums.places} bits each, {devices})",
        lambda: sums.randomise(values, rng),
        "unary encoding alone",
        lambda: encode(values, domain),
        repeats=3,
    )
    yield compare(
        f"{who}: shuffle every bit ({published.nbytes / 1e6:.1f} MB packed)",
        lambda: shuffle_bits(rng, reports, sums.places),
        "numpy's shuffle of the unpacked bits",
        lambda: np.random.default_rng(0).shuffle(np.unpackbits(reports)),
        repeats=1,
    )
    yield compare(
        f"{who}: analyse",
        lambda: sums.analyse(count_ones(published), participants),
        "sum of the unpacked bits",
        lambda: np.unpackbits(published).sum(dtype=np.int64),
        repeats=3,
    )
