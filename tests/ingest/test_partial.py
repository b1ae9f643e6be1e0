"""Partial sums as bytes: what was written is read, in whatever width it needed, and nothing else is."""

import struct

import numpy as np
import pytest

from heatmaps.masses import partial
from mechanisms.interface import MassMap
from mechanisms.narrow_run import BLOCK

SHORT, LONG = 2**32 - 1, 2**32
MANY = 5 * BLOCK // 2


def masses_of(*rows, level=31):
    cells, masses = np.array(rows, np.int64).reshape(-1, 2).T
    return MassMap(level=level, unit=1, cells=cells.copy(), masses=masses.copy())


def next_to_each_other(count):
    return [(cell, 1 + cell % 7) for cell in range(count)]


@pytest.mark.parametrize(
    ("rows", "width"),
    [
        ((), 0),
        ([(0, 1)], 8),
        ([(7, 3), (8, 1), (900, SHORT - 4)], 8),
        ([(7, 3), (8, 1), (900, SHORT - 3)], 12),
        ([(4**31 - 1, 1)], 8),
        ([(1, 1), (1 + SHORT, 1)], 8),
        ([(1, 1), (1 + LONG, 1)], 12),
        ([(0, 2**60), (4**31 - 1, 2**61)], 16),
        (next_to_each_other(BLOCK), 8),
        (next_to_each_other(MANY), 8),
        ([*next_to_each_other(MANY), (2**40, 2**50)], 16),
    ],
)
@pytest.mark.parametrize("piece_rows", [BLOCK, 2 * BLOCK, 256 * BLOCK])
def test_masses_are_read_as_they_were_written(rows, width, piece_rows, monkeypatch):
    monkeypatch.setattr(partial, "_PIECE_ROWS", piece_rows)
    held = masses_of(*rows)
    index, *pieces = partial.packed(held)
    assert len(index) == 24 + 16 * -(-len(rows) // BLOCK)
    assert [len(piece) for piece in pieces] == [
        width * min(piece_rows, len(rows) - start) for start in range(0, len(rows), piece_rows)
    ]
    part = partial.MassPart(held)
    for run in (partial.unpacked([index, *pieces]), partial.run_of([*part]), partial.run_of(part)):
        assert run.cells.tolist() == [cell for cell, _ in rows]
        assert run.masses.tolist() == [mass for _, mass in rows]


def index(rows, *numbers, widths=(4, 4)):
    return struct.pack(f"<{3 + len(numbers)}q", rows, *widths, *numbers)


TWO = struct.pack("<4I", 0, 4711, 5, 6)  # of the first cell and 4711 cells on: 5 and 1


def test_the_pieces_that_others_are_variants_of_are_read():
    run = partial.unpacked([index(2, 8, 0), TWO])
    assert (run.cells.tolist(), run.masses.tolist()) == ([8, 4719], [5, 1])


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b""],
        [b"\0" * 23],
        [index(0, 1)],
        [index(2, 8, 0)],
        [index(2, 8, 0), TWO[:8]],
        [index(2, 8, 0), TWO + b"\0"],
        [index(2, 8, 0), TWO, TWO[8:]],
        [index(2), TWO],
        [index(2, 8, 9, 0, 0), TWO],
        [index(-1, 8, 0), TWO],
        [index(2**62, 8, 0), TWO],
        [index(2, 8, 0, widths=(2, 4)), TWO],
        [index(2, 8, 0, widths=(0, 0)), TWO],
        [index(2, -1, 0), TWO],
        [index(2, 2**62, 0), TWO],
        [index(2, 8, 1), TWO],
        [index(2, 8, 2**62), TWO],
        [index(2, 8, 0), struct.pack("<4I", 1, 4711, 5, 6)],
        [index(2, 8, 0), struct.pack("<4I", 0, 0, 5, 6)],
        [index(2, 8, 0), struct.pack("<4I", 0, 4711, 0, 6)],
        [index(2, 8, 0), struct.pack("<4I", 0, 4711, 5, 5)],
        [index(2, 8, 0, widths=(8, 8)), struct.pack("<4q", 0, 4711, 5, 2**63 - 1)],
        [index(2, 8, 0, widths=(8, 8)), struct.pack("<4q", 0, -4711, 5, 6)],
        [index(2, 8, 0, widths=(8, 8)), struct.pack("<4q", 0, 4711, -5, 6)],
    ],
)
def test_anything_else_is_refused(pieces):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - numpy's own are as good
        partial.unpacked(pieces)
    assert "47" not in str(refused.value)
