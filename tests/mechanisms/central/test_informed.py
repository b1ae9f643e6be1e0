"""The rule that counts in earlier measurements, against its formula by hand."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.informed import Informed
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.token_walk import Worth

WORTH = Worth(scales=1.0, growth=0.5, branches=2, scale=Fraction(10))
HALVES = Nodes(depths=np.array([1, 1]), codes=np.array([0, 1]))


def least_look(rule, *, depth, code, tokens):
    """The smallest look at a node that is worth it, in mass units."""
    looks = np.arange(-500, 500)
    nodes = Nodes(depths=np.full(looks.size, depth), codes=np.full(looks.size, code))
    chosen = rule(nodes, looks, tokens)
    assert (np.diff(chosen.astype(int)) >= 0).all()
    return int(looks[chosen][0])


def informed(scale=1.0):
    return Informed.of(WORTH, [Measured(nodes=HALVES, noisy=np.array([3.0, 1.0]), scale=scale)])


def test_a_leaf_of_before_is_weighted_by_precision_and_needs_as_much_as_with_two_tokens():
    """30 mass units measured as well as by one token, a look with four: (look / 4 + 30) / (5 / 4) >= 10."""
    assert least_look(informed(), depth=1, code=0, tokens=4) == -70
    assert least_look(informed(), depth=1, code=1, tokens=4) == 10


def test_a_cell_that_was_split_needs_less_the_better_its_mean_is_known():
    """40 as well as by two tokens: (look / 4 + 20) / (3 / 4) >= 9, which is 10 · sqrt(4 / 3 / 2)."""
    assert least_look(informed(), depth=0, code=0, tokens=4) == -53


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_below_what_was_measured_looks_decide(scale):
    for tokens, least in ((2, 10), (4, 15), (256, 114)):
        assert least_look(informed(scale), depth=2, code=1, tokens=tokens) == least


def test_much_noise_says_nothing():
    rule = informed(scale=3.01)
    assert rule.estimates == ()
    assert least_look(rule, depth=1, code=0, tokens=4) == 15
    assert Informed.of(WORTH, []).estimates == ()
