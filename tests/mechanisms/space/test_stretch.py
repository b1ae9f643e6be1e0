"""How far a region's flat projection is from geodesics: bounds that a search over pairs cannot refute."""

import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from mechanisms.candidate_net import LARGEST_STRETCH, Plane
from mechanisms.check import ParameterError
from mechanisms.space.grid import (
    _ECCENTRICITY_SQUARED,
    _POLAR_AXIS,
    Region,
    _degree_lengths_m,
    _reduced_tangent,
)
from tests.geodesics import geodesic_m, worst_pairs

KNOWN = Path(__file__).parents[2] / "data" / "geodesics.json"
CONTINENTS = {
    "Canada": Region(-141, 41.7, -52.6, 83.1),
    "Europe": Region(-25, 34, 45, 72),
    "Russia": Region(19.6, 41.2, 180, 81.9),
    "a half of the north": Region(-89.9, 0, 89.9, 80),
    "the United States": Region(-125, 24, -66, 50),
    "Australia": Region(112, -44, 154, -10),
    "Africa": Region(-18, -35, 52, 38),
    "South America": Region(-82, -56, -34, 13),
    "Asia": Region(26, 1, 146, 55),
    "Scandinavia": Region(4, 54, 32, 72),
    "Svalbard": Region(10, 76, 34, 81),
    "a third of the equator": Region(-60, -1, 60, 1),
    "the Atlantic from pole to pole": Region(-30, -89, -20, 60),
    "Fiji": Region(176.9, -19.3, 180, -16),
}
SQUARES = {  # latitudes of the middle, by kilometres a side
    10: (0, 30, 60, 80, 88.9),
    100: (0, 45, 70, 85, 88.5),
    300: (10, 45, 60, 80),
    1000: (0, 35, 60, 80, 84),
    3000: (0, 25, 45, 60, 70),
    5000: (0, 40),
}


def square_km(side_km, latitude):
    half_lat = side_km / 2 / 111.7
    half_lon = half_lat / math.cos(math.radians(latitude))
    return Region(10 - half_lon, latitude - half_lat, 10 + half_lon, latitude + half_lat)


REGIONS = {
    **CONTINENTS,
    **{f"{side} km at {lat}°": square_km(side, lat) for side, lats in SQUARES.items() for lat in lats},
}


def test_the_geodesics_that_it_is_held_against_are_right():
    *places, metres = np.array(json.loads(KNOWN.read_text())["lat_lon_lat_lon_metres"]).T
    assert np.nanmax(np.abs(geodesic_m(*places) / metres - 1)) < 1e-9
    assert np.isnan(geodesic_m(*places)).sum() <= 3  # nearly antipodal: not used below


@pytest.mark.parametrize(
    "effort",
    [
        {"pairs": 40, "generations": 60},
        pytest.param({"pairs": 160, "generations": 500}, marks=pytest.mark.long),
    ],
)
def test_no_search_finds_a_pair_that_the_bounds_miss(effort):
    assert len(REGIONS) == 40
    assert max(region.north for region in REGIONS.values()) > 88.9
    regions = list(REGIONS.values())
    found, _ = worst_pairs(regions, **effort)
    back, _ = worst_pairs(regions, ground=True, **effort)
    assert np.isfinite(found).all()
    for name, region, ours, ground in zip(REGIONS, regions, found, back, strict=True):
        assert 1 - 1e-4 < ours <= region.stretch, name
        assert 1 - 1e-4 < ground <= region.shrink, name
        assert ours >= 0.999 * region.stretch or region.stretch > 1.01, name  # not idle where it can be told


def added(region):
    """A bound that adds effects which multiply, and takes the first term of a series in the width."""
    middle = np.array(_degree_lengths_m((region.south + region.north) / 2))
    latitudes = (region.south, region.north, min(max(0.0, region.south), region.north))
    ratios = np.array([middle / _degree_lengths_m(latitude) for latitude in latitudes])
    steepest = math.sin(math.radians(max(abs(region.south), abs(region.north))))
    return 1 + np.abs(ratios - 1).max() + (math.radians(region.east - region.west) * steepest) ** 2 / 20


@pytest.mark.parametrize(
    ("name", "excess"), [("Canada", 1.072), ("Europe", 1.023), ("Russia", 1.27), ("a half of the north", 1.4)]
)
def test_the_search_refutes_a_bound_that_adds(name, excess):
    (found,), _ = worst_pairs([CONTINENTS[name]])
    assert found > excess * added(CONTINENTS[name])


@pytest.mark.parametrize("name", ["Europe", "the United States", "Asia", "a third of the equator", "Fiji"])
def test_it_counts_how_far_polewards_a_geodesic_goes(name):
    """The one between the corners nearest to a pole; it is as high as a great circle of `turn` says."""
    region = REGIONS[name]
    highest = region.north if abs(region.north) >= abs(region.south) else region.south
    turn, tangent = np.radians(region.east - region.west), abs(_reduced_tangent(highest))
    middle = math.cos(math.atan(_reduced_tangent((region.south + region.north) / 2)))
    on_path = middle / math.cos(apex(highest, region.east - region.west))
    assert on_path <= region.stretch <= on_path * 1.01
    flat, short = (math.cos(math.atan(tangent / shrunk)) for shrunk in (1.0, math.cos(turn / 2)))
    assert middle / flat < on_path
    assert middle / short < on_path  # longitudes on the auxiliary sphere are farther apart


