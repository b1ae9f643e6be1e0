"""The release sheet in words: the losses of each relation, lengths, sentences."""

from datetime import date
from fractions import Fraction

import pytest

from heatmaps.exports import release_sheet
from heatmaps.exports.sheet_words import facts, headline, in_words
from mechanisms.grid import Region
from mechanisms.guarantee import Guarantee, Relation, Term
from tests.exports.examples import OCEAN, make_heatmap

METRIC = Guarantee(
    relation=Relation.REPLACE,
    delta=Fraction(1, 10**6),
    terms=(Term(cap=Fraction(4), alpha_per_m=Fraction(1, 1000)),),
)


def sheet(guarantee=METRIC, *, radius_m=600, region=OCEAN, mechanism="sparse-emd"):
    return release_sheet(
        title="A city",
        heatmap=make_heatmap(),
        mechanism=mechanism,
        parameters={"width": 20, "unheard-of": "1"},
        guarantee=guarantee,
        region=region,
        released=date(2026, 11, 20),
        radius_m=radius_m,
    )


def test_it_states_both_losses_of_an_exchange():
    assert headline(sheet()) == "ε = 4 (whole record), ε = 0.6 (within 600 m), δ = 0.000001"


def test_it_says_where_there_is_no_bound():
    unbounded = Guarantee(
        relation=Relation.REPLACE, terms=(Term(cap=float("inf"), alpha_per_m=Fraction(1, 1000)),)
    )
    assert headline(sheet(unbounded)).startswith("ε has no bound (whole record), ε = 0.6 (within 600 m)")


def test_it_names_parameters_as_the_form_does():
    found = dict(facts(sheet()))
    assert found["Squares kept a level"] == "20"
    assert found["unheard-of"] == "1"
    assert dict(facts(sheet(mechanism="of-another-day")))["width"] == "20"


@pytest.mark.parametrize(
    ("region", "length"),
    [(Region(0, 0, 0.01, 0.01), "139 m × 138 m"), (Region(0, 0, 1, 1), "13.9 km × 13.8 km")],
)
def test_it_gives_the_size_of_a_cell(region, length):
    assert dict(facts(sheet(region=region)))["One cell"] == length


def test_it_writes_sentences():
    for title, items in in_words(sheet()).lists:
        assert title
        assert all(item[0].isupper() and item.endswith(".") for item in items)
        assert items
