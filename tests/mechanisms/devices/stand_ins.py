"""What heaps of messages say, drawn by numpy: hundreds of times as fast as the client's own devices.

`test_audit.py` shows for each kind that the client's devices draw from the same law. A round's rows are those
of one person and of a crowd, all of which is in the south-west.
"""

from fractions import Fraction

import numpy as np

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.local.noise_table import row_law


def law_of(devices):
    """Of a table's entries, whose last running sum is left out."""
    width, table = devices.encoding.number_bytes, devices.table
    ends = [int.from_bytes(table[at : at + width], "big") for at in range(0, len(table), width)]
    whole = 1 << 8 * width
    return np.diff([0.0, *(float(Fraction(end, whole)) for end in ends), 1.0])


def entries(devices, shape, seed):
    """Entries of the table of noise: what `unary` adds to an axis' value."""
    ends = np.cumsum(law_of(devices))
    return np.searchsorted(ends, np.random.default_rng(seed).random(shape) * ends[-1], side="right")


def unary_ones(devices, squares, people, draws, seed):
    """`(draws, 2)` ones of all: one person at these squares, all others at 0."""
    found = np.tile(np.array(squares, np.int64), (draws, 1))
    for person in range(people):
        found += entries(devices, (draws, 2), [seed, person])
    return found


def flipped_ones(devices, squares, people, draws, seed):
    """As `unary_ones`, of `flips`."""
    rng, encoding = np.random.default_rng(seed), devices.encoding
    columns = []
    for flips, domain, value in zip(encoding.flips, encoding.plane.domains, squares, strict=True):
        chance, zeros = flips / 2**32, people * domain - value
        columns.append(rng.binomial(value, 1 - chance, draws) + rng.binomial(zeros, chance, draws))
    return np.stack(columns, axis=1)


def laws_of_cells(made):
    """(of a report from the south-western cell, from the north-eastern one), cells as in messages."""
    across, along = (row_law(table) for table in made.law.blur.tables)
    return tuple(_normalised(np.outer(across[end], along[end]).ravel()) for end in (0, -1))


def _normalised(law):
    return law / law.sum()


def heaps(made, moved, people, draws, seed):
    """`(draws,)` sums over all reports of how much likelier each is from the north-east, in 50ths."""
    rng, (here, there) = np.random.default_rng(seed), laws_of_cells(made)
    score, samples = np.round(50 * there / here).astype(np.int64), made.law.samples
    own = rng.choice(here.size, (draws, samples), p=there if moved else here)
    others = rng.choice(here.size, (draws, samples * (people - 1)), p=here)
    return score[own].sum(axis=1) + score[others].sum(axis=1)


def noisy_masses(made, moved, people, draws, seed):
    """`(draws, people, cells)` parts with noise of every person: one in the north-eastern cell if moved."""
    cells = 4 ** made.round.law.levels[-1]
    vectors = np.zeros((draws, people, cells), np.int64)
    vectors[:, 1:, 0] = made.round.law.parts
    vectors[:, 0, cells - 1 if moved else 0] = made.round.law.parts
    noisy = made.round.randomise(vectors.reshape(-1, cells), SeededSource(seed))
    half = np.uint64(made.round.modulus // 2)
    wrapped = (noisy + half) & np.uint64(made.round.modulus - 1)
    return wrapped.astype(np.int64).reshape(vectors.shape) - int(half)
