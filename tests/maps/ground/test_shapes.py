import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatmaps.maps.ground.shapes import Shapes, clipped, half, small_rings, snapped

places = st.tuples(st.integers(-18_000_000, 18_000_000), st.integers(-9_000_000, 9_000_000))
rings = st.lists(places, min_size=3, max_size=12).map(lambda points: np.array([*points, points[0]], np.int32))


def holds(outlines, x, y):
    """Whether an odd number of rings is around the place."""
    crossings = 0
    for ring in outlines:
        (x1, y1), (x2, y2) = ring[:-1].T.astype(float), ring[1:].T.astype(float)
        over = (y1 > y) != (y2 > y)
        crossings += (x < x1[over] + (y - y1[over]) / (y2[over] - y1[over]) * (x2[over] - x1[over])).sum()
    return crossings % 2 == 1


def circle(points, radius=1_000_000):
    angles = np.linspace(0, 2 * np.pi, points)
    ring = np.round(np.stack((np.cos(angles), np.sin(angles)), axis=1) * radius).astype(np.int32)
    ring[-1] = ring[0]
    return ring


@given(rings, st.integers(0, 1), st.integers(-9_000_000, 9_000_000), places)
def test_two_halves_fill_what_the_ring_fills(ring, axis, at, place):
    x, y = place[0] + 0.5, place[1] + 0.5  # on no edge's end
    halves = [half(ring, axis, at, below=below) for below in (True, False)]
    near = abs(np.array([x, y])[axis] - at) < 2  # a crossing is rounded to whole units
    for one in halves:
        assert not len(one) or (one[0] == one[-1]).all()
    if not near and not touches(ring, x, y):
        assert holds([one for one in halves if len(one)], x, y) == holds([ring], x, y)


def touches(ring, x, y, tolerance=4):
    """Whether the place is nearer to an edge than rounding moves it."""
    start, end = ring[:-1].astype(float), ring[1:].astype(float)
    along = end - start
    length = np.maximum((along**2).sum(axis=1), 1)
    part = np.clip((((x, y) - start) * along).sum(axis=1) / length, 0, 1)
    return np.hypot(*(start + along * part[:, np.newaxis] - (x, y)).T).min() < tolerance


@given(rings)
def test_what_is_stored_is_what_is_read(ring):
    """Steps of more than 32,000 units are several; the ring is the same line."""
    shapes = Shapes.of([ring, ring])
    whole = (-20_000_000, -20_000_000, 20_000_000, 20_000_000)
    one, other = shapes.rings_in(whole, least=0)
    assert (one == other).all()
    assert (one[[0, -1]] == ring[[0, -1]]).all()
    assert {tuple(point) for point in ring.tolist()} <= {tuple(point) for point in one.tolist()}


def test_a_file_holds_them(tmp_path):
    shapes = Shapes.of([circle(50)])
    shapes.save(tmp_path / "shapes.npz")
    box = (-2_000_000, -2_000_000, 2_000_000, 2_000_000)
    (stored,), (made,) = (
        list(one.rings_in(box, least=0)) for one in (Shapes.load(tmp_path / "shapes.npz"), shapes)
    )
    assert (stored == made).all()


def test_a_ring_of_many_points_is_cut_into_small_ones():
    ring = circle(30_000)
    pieces = list(small_rings(ring))
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= 2_000
    for x, y in ((0, 0), (700_000, 700_000), (720_000, 720_000), (-999_000, 3), (1_001_000, 7)):
        assert holds(pieces, x + 0.5, y + 0.5) == (np.hypot(x, y) < 1_000_000)


def test_a_box_clips_rings_and_leaves_small_ones_out():
    shapes = Shapes.of([circle(100), circle(20, radius=50)])
    box = (0, 0, 2_000_000, 2_000_000)
    (quarter,) = shapes.rings_in(box, least=1_000)
    assert quarter.min() == 0
    assert holds([quarter], 500_000.5, 500_000.5)
    assert len(list(shapes.rings_in(box, least=0))) == 2
    assert not list(shapes.rings_in((3_000_000, 0, 4_000_000, 1), least=0))
    assert not len(clipped(circle(10), (3_000_000, 0, 4_000_000, 1)))


@pytest.mark.parametrize("unit", [10, 1_000])
def test_points_that_fall_together_are_one(unit):
    coarse = snapped(circle(5_000), unit)
    assert not (coarse % unit).any()
    assert np.diff(coarse, axis=0).any(axis=1).all()
