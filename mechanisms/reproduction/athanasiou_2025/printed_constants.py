"""Gives constants as Athanasiou et al. 2025 print them, to show what they lead to. Nothing released uses
them: they do not hold."""

import math

from scipy.optimize import brentq

from mechanisms.accounting.sgdl import sgdl


def sgdl_padding(epsilon: float, persons: int, delta: float) -> int:
    """Returns the padding of Lemma C.1."""
    w = 2 * persons * math.log((1 - (1 - delta) ** (1 / persons)) / 2)
    u = 1 + (math.sqrt(w * (w - 4)) - w) / 2
    return math.ceil(u * (1 - math.exp(-epsilon)) / persons)


def rr_random_bits(epsilon: float, delta: float) -> float:
    """Returns λ of Theorem 3.1: bits answered at random, half of them flipped."""
    rest = 32 * math.log(4 / delta) / epsilon**2
    half = math.sqrt(2 * math.log(2 / delta))
    return ((half + math.sqrt(half**2 + 4 * rest)) / 2) ** 2


def geo_padding(epsilon_geo: float, persons: int, delta: float) -> int:
    """Returns the padding of Proposition 2."""
    each = 1 - (1 - delta / 2) ** (1 / persons)
    return math.ceil(-math.log((1 + math.exp(-epsilon_geo)) * each / 2) / epsilon_geo)


def geo_loss(epsilon_geo: float, persons: int, delta: float) -> float:
    """Returns ε of Theorem 4.1: at one step, which it takes for the worst."""
    p, t = math.exp(-epsilon_geo), 2 * epsilon_geo / math.sqrt(persons)
    moment = 2 * math.log1p(-p) - math.log1p(-p * math.exp(t)) - math.log1p(-p * math.exp(-t))
    alpha = (persons * moment - math.log(delta / 4)) / t
    near, far = abs(math.floor(0.5 - alpha)), abs(math.floor(-0.5 - alpha))
    logs = sgdl(persons, epsilon_geo, radius=max(near, far)).log_probabilities
    return abs(float(logs[near] - logs[far]))


def geo_epsilon(epsilon: float, persons: int, delta: float) -> float:
    """Returns the ε_geo for which Theorem 4.1 states ε."""

    def excess(log_epsilon_geo: float) -> float:
        return geo_loss(math.exp(log_epsilon_geo), persons, delta) - epsilon

    low = math.log(epsilon)
    if persons < 5 or excess(low) >= 0:  # t is below ε_geo only from 5 persons on
        return epsilon
    high = low + 0.1
    while excess(high) < 0:
        low, high = high, high + 0.1
    return math.exp(float(brentq(excess, low, high, xtol=1e-9)))


def rr_local_loss(epsilon: float, persons: int, domain: int, delta: float) -> float | None:
    """Returns ε_L of Theorem 7.1 for the λ of Theorem 3.1; None where either does not apply."""
    bits, random_bits = persons * domain, rr_random_bits(epsilon, delta)
    own = random_bits / persons
    least = 14 * math.log(4 / delta)
    if not (least <= random_bits <= bits and least <= own <= domain):
        return None
    return math.sqrt(32 * math.log(4 / delta) / (own - math.sqrt(2 * own * math.log(2 / delta))))


def sgdl_local_loss(epsilon: float, persons: int) -> float:
    """Returns ε_L of Theorem 7.2, at one step."""
    logs = sgdl(1 / persons, epsilon, radius=1000).log_probabilities
    return float(logs[0] - logs[1])
