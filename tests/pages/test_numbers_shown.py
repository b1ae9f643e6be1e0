"""Numbers in templates: short for reading, exact on demand; no moment is told finer than its text."""

from datetime import UTC, date, datetime

import pytest

from heatmaps.templatetags import numbers


@pytest.mark.parametrize(
    ("exact", "taken", "left"),
    [
        ("16.951234", "16.96", "16.95"),
        ("0.000000001234567", "1.235 × 10⁻⁹", "1.234 × 10⁻⁹"),
        ("1234.5", "1,235", "1,234"),
    ],
)
def test_an_amount_is_rounded_and_has_its_exact_value_on_demand(exact, taken, left):
    hidden = f'<data value="{exact}" title="Exactly {exact}">'
    assert numbers.amount(exact) == f"{hidden}{taken}</data>"
    assert numbers.amount_left(exact) == f"{hidden}{left}</data>"


@pytest.mark.parametrize("exact", ["0", "0.5", "20", "-0.25", "no limit", "<no bound>"])
def test_short_amounts_and_words_stay_as_they_are(exact):
    assert numbers.amount(exact) == numbers.amount_left(exact) == exact


def test_thousands_alone_hide_nothing():
    assert numbers.amount("1234") == "1,234"


def test_moments_tell_no_more_than_their_text():
    at = datetime(2026, 11, 22, 10, 30, 59, 123_456, tzinfo=UTC)
    minute = '<time datetime="2026-11-22T10:30Z">2026-11-22 10:30 UTC</time>'
    second = '<time datetime="2026-11-22T10:30:59Z">2026-11-22 10:30:59 UTC</time>'
    assert numbers.moment(at) == numbers.moment("2026-11-22 10:30") == minute
    assert numbers.moment(at, "seconds") == numbers.moment("2026-11-22 10:30:59") == second
    assert (
        numbers.day(at) == numbers.day(date(2026, 11, 22)) == '<time datetime="2026-11-22">2026-11-22</time>'
    )


def test_mechanisms_have_titles():
    assert numbers.mechanism_title("laplace") != "laplace"
    assert numbers.mechanism_title("gone") == "gone"
