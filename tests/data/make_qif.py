"""Writes qif.json: matrices' expected losses and ε by an independent library of the paper's third author.

pip install qif==1.6.0 numpy; python tests/data/make_qif.py

5 × 5 cells of side 1, ε = 0.5 a cell, uniform prior, Euclidean loss; and the geometric law on a line.
"""

import json
import math
from importlib.metadata import version
from pathlib import Path

import numpy as np
import qif

SIDE, EPSILON = 5, 0.5
CELLS = SIDE * SIDE


def euclidean(one, other):
    """Between cells numbered row by row."""
    return math.hypot(one // SIDE - other // SIDE, one % SIDE - other % SIDE)


def expected(matrix):
    """Mean distance of the reported cell, uniform prior."""
    distances = np.array([[euclidean(i, j) for j in range(CELLS)] for i in range(CELLS)])
    return float((np.array(matrix) * distances).sum() / CELLS)


def main():
    prior = np.full(CELLS, 1 / CELLS)
    planar = qif.mechanism.geo_ind.planar_geometric_grid(SIDE, SIDE, 1.0, EPSILON)
    exponential = qif.mechanism.d_privacy.exponential(CELLS, lambda i, j: EPSILON * euclidean(i, j))
    optimal = qif.mechanism.d_privacy.min_loss_given_d(
        prior, CELLS, lambda i, j: EPSILON * euclidean(i, j), euclidean
    )
    geometric = np.array(qif.mechanism.d_privacy.geometric(9, 0.7))
    result = {
        "made_with": f"qif {version('qif')}",
        "side": SIDE,
        "epsilon": EPSILON,
        "planar_geometric": expected(planar),
        "exponential": expected(exponential),
        "optimal": expected(optimal),
        "geometric": {
            "cells": 9,
            "epsilon": 0.7,
            "first_row": geometric[0].tolist(),
            "middle_row": geometric[4].tolist(),
        },
    }
    Path(__file__).with_name("qif.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
