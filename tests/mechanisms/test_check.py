import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError, exact_decimal, in_range, positive, power_of_two, whole


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Fraction(1)),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e-6", Fraction(1, 10**6)),
        ("+2.50E2", Fraction(250)),
        ("-3", Fraction(-3)),
        ("1e30", Fraction(10**30)),
        (7, Fraction(7)),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
)
def test_it_reads_decimals_exactly(text, value):
    assert exact_decimal("epsilon", text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1_000", " 1", "1 ", "1\n", "0x10", "1/2", "1,5"),
        *("١", "１", "½", "e5", ".", "1e", "1e5.0", "--1", "1e31", "1e-31", "1e400", "1e999999999", "9" * 41),
        *(True, None, 0.5, float("nan"), [], b"1", 10**1000, Fraction(1, 10**1000)),
    ],
)
def test_it_refuses_everything_else_by_name(text):
    with pytest.raises(ParameterError) as refused:
        exact_decimal("epsilon", text)
    assert refused.value.parameter == "epsilon"
    assert refused.value.code == "invalid_parameter"
    assert len(str(refused.value)) < 300


def test_it_names_parameter_value_and_range():
    with pytest.raises(ParameterError) as refused:
        exact_decimal("epsilon", "0", low=0, low_open=True, high=20)
    assert str(refused.value) == "epsilon is 0, allowed: a decimal number above 0 and of at most 20"
    assert (refused.value.value, refused.value.allowed) == ("0", "a decimal number above 0 and of at most 20")


@pytest.mark.parametrize(
    ("text", "fits"), [("0", True), ("20", True), ("-1e-30", False), ("20.0000001", False)]
)
def test_its_bounds_are_exact(text, fits):
    if fits:
        exact_decimal("epsilon", text, low=0, high=20)
    else:
        with pytest.raises(ParameterError):
            exact_decimal("epsilon", text, low=0, high=20)


@settings(derandomize=True)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=9))
def test_it_agrees_with_the_standard_library(number):
    assert exact_decimal("epsilon", str(number)) == Fraction(number)


@settings(derandomize=True)
@given(st.text(max_size=60))
def test_it_gives_a_number_or_a_parameter_error(text):
    with contextlib.suppress(ParameterError):
        assert exact_decimal("epsilon", text) == Fraction(text)


def test_messages_are_printable_and_short():
    with pytest.raises(ParameterError) as refused:
        exact_decimal("epsilon", "\x1b[31m\u202e" + "x" * 10_000)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1"])
def test_positive_refuses(value):
    with pytest.raises(ParameterError, match="scale"):
        positive(scale=value)


@pytest.mark.parametrize("value", [-1, 11, float("nan"), True, "5"])
def test_in_range_refuses(value):
    with pytest.raises(ParameterError, match=r"level.*0 to 10"):
        in_range(0, 10, level=value)


@pytest.mark.parametrize("value", [0, 1, 3, 96, 512, -4, 4.0, True])
def test_power_of_two_refuses(value):
    with pytest.raises(ParameterError, match=r"resolution.*a power of two from 2 to 256"):
        power_of_two(2, 256, resolution=value)


@pytest.mark.parametrize("value", [0, 11, -1, 1.0, Fraction(1), True, "1", None])
def test_whole_refuses(value):
    with pytest.raises(ParameterError, match="persons"):
        whole(1, 10, persons=value)


def test_valid_values_pass():
    whole(1, 10, persons=1, other=10)
    positive(scale=Fraction(1, 3), size=2, ratio=0.1)
    in_range(0, 10, level=0, other=Fraction(10))
    power_of_two(2, 256, resolution=2, other=256)
