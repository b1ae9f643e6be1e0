"""Cell-by-cell comparisons against their definitions."""

import math

import numpy as np
import pytest
from scipy.stats import pearsonr

from mechanisms.evaluation.similarity import kl, kl_mixed, normalised, pearson, similarity

A = np.array([[0.5, 0.25], [0.25, 0.0]])
B = np.array([[0.25, 0.25], [0.0, 0.5]])
UNIFORM = np.full((2, 2), 0.25)


def test_it_sums_what_both_have():
    assert similarity(A, B) == pytest.approx(0.5)
    assert similarity(A, A) == pytest.approx(1)
    assert similarity([[1.0, 0.0]], [[0.0, 1.0]]) == 0


def test_it_computes_the_divergence_of_truth_from_release():
    tiny = 1e-12
    expected = (
        (0.5 + tiny) * math.log((0.5 + tiny) / (0.25 + tiny))
        + (0.25 + tiny) * math.log((0.25 + tiny) / tiny)
        + tiny * math.log(tiny / (0.5 + tiny))
    )
    assert kl(A, B) == pytest.approx(expected, rel=1e-12)
    assert kl(A, A) == 0
    assert kl(UNIFORM, A) != pytest.approx(kl(A, UNIFORM))


def test_it_mixes_one_percent_uniform_into_both():
    a, b = 0.99 * A + 0.0025, 0.99 * B + 0.0025
    expected = sum(p * math.log(p / q) for p, q in zip(a.ravel(), b.ravel(), strict=True))
    assert kl_mixed(A, B) == pytest.approx(expected, rel=1e-12)


def test_it_correlates_cells():
    rng = np.random.default_rng(32)
    a, b = (normalised(rng.exponential(size=(8, 8))) for _ in range(2))
    assert pearson(a, b) == pytest.approx(pearsonr(a.ravel(), b.ravel()).statistic, rel=1e-9)
    assert pearson(a, a) == pytest.approx(1)


def test_it_finds_no_correlation_with_a_constant_map():
    for side in range(2, 40):
        a = normalised(np.random.default_rng(33).random((side, side)))
        constant = normalised(np.full((side, side), 0.1))
        assert pearson(a, constant) == pearson(constant, a) == 0


def test_it_normalises():
    assert normalised([[1, 3]]).tolist() == [[0.25, 0.75]]
    assert normalised(np.zeros((2, 2))).tolist() == UNIFORM.tolist()


@pytest.mark.parametrize("wrong", [[[1, -1]], [[float("nan"), 1]], [[float("inf"), 1]]])
def test_it_refuses_to_normalise_what_is_no_map(wrong):
    with pytest.raises(ValueError, match="map"):
        normalised(wrong)


@pytest.mark.parametrize(
    "wrong", [[[0.5, 0.4]], [[0.5, 0.25, 0.25]], [[1.5, -0.5]], [0.5, 0.5], [[math.nan, 1]]]
)
@pytest.mark.parametrize("function", [similarity, kl, kl_mixed, pearson])
def test_it_refuses_what_is_no_pair_of_normalised_maps(function, wrong):
    with pytest.raises(ValueError, match="map"):
        function([[0.5, 0.5]], wrong)
