"""The cases of a contract that the short suite runs."""

from itertools import combinations, product

from tests.mechanisms.examples import by_pairs

CASES = [("laplace", "add_remove"), ("laplace", "replace"), ("k-median", "replace")]
VALUES = (16, 64, 256)


def test_pairs_of_the_short_suite_are_those_of_all_cases():
    rows = by_pairs(CASES, VALUES)
    whole = [(*case, value) for case, value in product(CASES, VALUES)]
    short = [row.values for row in rows if not row.marks]

    assert [row.values for row in rows] == whole
    assert pairs(short) == pairs(whole)
    assert len(short) < len(whole)


def pairs(rows):
    return {pair for row in rows for pair in combinations(enumerate(row), 2)}
