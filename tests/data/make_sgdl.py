"""Writes sgdl.json: the law and its hockey-stick sums in 60 digits, from the closed form.

python tests/data/make_sgdl.py
"""

import json
from fractions import Fraction
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60


def pmf(beta, eps, m):
    """(1−p)^2β · (β)_m / m! · p^m · 2F1(β, β + m; m + 1; p²)."""
    p = mp.e ** (-mp.mpf(eps))
    series = mp.hyp2f1(beta, beta + m, m + 1, p * p)
    return (1 - p) ** (2 * beta) * mp.rf(beta, m) / mp.factorial(m) * p**m * series


def delta(beta, eps_geo, distance, loss, reach):
    """Σ max(0, P(y − d) − e^loss P(y)), every term by the closed form."""
    table = [pmf(beta, eps_geo, m) for m in range(reach + distance + 1)]
    factor = mp.e ** mp.mpf(loss)
    terms = (table[abs(y - distance)] - factor * table[abs(y)] for y in range(-reach, reach + 1))
    return mp.fsum(term for term in terms if term > 0)


def number(text):
    """ "1/50" or "50"."""
    return mp.mpf(Fraction(text).numerator) / Fraction(text).denominator


def text(value):
    return mp.nstr(value, 15)


LAWS = [("50", "0.2"), ("50", "0.5"), ("1/50", "0.2"), ("1/1000", "0.1"), ("1000000", "5.0")]
AT = [0, 1, 5, 50, 500]
SUMS = [
    ("50", "0.2", "0.3", [1, 10, 72]),
    ("50", "0.2", "0.6", [1, 10, 72, 100]),
    ("1000", "0.1", "1.0", [1, 6, 50, 200]),
]


def main():
    laws = [
        {
            "beta": beta,
            "eps": eps,
            "at": AT,
            "pmf": [text(pmf(number(beta), eps, m)) for m in AT],
        }
        for beta, eps in LAWS
    ]
    sums = [
        {
            "n": int(n),
            "eps": eps,
            "eps_geo": eps_geo,
            "d": distances,
            "delta": [text(delta(mp.mpf(n), eps_geo, d, mp.mpf(eps) * d, 600)) for d in distances],
        }
        for n, eps, eps_geo, distances in SUMS
    ]
    path = Path(__file__).with_name("sgdl.json")
    path.write_text(json.dumps({"laws": laws, "sums": sums}, indent=1) + "\n")


if __name__ == "__main__":
    main()
