"""Pictures and numbers of “What ε means” are what the program computes."""

import math
import re
from fractions import Fraction

import pytest

from docs.manual import figures
from heatmaps.wording.guarantee import right_guesses
from tests.services.installation import ROOT

PAGE = (ROOT / "docs/explanation/epsilon.md").read_text()


@pytest.fixture(scope="module")
def drawn():
    return figures.pictures()


def test_the_pictures_are_what_is_drawn_now(drawn):
    kept = {path.name: path.read_text() for path in figures.FOLDER.glob("epsilon-*.svg")}

    assert kept.keys() == drawn.keys()
    assert [name for name, content in drawn.items() if kept[name] != content] == []


def test_the_page_shows_every_picture_in_both_looks(drawn):
    assert set(re.findall(r"epsilon-[\w-]+\.svg", PAGE)) == drawn.keys()


def test_the_table_is_what_is_promised_and_what_is_counted():
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \|$", PAGE, re.MULTILINE)

    found = [figures.guesses(Fraction(text)) for text in figures.GUESSED]
    assert rows == [
        (text, right_guesses(one.epsilon, Fraction(0)), f"{100 * one.counted:.1f}")
        for text, one in zip(figures.GUESSED, found, strict=True)
    ]
    tries = 2 * figures.TRIES**2
    assert f"{tries:,} tries" in PAGE
    for one in found:
        # The law of the best guess against Laplace noise: a half of exp(-ε/2) of them are wrong.
        lawful = 1 - math.exp(-float(one.epsilon) / 2) / 2
        assert abs(one.counted - lawful) < 5 * math.sqrt(lawful * (1 - lawful) / tries)
        assert one.counted < one.bound


def test_errors_and_sums_follow_from_the_code():
    metres = [round(10_000 * figures.forecast(persons, Fraction(1)).emd_median) for persons in figures.CROWDS]
    spent = sum(figures.MAPS)
    few, many = figures.forecast(200, Fraction(1)), figures.forecast(2_000, Fraction(1, 10))

    assert "nearer than {} m with 200 people, {} m with 2,000 and {} m with 20,000".format(*metres) in PAGE
    assert few.emd_median == pytest.approx(many.emd_median)
    assert f"together tell as much as one at ε = {float(spent):g}" in " ".join(PAGE.split())
    told = f"at most {right_guesses(spent, Fraction(0))} % of the time, and at the limit of 2 at most "
    assert told + f"{right_guesses(figures.LIMIT, Fraction(0))} %" in " ".join(PAGE.split())
