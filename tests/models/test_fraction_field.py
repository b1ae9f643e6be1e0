"""An exact fraction of a question on its way from a typed text to the row, and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps.exports.sheet import exact_text
from heatmaps.models import Release
from heatmaps.models.fraction_field import FractionField, NotStored, fraction_text, stored_fraction
from mechanisms.check import exact_decimal

EPSILON = Release._meta.get_field("epsilon")


def _typed(digits, places):
    return f"{digits // 10**places}.{digits % 10**places:0{places}d}" if places else str(digits)


texts = st.builds(_typed, st.integers(0, 10**30), st.integers(0, 30))


@settings(derandomize=True)
@given(texts)
def test_typed_text_is_the_value_in_the_row_and_the_shown_text(text):
    value = exact_decimal("epsilon", text)
    row = EPSILON.get_prep_value(value)
    assert row == fraction_text(value)
    assert EPSILON.from_db_value(row, None, None) == value
    assert exact_decimal("epsilon", exact_text(value)) == value
    assert exact_text(EPSILON.from_db_value(row, None, None)) == _plain(text)


@settings(derandomize=True)
@given(st.fractions())
def test_every_fraction_is_read_as_it_was_written(value):
    assert stored_fraction(fraction_text(value)) == value
    assert EPSILON.to_python(EPSILON.get_prep_value(value)) == value


@pytest.mark.parametrize("text", ["2/4", "1", "0.5", "1/-2", "+1/2", " 1/2", "1_0/3", "1/0", "", "x", "١/2"])
def test_another_spelling_is_refused(text):
    with pytest.raises(NotStored):
        EPSILON.from_db_value(text, None, None)


def test_to_migrations_it_is_a_column_of_text():
    _, path, _, arguments = Release._meta.get_field("delta").deconstruct()
    assert (path, arguments) == ("django.db.models.CharField", {"max_length": 80, "default": "0/1"})
    assert isinstance(EPSILON, FractionField)


def _plain(text):
    """Without zeros that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text
