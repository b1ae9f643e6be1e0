"""What a map keeps of its measurements: as bytes, and exactly what was paid for."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guide import SIDE, Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurement, Measurements
from tests.mechanisms.examples import SEED, crowd, make


def measurement(nodes=4, scale=0.5, seed=1):
    random = np.random.default_rng(seed)
    return Measurement(
        scale_persons=scale,
        depths=np.full(nodes, 2, np.uint8),
        codes=np.arange(nodes),
        noisy=random.normal(size=nodes),
    )


def measurements(*, parts=2, **more):
    return Measurements(parts=tuple(measurement(seed=seed) for seed in range(parts)), **more)


def shares():
    return np.random.default_rng(3).integers(0, 1000, SIDE**2)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    parts=st.integers(1, 20),
    plain_from=st.sampled_from([None, 0, 1, 9]),
    is_guided=st.booleans(),
    is_even=st.booleans(),
    grid_level=st.integers(0, 7),
)
def test_bytes_come_back_as_the_same(parts, plain_from, is_guided, is_even, grid_level):
    own = shares() if is_guided else None
    one = measurements(parts=parts, shares=own, plain_from=plain_from, is_even=is_even, grid_level=grid_level)
    other = Measurements.from_bytes(one.to_bytes())
    assert other.to_bytes() == one.to_bytes()
    assert (other.plain_from, other.is_even, other.grid_level) == (plain_from, is_even, grid_level)
    assert len(other.parts) == parts
    assert (other.shares is None) == (own is None)
    assert other.shares is None or np.array_equal(other.shares, own)
    for part, same in zip(one.parts, other.parts, strict=True):
        assert part.scale_persons == same.scale_persons
        for name in ("depths", "codes", "noisy"):
            assert np.array_equal(getattr(part, name), getattr(same, name))
            assert getattr(part, name).dtype == getattr(same, name).dtype


def test_what_was_cut_off_or_added_is_refused():
    good = measurements(shares=shares()).to_bytes()
    ends = {*range(60), *range(0, len(good), 97), *range(len(good) - 60, len(good))}
    for end in sorted(ends):
        with pytest.raises(ValueError):  # noqa: PT011 - of several messages; any other error would be a fault
            Measurements.from_bytes(good[:end])
    with pytest.raises(ValueError, match="damaged"):
        Measurements.from_bytes(good + b"x")


def test_any_changed_byte_of_sizes_is_refused_or_read():
    """A number that changed is another number; nothing but ValueError may come of a size that did."""
    good = measurements().to_bytes()
    refused = 0
    for place in range(len(good)):
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            try:
                Measurements.from_bytes(good[:place] + bytes([value]) + good[place + 1 :])
            except ValueError:
                refused += 1
    assert refused > 50


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_noise_is_finite_and_above_0(scale):
    with pytest.raises(ValueError, match="finite"):
        measurement(scale=scale)


def test_measured_masses_are_finite():
    with pytest.raises(ValueError, match="finite"):
        replace(measurement(), noisy=np.array([1.0, np.inf, 0.0, 0.0]))


@pytest.mark.parametrize("parts", [0, 256])
def test_there_are_1_to_255(parts):
    with pytest.raises(ValueError, match="1 to 255"):
        measurements(parts=parts)


def heatmap(**more):
    one = Heatmap(
        level=3,
        levels=np.array([1, 1], np.uint8),
        prefixes=np.array([0, 3]),
        values=np.array([4.0, 3.0]),
        standard_errors=np.array([0.5, np.nan]),
    )
    return replace(one, **more)


def test_maps_without_measurements_keep_their_bytes():
    """Hashes of maps as they were before anything was kept."""
    second = heatmap(lows=np.array([1.0, 2.0]), highs=np.array([5.0, 6.0]), cut_error=0.25)
    assert heatmap().to_bytes().startswith(b"HZM1")
    assert second.to_bytes().startswith(b"HZM2")
    found = [hashlib.sha256(one.to_bytes()).hexdigest() for one in (heatmap(), second)]
    assert found == HASHES
    for one in (heatmap(), second):
        assert Heatmap.from_bytes(one.to_bytes()).to_bytes() == one.to_bytes()


HASHES = [
    "d4255dd47523b5e27447cfc76598b92a677da8a54f0980fc538fe16cc25d1ef7",
    "1723935b605694fac130241d7fea570be3c62f20f54b47065a10c29becb0e33d",
]


def test_maps_keep_their_measurements():
    one = heatmap(measurements=measurements(shares=shares(), plain_from=4, grid_level=6))
    data = one.to_bytes()
    assert data.startswith(b"HZM3")
    other = Heatmap.from_bytes(data)
    assert other.to_bytes() == data
    assert other.measurements.to_bytes() == one.measurements.to_bytes()
    assert one.sha256 != heatmap().sha256


@pytest.mark.parametrize("end", [*range(0, 70, 3), -1, -2, -9, -40, -400])
def test_maps_with_measurements_that_were_cut_off_are_refused(end):
    data = heatmap(measurements=measurements(shares=shares())).to_bytes()
    with pytest.raises(ValueError):  # noqa: PT011 - as above
        Heatmap.from_bytes(data[:end])


def test_a_map_that_says_it_measured_more_than_it_has_is_refused():
    data = heatmap(measurements=measurements()).to_bytes()
    block = len(measurements().to_bytes()).to_bytes(8, "little")
    assert data.count(block) == 1
    for size in (0, 1, 2**20, 2**63, 2**64 - 1):
        with pytest.raises(ValueError):  # noqa: PT011 - as above
            Heatmap.from_bytes(data.replace(block, size.to_bytes(8, "little")))


GUIDED = Guide.of_values(np.random.default_rng(2).random((SIDE, SIDE)) ** 8)


@pytest.mark.parametrize(("version", "guide"), [(1, None), (2, None), (2, GUIDED)])
def test_a_map_keeps_the_noisy_masses_of_its_leaves_and_nothing_else(guide, version):
    """No look on the way, no token that was dropped: what is kept is what the proof pays for."""
    mechanism = replace(make("adaptive", resolution=64, expected_persons=400), guide=guide, version=version)
    masses = crowd(mechanism, cells=30, persons=300)
    rounds = mechanism.measure(masses, SeededSource(SEED))
    kept = mechanism.release(masses, SeededSource(SEED)).measurements
    assert len(kept.parts) == len(rounds) == (1 if version == 2 or guide else 2)
    for part, own in zip(kept.parts, rounds, strict=True):
        assert np.array_equal(part.depths, own.cells.nodes.depths)
        assert np.array_equal(part.codes, own.cells.nodes.codes)
        assert np.array_equal(part.noisy, own.noisy / mechanism.unit)
        starts = part.codes << 40 - part.depths.astype(np.int64)
        ends = np.append(starts[1:], 1 << 40)
        assert starts[0] == 0
        assert np.array_equal(ends - starts, 1 << 40 - part.depths.astype(np.int64))  # disjoint, and all
    size = sum(part.noisy.size for part in rounds)
    fields = 15 + len(rounds) * 16 + 17 * size + (8 * SIDE**2 if guide else 0)
    assert len(kept.to_bytes()) == fields


def test_later_maps_keep_earlier_measurements_as_they_were():
    mechanism = make("adaptive", resolution=64, expected_persons=400)
    masses = crowd(mechanism, cells=30, persons=300)
    first = mechanism.release(masses, SeededSource(SEED))
    later = replace(mechanism, guide=Guide.of_map(first, same_people=True))
    second = later.release(masses, SeededSource(SEED + 1)).measurements
    (own,) = later.measure(masses, SeededSource(SEED + 1))
    assert len(second.parts) == 2
    assert replace(second, parts=second.parts[:1]).to_bytes() == first.measurements.to_bytes()
    assert np.array_equal(second.parts[1].noisy, own.noisy / mechanism.unit)
