"""Noise against OpenDP's sampler, a whole release against the linear programme in it."""

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from mechanisms.catalogue.registry import build
from mechanisms.central.sparse_emd import reconstruction
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace
from tests.benchmarks.measure import Figure, Size, compare

DRAWS = 100_000
REPEATS = 5
COARSEST = 64
# Noise in every square grows with their number: its grids end where a release takes seconds.
FINER = {"sparse-emd": (128, 256, 512, 1024, 4096, 16_384), "laplace": (128, 256, 512, 1024)}


def figures(size: Size) -> list[Figure]:
    draws, resolutions = (1000, (64,)) if size.is_tiny else (DRAWS, (256, 65_536))
    repeats = size.repeats(REPEATS)
    return [noise(draws, repeats), *(sparse_release(resolution, repeats) for resolution in resolutions)]


def resolution_figures(size: Size) -> list[Figure]:
    """A release of the same 2,000 persons on finer and finer grids, against the coarsest."""
    return [
        released_at(name, resolution, repeats=size.repeats(REPEATS))
        for name, resolutions in FINER.items()
        for resolution in (resolutions[:1] if size.is_tiny else resolutions)
    ]


def released_at(name: str, resolution: int, *, repeats: int) -> Figure:
    is_finest = name == "sparse-emd" and resolution == FINER[name][-1]
    return compare(
        f"{name}, resolution {resolution}",
        release_of(name, resolution),
        f"{name}, resolution {COARSEST}",
        release_of(name, COARSEST),
        repeats=repeats,
        clock=time.process_time,
        goal="sparse.growth" if is_finest else "",
    )


def release_of(name: str, resolution: int) -> Callable[[], object]:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1))
    mechanism = build(name, target=target, resolution=resolution, parameters={})
    masses = clustered(mechanism.unit, resolution.bit_length() - 1)
    return lambda: mechanism.release(masses, SystemSource())


def noise(draws: int, repeats: int) -> Figure:
    """The scale of one person's mass at ε = 0.1."""
    scale = Fraction(2**24 * 10)
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=draws), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=float(scale))
    zeros = [0] * draws
    return compare(
        f"{draws} discrete Laplace draws",
        lambda: discrete_laplace(SystemSource(), scale=scale, size=draws).tolist(),
        "OpenDP's vector Laplace measurement, lists of Python on both sides",
        lambda: measurement(zeros),
        repeats=repeats,
        clock=time.process_time,
        goal="samplers.laplace",
    )


def sparse_release(resolution: int, repeats: int) -> Figure:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1))
    mechanism = build("sparse-emd", target=target, resolution=resolution, parameters={})
    masses = clustered(mechanism.unit, resolution.bit_length() - 1)
    measured = mechanism.measure(masses, SeededSource(1))  # type: ignore[attr-defined]
    programme = reconstruction._programme(measured, reconstruction._leaves(measured))
    return compare(
        f"sparse-emd release, resolution {resolution}",
        lambda: mechanism.release(masses, SystemSource()),
        "its linear programme alone (HiGHS)",
        lambda: reconstruction._solve(programme),
        repeats=repeats,
        clock=time.process_time,
        goal=f"sparse.{resolution}",
    )


def clustered(unit: int, level: int) -> MassMap:
    """2,000 persons around 40 places."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0.1, 0.9, (40, 2))
    points = places[rng.integers(40, size=2000)] + rng.normal(0, 0.01, (2000, 2))
    x, y = (np.clip(points, 0, 1 - 1e-9) * 2**level).astype(np.int64).T
    codes = np.zeros(x.size, np.int64)
    for bit in range(level):
        codes |= (((x >> bit) & 1) << (2 * bit)) | (((y >> bit) & 1) << (2 * bit + 1))
    cells, counts = np.unique(codes, return_counts=True)
    return MassMap(level=level, unit=unit, cells=cells, masses=counts * unit)
