"""Partial sums as bytes: what was written is read, in whatever width it needed, and nothing else is."""

import struct

import numpy as np
import pytest

from heatmaps.masses import partial
from mechanisms.interface import MassMap

SHORT, LONG = 2**31 - 1, 2**31


def masses_of(*rows, level=31):
    cells, masses = np.array(rows, np.int64).reshape(-1, 2).T
    return MassMap(level=level, unit=1, cells=cells.copy(), masses=masses.copy())


@pytest.mark.parametrize(
    ("rows", "width"),
    [
        ((), 0),
        ([(0, 1)], 8),
        ([(7, 3), (8, 1), (900, SHORT)], 8),
        ([(SHORT - 1, 1)], 8),
        ([(SHORT, 1)], 12),
        ([(1, 1), (1 + SHORT, 1)], 8),
        ([(1, 1), (1 + LONG, 1)], 12),
        ([(5, LONG), (6, 1)], 12),
        ([(0, 2**60), (4**31 - 1, 2**61)], 16),
    ],
)
def test_masses_are_read_as_they_were_written(rows, width):
    held = masses_of(*rows)
    content = partial.packed(held)
    assert len(content) == 24 + width * len(rows)
    for run in (partial.unpacked(content), partial.run_of(content), partial.run_of(partial.MassPart(held))):
        assert run.cells.tolist() == [cell for cell, _ in rows]
        assert run.masses.tolist() == [mass for _, mass in rows]
    assert bytes(partial.MassPart(held)) == content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 23,
        struct.pack("<3q", 1, 4, 4),
        struct.pack("<3q2i", 2, 4, 4, 1, 1),
        struct.pack("<3q3i", 1, 4, 4, 1, 1, 1),
        struct.pack("<3q2i", 1, 4, 4, 0, 4711),
        struct.pack("<3q2i", 1, 4, 4, 4711, -1),
        struct.pack("<3q2h", 1, 2, 2, 1, 4711),
        struct.pack("<3q2i", -1, 4, -4, 1, 4711),
        struct.pack("<3q6q", 3, 8, 8, 2**62, 2**62, 2**62, 1, 1, 1),
        struct.pack("<3q6q", 3, 8, 8, 1, 1, 1, 2**62, 2**62, 2**62),
    ],
)
def test_anything_else_is_refused(content):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - numpy's own are as good
        partial.unpacked(content)
    assert "4711" not in str(refused.value)
