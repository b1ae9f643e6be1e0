"""Geodesics on WGS84 by Vincenty's inverse formula, and a search for pairs that a projection errs about."""

import numpy as np

AXIS_M, FLATTENING = 6378137.0, 1 / 298.257223563
_POLAR_M = AXIS_M * (1 - FLATTENING)
_NEAREST_M = 100.0  # below it, floating point says nothing of a ratio's last digits
_ROUNDS = 60


def geodesic_m(lat_1, lon_1, lat_2, lon_2):
    """T. Vincenty, Survey Review 23(176), 1975, on arrays of degrees; NaN where it does not converge."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return _geodesic_m(*map(np.radians, np.broadcast_arrays(lat_1, lon_1, lat_2, lon_2)))


def _geodesic_m(phi_1, lon_1, phi_2, lon_2):
    reduced = [np.arctan((1 - FLATTENING) * np.tan(phi)) for phi in (phi_1, phi_2)]
    (sin_1, cos_1), (sin_2, cos_2) = ((np.sin(beta), np.cos(beta)) for beta in reduced)
    difference = lam = lon_2 - lon_1
    for _ in range(_ROUNDS):
        sin_sigma = np.hypot(cos_2 * np.sin(lam), cos_1 * sin_2 - sin_1 * cos_2 * np.cos(lam))
        cos_sigma = sin_1 * sin_2 + cos_1 * cos_2 * np.cos(lam)
        sigma = np.arctan2(sin_sigma, cos_sigma)
        sin_alpha = cos_1 * cos_2 * np.sin(lam) / sin_sigma
        cos2_alpha = 1 - sin_alpha**2
        cos_2m = np.where(cos2_alpha > 1e-15, cos_sigma - 2 * sin_1 * sin_2 / cos2_alpha, 0.0)
        c = FLATTENING / 16 * cos2_alpha * (4 + FLATTENING * (4 - 3 * cos2_alpha))
        inner = cos_2m + c * cos_sigma * (2 * cos_2m**2 - 1)
        lam, before = difference + (1 - c) * FLATTENING * sin_alpha * (sigma + c * sin_sigma * inner), lam
        off = np.abs(lam - before)
        if not (off > 1e-13).any():
            break
    u2 = cos2_alpha * (AXIS_M**2 - _POLAR_M**2) / _POLAR_M**2
    big_a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    big_b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    last = big_b / 6 * cos_2m * (4 * sin_sigma**2 - 3) * (4 * cos_2m**2 - 3)
    correction = big_b * sin_sigma * (cos_2m + big_b / 4 * (cos_sigma * (2 * cos_2m**2 - 1) - last))
    metres = _POLAR_M * big_a * (sigma - correction)
    same = (phi_1 == phi_2) & (difference == 0)
    return np.where(same, 0.0, np.where((off < 1e-11) & (np.abs(lam) <= np.pi), metres, np.nan))


def worst_pairs(regions, *, ground=False, pairs=40, generations=60, seed=0):
    """(`(k,)` largest projected / geodesic distance found, `(k, 4)` lat, lon, lat, lon) of each region.

    Differential evolution for all regions at once, over both places. ground: of the inverse ratio.
    """
    rng = np.random.default_rng(seed)
    shares = rng.random((len(regions), pairs, 4))
    edges = rng.random(shares.shape) < 0.5  # half of all coordinates start on a border
    shares[edges] = np.rint(shares[edges])
    found = _ratios(regions, shares, ground)
    for _ in range(generations):
        a, b, best = (np.take_along_axis(shares, at[..., np.newaxis], 1) for at in _partners(rng, found))
        scale = rng.uniform(0.3, 1.0, (len(regions), pairs, 1))
        tried = shares + scale * (best - shares) + scale * (a - b)
        tried = np.clip(np.where(rng.random(shares.shape) < 0.8, tried, shares), 0, 1)
        ratios = _ratios(regions, tried, ground)
        better = ratios > found
        shares[better], found[better] = tried[better], ratios[better]
    at = np.argmax(found, axis=1)[:, np.newaxis]
    chosen = np.take_along_axis(shares, at[..., np.newaxis], 1)
    return np.take_along_axis(found, at, 1)[:, 0], np.stack(_degrees(regions, chosen), axis=-1)[:, 0]


def _partners(rng, found):
    """Two other pairs each, and one of the best."""
    count, pairs = found.shape
    others = rng.integers(0, pairs, (2, count, pairs))
    order = np.argsort(-found, axis=1)
    best = np.take_along_axis(order, rng.integers(0, max(2, pairs // 8), (count, pairs)), 1)
    return others[0], others[1], best


def _degrees(regions, shares):
    west, south, east, north = (edge[:, np.newaxis] for edge in np.array([tuple(one) for one in regions]).T)
    lats = [south + (north - south) * shares[..., at] for at in (0, 2)]
    lons = [west + (east - west) * shares[..., at] for at in (1, 3)]
    return lats[0], lons[0], lats[1], lons[1]


def _ratios(regions, shares, ground):
    """-inf where a pair is too near, or its geodesic not known."""
    true = geodesic_m(*_degrees(regions, shares))
    sides = np.array([(one.height_m, one.width_m) for one in regions])[:, np.newaxis]
    ours = np.hypot(*np.moveaxis((shares[..., 2:] - shares[..., :2]) * sides, -1, 0))
    known = (true > _NEAREST_M) & (ours > _NEAREST_M)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, true / ours if ground else ours / true, -np.inf)