def apex(latitude, turn):
    """The highest reduced latitude of the geodesic between two places of a parallel, by integration."""
    beta, difference = math.atan(_POLAR_AXIS * math.tan(math.radians(abs(latitude)))), math.radians(turn)
    f = 1 - _POLAR_AXIS
    low, high = difference, difference / _POLAR_AXIS
    for _ in range(100):
        omega = (low + high) / 2
        highest = math.atan(math.tan(beta) / math.cos(omega / 2))
        u = np.linspace(-omega / 2, omega / 2, 4001)
        along = np.arctan(math.tan(highest) * np.cos(u))
        reached = np.trapezoid(np.sqrt(1 - (2 * f - f * f) * np.cos(along) ** 2), u)
        low, high = (omega, high) if reached < difference else (low, omega)
    return highest


def test_meridians_never_count_more_than_parallels():
    rng = np.random.default_rng(8)
    for south, north in np.sort(rng.uniform(-89, 89, (2000, 2)), axis=1).tolist():
        region = Region(0, south, 0.001, north) if north - south > 0.001 else Region(0, 10, 0.001, 11)
        middle = (region.south + region.north) / 2
        nearest = min(max(0.0, region.south), region.north)
        assert _degree_lengths_m(middle)[0] <= region.stretch * _degree_lengths_m(nearest)[0]


def exactly(region):
    """Both bounds without their slack, in 40 digits."""
    with mpmath.workdps(40):
        squared = mpmath.mpf(_ECCENTRICITY_SQUARED)

        def parallel(latitude):
            phi = mpmath.radians(mpmath.mpf(latitude))
            return mpmath.cos(mpmath.atan(mpmath.sqrt(1 - squared) * mpmath.tan(phi)))

        def meridian(latitude):
            return (1 - squared * mpmath.sin(mpmath.radians(mpmath.mpf(latitude))) ** 2) ** mpmath.mpf(-1.5)

        middle = (mpmath.mpf(region.south) + mpmath.mpf(region.north)) / 2
        highest = max(abs(region.south), abs(region.north))
        nearest = min(max(0.0, region.south), region.north)
        turn = mpmath.radians(mpmath.mpf(region.east) - mpmath.mpf(region.west)) / mpmath.sqrt(1 - squared)
        tangent = mpmath.tan(mpmath.acos(parallel(highest))) / mpmath.cos(turn / 2)
        shrink = max(parallel(nearest) / parallel(middle), meridian(highest) / meridian(middle))
        return parallel(middle) * mpmath.sqrt(1 + tangent**2), shrink


def test_rounding_never_makes_a_bound_smaller_than_it_is():
    rng, below = np.random.default_rng(4), [0, 0]
    thin = [Region(-89.6979, 0, 89.6979, height) for height in (1e-4, 0.1, 0.3)]
    for south, width in zip(rng.uniform(-88, 87, 150), rng.uniform(0.001, 160, 150), strict=True):
        region = Region(-80, float(south), -80 + float(width), float(south) + 10 ** float(rng.uniform(-3, 0)))
        for at, (claimed, exact) in enumerate(
            zip((region.stretch, region.shrink), exactly(region), strict=True)
        ):
            assert exact <= claimed <= exact * (1 + 2e-9)
            below[at] += claimed / (1 + 1e-9) < exact
    assert min(below) > 10  # in floating point alone
    for region in (*thin, Region(-60, -30, 60, 29), Region(-60, -29, 60, 30)):
        stretch, shrink = exactly(region)
        assert stretch <= region.stretch
        assert shrink <= region.shrink <= shrink * (1 + 2e-9)


def test_both_bounds_are_at_least_one_and_a_pole_has_none():
    for region in REGIONS.values():
        assert region.stretch >= 1
        assert region.shrink >= 1
    for edges in ((-180, -90, 180, 90), (10, 89.9, 20, 90), (10, -90, 20, 0), (-89.9, -1, 89.6, 1)):
        assert Region(*edges).stretch == math.inf


@pytest.mark.parametrize(
    "region",
    [Region(-90, -1, 90, 1), Region(-180, 0, 180, 0.001), *(CONTINENTS[n] for n in ("Canada", "Russia"))],
)
def test_promises_in_metres_refuse_what_is_too_wide(region):
    with pytest.raises(
        ParameterError, match=r"^region is .* less than 180 degrees .* 2\.5 times; choose a"
    ) as caught:
        Plane(region)
    assert caught.value.parameter == "region"


def test_promises_in_metres_are_made_up_to_a_stretch_of_two_and_a_half():
    assert LARGEST_STRETCH == 2.5
    near = [Region(-25, 34, 45, north) for north in np.arange(72, 74, 0.05).tolist()]
    for region in near:
        if region.stretch <= 2.5:
            plane = Plane(region)
            assert region.stretch <= float(plane.stretch) <= region.stretch * (1 + 1e-12)
            assert region.shrink <= float(plane.shrink) <= region.shrink * (1 + 1e-12)
        else:
            with pytest.raises(ParameterError):
                Plane(region)
    assert near[0].stretch < 2.4
    assert near[-1].stretch > 2.5
