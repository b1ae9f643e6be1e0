"""What a release sheet says about two users that count as one person."""

from fractions import Fraction

import pytest

from heatmaps.models import Dataset
from heatmaps.wording.person_hashes import told_apart


@pytest.mark.parametrize(
    ("facts", "width", "form", "bound", "of"),
    [
        (
            {"persons": 50, "person_bits": 63, "user_form": ""},
            63,
            "as files have them",
            50,
            "the 50 enrolled",
        ),
        ({"person_bits": 63, "user_form": ""}, 63, "as files have them", 10**9, "a billion"),
        ({"persons": 8_000_000}, 128, "normal form C", 8_000_000, "the 8,000,000 enrolled"),
        ({"expected_persons": 7}, 128, "normal form C", 10**9, "a billion"),
    ],
)
def test_it_says_how_and_how_likely(facts, width, form, bound, of):
    said = told_apart(Dataset(**facts))
    assert f"keyed hashes of {width} bits" in said
    assert form in said
    assert f"at most n/2^{width}, which is below" in said
    number, _, who = said.split("below ")[1].partition(" for ")
    assert who == of
    exact = Fraction(bound, 2**width)
    assert exact < Fraction(number) <= exact * Fraction(11, 10)
