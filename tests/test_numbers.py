"""Numbers for people: rounded in the direction that is said, to digits that can be read."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps import numbers
from heatmaps.numbers import DOWN, UP, Scale

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SHOWN = re.compile(r"-?\d{1,3}(,\d{3})*(\.\d+)?( × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
exact = st.builds(lambda units, power: Fraction(units, 10**power), st.integers(0, 2**62), st.integers(0, 18))
signed = st.floats(-1e9, 1e9)
errors = st.floats(1e-9, 1e6)
few = settings(max_examples=50)


def read(shown):
    """What somebody reads, exactly."""
    assert SHOWN.fullmatch(shown), shown
    mantissa, _, power = shown.replace(",", "").partition(" × 10")
    return Fraction(mantissa) * Fraction(10) ** int(power.translate(RAISED) or "0")


def places(shown):
    return len(shown.partition(".")[2])


@few
@given(exact)
def test_a_loss_is_never_shown_below_the_real_one_and_no_thousandth_above(value):
    shown = read(numbers.amount(value))
    assert value <= shown <= value * Fraction(1001, 1000)


@few
@given(exact)
def test_no_more_is_shown_to_be_left_than_there_is_and_a_thousandth_less_at_most(value):
    shown = read(numbers.amount_left(value))
    assert value * Fraction(999, 1000) <= shown <= value


@few
@given(signed, st.sampled_from([UP, DOWN, numbers.NEAREST]), st.integers(1, 6))
def test_numbers_round_in_the_direction_that_is_said_and_no_zero_has_a_sign(value, rounding, digits):
    text = numbers.number(value, digits=digits, rounding=rounding)
    shown, value = read(text), Fraction(str(value))
    assert rounding is not UP or shown >= value
    assert rounding is not DOWN or shown <= value
    assert abs(shown - value) <= abs(value) * Fraction(10) ** (1 - digits)
    assert not (shown == 0 and text.startswith("-"))
    assert len(text) <= 18


@few
@given(signed, errors)
def test_value_and_error_have_equal_decimals_and_the_error_is_never_understated(value, error):
    shown, beside = numbers.value_with_error(value, error).split(" ± ")
    assert places(shown) == places(beside)
    assert read(beside) >= Fraction(str(error))
    assert abs(read(shown) - Fraction(value)) <= max(Fraction(error) / 10, Fraction(1, 10**6))
    assert not shown.startswith("-0") or read(shown) != 0


@few
@given(st.floats(0, 1), st.floats(1e-6, 1))
def test_an_interval_of_shares_holds_the_released_one_in_the_decimals_of_its_error(share, error):
    scale = Scale.of_shares(error)
    low, middle, high = scale.down(share - error), scale.nearest(share), scale.up(share + error)
    assert read(low) <= 100 * (Fraction(share) - Fraction(error)) + Fraction(1, 10**12)
    assert read(high) >= 100 * (Fraction(share) + Fraction(error)) - Fraction(1, 10**12)
    assert places(low) == places(middle) == places(high) == places(scale.up(error))


@few
@given(st.floats(0, 2e7), errors)
def test_lengths_of_one_table_share_their_unit_and_decimals_with_their_error(length_m, error_m):
    scale = Scale.of_lengths(error_m, greatest_m=length_m)
    (shown, unit), (beside, same) = (text.split(" ") for text in (scale.nearest(length_m), scale.up(error_m)))
    assert unit == same
    assert places(shown) == places(beside)
    assert read(beside) * (1000 if unit == "km" else 1) >= Fraction(str(error_m))


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0, "0", "0"),
        (20, "20", "20"),
        (Fraction("16.951234"), "16.96", "16.95"),
        (Fraction(1, 3), "0.3334", "0.3333"),
        (Fraction("0.000001"), "0.000001", "0.000001"),
        (Fraction("1e-9"), "1 × 10⁻⁹", "1 × 10⁻⁹"),
        (Fraction("99999e-13"), "1 × 10⁻⁸", "9.999 × 10⁻⁹"),
        (Fraction("9.99999"), "10", "9.999"),
        (123_456, "123,456", "123,456"),
        (Fraction("12345.6"), "12,346", "12,345"),
        (12_345 * 10**14, "1.235 × 10¹⁸", "1.234 × 10¹⁸"),
    ],
)
def test_amounts_have_four_digits(value, up, down):
    assert numbers.amount(value) == up
    assert numbers.amount_left(value) == down


@pytest.mark.parametrize(
    ("length_m", "nearest", "error", "at_least"),
    [
        (0, "0 m", "0 m", "0 m"),
        (0.0389, "0.0389 m", "0.039 m", "0.038 m"),
        (99.61, "99.6 m", "100 m", "99 m"),
        (420.7, "421 m", "421 m", "420 m"),
        (999.9, "1 km", "1 km", "999 m"),
        (4498, "4.5 km", "4.5 km", "4.4 km"),
        (18_900, "18.9 km", "19 km", "18 km"),
        (11_186_999, "11,187 km", "11,187 km", "11,186 km"),
    ],
)
def test_lengths_are_metres_below_a_kilometre(length_m, nearest, error, at_least):
    assert numbers.length(length_m) == nearest
    assert numbers.error_length(length_m) == error
    assert numbers.length_at_least(length_m) == at_least


@pytest.mark.parametrize(
    ("length_m", "words"),
    [
        *((0, "0 m"), (-3, "0 m"), (0.0389, "0.038 m"), (7.99, "7.9 m"), (99.6, "99 m"), (420.7, "420 m")),
        *((999.9, "999 m"), (4498, "4.4 km"), (9999, "9.9 km"), (18_900, "18 km"), (11_186_999, "11,186 km")),
    ],
)
def test_a_bound_from_below_is_rounded_down(length_m, words):
    assert numbers.length_at_least(length_m) == words


@pytest.mark.parametrize(
    ("length_m", "error_m", "words", "error"),
    [
        (44_335.6, 27.3, "44.336 km", "0.028 km"),
        (44_335.6, 2_700, "44.3 km", "2.7 km"),
        (812.36, 0.31, "812.36 m", "0.31 m"),
        (812.36, 121, "810 m", "130 m"),
        (999.7, 1, "999.7 m", "1.0 m"),
        (12, 500, "10 m", "500 m"),
        (3, 0, "3.00 m", "0.00 m"),
    ],
)
def test_a_length_is_told_to_the_second_digit_of_its_error(length_m, error_m, words, error):
    scale = Scale.of_lengths(error_m, greatest_m=length_m)
    assert (scale.nearest(length_m), scale.up(error_m)) == (words, error)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.000123456, "0.000123"), (1, "1"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_numbers_have_three_digits_or_all_before_the_point(value, text):
    assert numbers.number(value) == text


def test_a_length_that_is_promised_is_exact():
    assert [numbers.exact_length(length_m) for length_m in (7, 1_500, 10_001, 250_000)] == [
        "7 m",
        "1,500 m",
        "10.001 km",
        "250 km",
    ]


def test_shares_and_counts():
    assert [numbers.share(part) for part in (0, 0.1234, 0.5, 1)] == ["0 %", "12.3 %", "50 %", "100 %"]
    assert numbers.share(-1e-30, digits=1, rounding=UP).startswith("-1 × 10")
    assert numbers.count(1_234_567) == "1,234,567"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (0.2, "1 second"),
        (119, "119 seconds"),
        (121, "3 minutes"),
        (7199, "120 minutes"),
        (7201, "3 hours"),
        (86_400 * 2.5, "3 days"),
    ],
)
def test_a_time_to_wait_is_rounded_up(seconds, words):
    assert numbers.duration(seconds) == words


def test_moments_are_told_in_utc():
    at = datetime(2026, 1, 2, 0, 30, 59, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert numbers.moment(at) == "2026-01-01 22:30 UTC"
    assert numbers.moment(at, seconds=True) == "2026-01-01 22:30:59 UTC"
    assert numbers.day(at) == numbers.day(at.astimezone(UTC).date()) == "2026-01-01"
    assert numbers.day(date(2026, 1, 2)) == "2026-01-02"


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises((ValueError, OverflowError)):
        numbers.amount(value)
