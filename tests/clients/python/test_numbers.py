"""Amounts are exact in both directions, and errors are never told as smaller than they are."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hazemap_client.numbers import exact, rounded_up, written
from hypothesis import given
from hypothesis import strategies as some


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"), (1e-18, "0.000000000000000001"), (3, "3"), ("0.50", "0.50"),
        (Decimal("1E-7"), "0.0000001"), (Fraction(3, 8), "0.375"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_a_plain_decimal(value, text):
    assert written(value) == text
    assert exact(text) == Fraction(str(value)) == Fraction(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "half", Fraction(1, 3), True, "1_0e", ""])
def test_what_is_no_decimal_is_refused(value):
    with pytest.raises(ValueError, match="is not allowed; allowed: a decimal number"):
        written(value)


@pytest.mark.parametrize(
    "text", ["NaN", "sNaN", "1e999999999", "0e-999999999", "1/0", "x" * 2000, "9" * 2000]
)
def test_what_cannot_be_written_out_is_no_number(text):
    with pytest.raises((ValueError, ZeroDivisionError)):
        exact(text)


def test_an_exact_number_of_an_answer_is_read():
    assert (exact("1/3"), exact("inf")) == (Fraction(1, 3), Decimal("Infinity"))
    for text in ("one", "1/0", "9" * 2000):
        with pytest.raises((ValueError, ArithmeticError)):
            exact(text)


@given(some.floats(min_value=1e-9, max_value=1e9))
def test_an_error_is_rounded_up(value):
    told = float(rounded_up(value))
    assert value <= told <= value * 1.1 + 1e-12
