"""Writes shuffle.json: honest errors and paddings of the shuffle mechanisms by a second path.

python tests/data/make_shuffle.py

Laws are built from negative binomial and binomial tables by their one-term ratios and direct sums of positive
products, not by the recurrences of `mechanisms.accounting`; local losses by hypergeometric functions in 40
digits. Calibration is plain bisection.
"""

import json
import math
from pathlib import Path

import mpmath as mp
import numpy as np


def negative_binomial(shape, eps, last):
    k = np.arange(last)
    logs = np.concatenate([[0.0], np.cumsum(np.log((shape + k) / (k + 1)) - eps)])
    table = np.exp(logs - logs.max())
    return table / table.sum()


def sgdl(shape, eps, reach):
    """P(|Y| = m) one-sided, m = 0 … reach, as a direct sum for every m."""
    p = math.exp(-eps)
    mean, deviation = shape * p / (1 - p), math.sqrt(shape * p) / (1 - p)
    nb = negative_binomial(shape, eps, reach + math.ceil(mean + 14 * deviation + 60 / eps))
    return np.array([float((nb[: nb.size - m] * nb[m:]).sum()) for m in range(reach + 1)])


def two_sided(table):
    return np.concatenate([table[:0:-1], table])


def delta(table, distance, loss):
    law = two_sided(table)
    here, moved = law[distance:], law[:-distance]
    return float(np.maximum(0.0, moved - np.exp(loss) * here).sum() + law[law.size - distance :].sum())


def delta_two_axes(table, radius, epsilon):
    law, best = two_sided(table), 0.0
    for i in range(1, radius + 1):
        for j in range(i + 1):
            if i * i + j * j <= radius * radius:
                factor = math.exp(epsilon * math.hypot(i, j))
                total = 0.0
                rows, moved_rows = law[i:], law[: law.size - i]
                columns = law[j:]
                moved_columns = law[: law.size - j]
                for here, moved in zip(rows, moved_rows, strict=True):
                    total += np.maximum(0.0, moved * moved_columns - factor * here * columns).sum()
                best = max(best, float(total))
    return best


def bisect(function, low, high, steps=46):
    """The place where a rising function passes 0."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


def reach_of(n, eps, distance):
    return distance + math.ceil(11 * math.sqrt(2 * n * math.exp(-eps)) / (1 - math.exp(-eps)) + 40 / eps)


def eps_geo(n, eps, target, radius):
    def excess(candidate):
        table = sgdl(n, candidate, reach_of(n, candidate, radius))
        return delta(table, radius, eps * radius) - target

    return bisect(excess, eps, 40 * eps)


def mean_absolute(n, eps):
    table = sgdl(n, eps, reach_of(n, eps, 0))
    return float(2 * (np.arange(table.size) * table).sum())


def mean_length(table):
    law, steps = two_sided(table), np.arange(1 - table.size, table.size)
    return float(sum(p * (law * np.hypot(s, steps)).sum() for p, s in zip(law, steps, strict=True)))


def binomial(n, f, last):
    k = np.arange(last)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k) / (k + 1)) + math.log(f / (1 - f)))])
    logs += n * math.log1p(-f)
    return np.exp(logs)


def rr_table2(n, eps, d, k):
    """Mean absolute error of the average with Theorem 3.1's λ, half of all bits set."""
    rest = 32 * math.log(4 / d) / eps**2
    half = math.sqrt(2 * math.log(2 / d))
    lam = ((half + math.sqrt(half**2 + 4 * rest)) / 2) ** 2
    bits, f = n * k, lam / (n * k) / 2
    return bits / (bits - lam) * flipped_mean(bits, bits // 2, f) / n


def flipped_mean(bits, ones, f):
    """E|Y − E Y| for Y = Bin(bits − ones, f) − Bin(ones, f)."""
    high = math.ceil(max(ones, bits - ones) * f + 12 * math.sqrt(bits * f) + 40)
    up, down = binomial(bits - ones, f, min(high, bits - ones)), binomial(ones, f, min(high, ones))
    law = np.convolve(up, down[::-1])
    steps = np.arange(law.size) - (down.size - 1) - (bits - 2 * ones) * f
    return float((law * np.abs(steps)).sum())


def rr_flip(bits, eps, target, radius):
    """f with nobody's other bit set; `radius` bits turn from 0 to 1."""

    def excess(f):
        high = math.ceil(bits * f + 12 * math.sqrt(bits * f) + 60)
        zero = binomial(bits, f, high)
        rest = binomial(bits - radius, f, high)
        turned = np.convolve(rest, binomial(radius, 1 - f, radius))[: high + 1]
        return target - float(np.maximum(0.0, zero - math.exp(eps * radius) * turned).sum())

    return bisect(excess, 1e-4, 0.1)


def local_loss(n, eps):
    with mp.workdps(40):
        beta, p = mp.mpf(1) / n, mp.e ** (-mp.mpf(eps))
        zero = mp.hyp2f1(beta, beta, 1, p * p)
        one = beta * p * mp.hyp2f1(beta, beta + 1, 2, p * p)
        return float(mp.log(zero / one))


def padding(n, eps, d):
    table = sgdl(1 / n, eps, math.ceil(60 / eps))
    tails = 2 * np.cumsum(table[::-1])[::-1]  # P(|Y| ≥ m)
    return int(np.argmax(-np.expm1(n * np.log1p(-np.minimum(tails[1:], 0.999999))) <= d))


def main():
    table2 = []
    for n, eps in ((50, 0.2), (100, 0.2), (200, 0.1)):
        near = eps_geo(n, eps, 5e-5, 10)
        far = eps_geo(n, eps, 5e-5, 1000)
        errors = [mean_absolute(n, e) / n for e in (eps, near, far)]
        central = mean_absolute(1, eps) / n
        table2.append([n, eps, errors[0], rr_table2(n, eps, 1e-4, 1000), errors[1], errors[2], central])
    table3 = []
    for n, eps in ((1000, 0.15), (3000, 0.2)):
        run = eps / (6 * math.sqrt(2))
        flip = rr_flip(1000 * n, run, 5e-5, 6)
        # From the variance, which no bit of anybody changes: the mean length of normal noise.
        variance = 1000 * n * flip * (1 - flip) / (1 - 2 * flip) ** 2
        lengths = [math.sqrt(math.pi / 2 * variance)]
        axis = eps_geo(n, run, 2.5e-5, 6)

        def excess(candidate, n=n, eps=eps):
            table = sgdl(n, candidate, reach_of(n, candidate, 6))
            return delta_two_axes(table, 6, eps / 6) - 5e-5

        both = bisect(excess, axis, 2 * axis, steps=30)
        for shape, e in ((n, axis), (n, both), (1, run)):
            lengths.append(mean_length(sgdl(shape, e, reach_of(shape, e, 0))))
        table3.append([n, eps, *(100 * length / n for length in lengths)])
    rows = ((0.01767766953, 1000, 5e-5), (0.2, 50, 1e-4), (0.1, 100, 1e-4))
    result = {
        "table2": {"columns": "n eps geo_local rr_theorem geo_10 geo_1000 central", "rows": table2},
        "table3": {"columns": "n eps rr geo_axis geo_both central", "rows": table3},
        "local_sgdl": [[n, 0.1, local_loss(n, 0.1)] for n in (150, 1000)],
        "padding": [[eps, n, d, padding(n, eps, d)] for eps, n, d in rows],
    }
    Path(__file__).with_name("shuffle.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
