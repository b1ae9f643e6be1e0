"""Writes dp_accounting.json: δ of shifted integer noise by Google's privacy loss distributions.

pip install dp-accounting==0.6.0 scipy; python tests/data/make_dp_accounting.py

Laws are made here, by sums of products of probabilities; δ comes from the library, once rounded up and once
rounded down on its grid of losses, so that the exact value lies between.
"""

import json
import math
from importlib.metadata import version
from pathlib import Path

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

GRID = 1e-4


def geometric(eps, reach):
    return np.exp(-eps * np.abs(np.arange(-reach, reach + 1))) * math.tanh(eps / 2)


def summed(eps, persons, reach):
    """P(S = s) for s = −reach … reach, by squaring; what is beyond is cut, below 1e-25."""
    base, total = geometric(eps, reach), np.ones(1)
    for bit in bin(persons)[2:]:
        total = cut(np.convolve(total, total), reach)
        total = cut(np.convolve(total, base), reach) if bit == "1" else total
    return total


def cut(table, reach):
    surplus = max(0, table.size // 2 - reach)
    return table[surplus : table.size - surplus]


def flipped(bits, ones, flip):
    """P(Y = y) for y = 0 … bits."""
    one, other = ((n, p) for n, p in ((ones, 1 - flip), (bits - ones, flip)))
    return np.convolve(*(binom.pmf(np.arange(n + 1), n, p) for n, p in (one, other)))


def loss_distribution(lower, upper, up):
    """Of outcomes with these probabilities on two inputs; zeros are left out of either."""
    tables = [{i: math.log(p) for i, p in enumerate(law) if p > 0} for law in (upper, lower)]
    return pld.from_two_probability_mass_functions(
        *tables, pessimistic_estimate=up, value_discretization_interval=GRID, symmetric=False
    )


def shifted(law, distance):
    zeros = np.zeros(distance)
    return np.concatenate([law, zeros]), np.concatenate([zeros, law])


def both(make, losses):
    """[[low, high], …] of δ at the losses, from distributions that are rounded up and down."""
    found = [make(up).get_delta_for_epsilon(losses) for up in (False, True)]
    return [[float(low), float(high)] for low, high in zip(*found, strict=True)]


def main():
    laplace = [
        {"eps_geo": a, "distance": d, "losses": losses}
        for a, d, losses in ((0.3, 4, [0.1, 0.5, 1.0]), (1.1, 2, [0.5, 2.0]))
    ]
    for row in laplace:
        row["delta"] = both(
            lambda up, row=row: pld.from_discrete_laplace_mechanism(
                row["eps_geo"],
                sensitivity=row["distance"],
                pessimistic_estimate=up,
                value_discretization_interval=GRID,
            ),
            row["losses"],
        )
    sums = [
        {"persons": n, "eps_geo": e, "distance": d, "losses": losses, "reach": 700}
        for n, e, d, losses in ((50, 0.6, 10, [1.0, 2.0]), (200, 0.8, 6, [0.3, 0.6]))
    ]
    for row in sums:
        law = summed(row["eps_geo"], row["persons"], row["reach"])
        row["delta"] = both(
            lambda up, law=law, row=row: loss_distribution(*shifted(law, row["distance"]), up), row["losses"]
        )
    planes = [
        {"persons": 50, "eps_geo": 0.6, "shift": shift, "losses": [1.0, 2.0]} for shift in ([6, 3], [5, 5])
    ]
    for row in planes:
        law = summed(row["eps_geo"], row["persons"], 700)
        row["delta"] = both(
            lambda up, law=law, row=row: loss_distribution(*shifted(law, row["shift"][0]), up).compose(
                loss_distribution(*shifted(law, row["shift"][1]), up)
            ),
            row["losses"],
        )
    bits = [
        {"bits": n, "ones": t, "flip": f, "distance": d, "losses": losses}
        for n, t, f, d, losses in ((200, 0, 0.05, 1, [1.0]), (200, 150, 0.05, 3, [0.5, 1.5]))
    ]
    for row in bits:
        laws = (
            flipped(row["bits"], row["ones"], row["flip"]),
            flipped(row["bits"], row["ones"] + row["distance"], row["flip"]),
        )
        row["delta"] = both(lambda up, laws=laws: loss_distribution(laws[1], laws[0], up), row["losses"])
    result = {
        "made_with": f"dp-accounting {version('dp-accounting')}, scipy {version('scipy')}",
        "laplace": laplace,
        "sums": sums,
        "planes": planes,
        "bits": bits,
    }
    Path(__file__).with_name("dp_accounting.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
