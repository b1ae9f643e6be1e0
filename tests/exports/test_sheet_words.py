"""The release sheet in words: the losses of each relation, lengths, sentences."""

import dataclasses
import math
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from heatmaps.data_slice import DataSlice
from heatmaps.exports import release_sheet
from heatmaps.exports.sheet import exact_text
from heatmaps.exports.sheet_words import facts, headline, in_words
from heatmaps.wording.heatmap import CLASS, CLASS_OF_RECTANGLES, SET_ASIDE
from heatmaps.wording.unchecked_files import UNCHECKED
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term
from mechanisms.results.measurements import Measurement, Measurements
from mechanisms.space.grid import Region
from mechanisms.space.subregion import LINES, Rectangle
from tests.exports.examples import OCEAN, make_heatmap

METRIC = Guarantee(
    relation=Relation.REPLACE,
    delta=Fraction(1, 10**6),
    terms=(Term(cap=Fraction(4), alpha_per_m=Fraction(1, 1000)),),
)


def sheet(guarantee=METRIC, *, radius_m=600, region=OCEAN, mechanism="sparse-emd", result=None, **changes):
    return release_sheet(
        title="A city",
        result=result or make_heatmap(),
        mechanism=mechanism,
        parameters={"width": 20, "unheard-of": "1"},
        guarantee=guarantee,
        region=region,
        released=date(2026, 11, 20),
        radius_m=radius_m,
        **changes,
    )


def test_it_states_both_losses_of_an_exchange():
    assert headline(sheet()) == "ε = 4 (whole record), ε = 0.6 (within 600 m), δ = 0.000001"


def test_it_says_of_a_guide_that_did_not_fit_that_it_was_set_aside():
    """Not of a map that goes on from one whose guide did not."""
    nodes = {"depths": np.zeros(1, np.uint8), "codes": np.zeros(1, np.int64)}
    part = Measurement(scale_persons=1.0, noisy=np.zeros(1), **nodes)
    cases = {
        (1, 3, False): True,
        (1, None, True): True,
        (1, None, False): False,
        (2, 3, False): False,
        (2, None, True): False,
    }
    for (parts, plain_from, is_even), is_told in cases.items():
        kept = Measurements(
            parts=(part,) * parts,
            shares=np.ones(64**2, np.int64),
            plain_from=plain_from,
            is_even=is_even,
        )
        made = sheet(
            mechanism="adaptive",
            result=dataclasses.replace(make_heatmap(), measurements=kept),
            guide={"id": "1", "title": "Roads", "sha256": "0" * 64},
        )
        assert (made.get("guide_fits", True), dict(facts(made)).get("Its fit")) == (
            (False, SET_ASIDE) if is_told else (True, None)
        )
        assert CLASS_OF_RECTANGLES in made["errors"]
        assert CLASS not in made["errors"]
    assert "guide_fits" not in sheet()


def test_it_says_where_there_is_no_bound():
    near = Guarantee(
        relation=Relation.REPLACE,
        max_distance_m=Fraction(600),
        terms=(Term(cap=float("inf"), alpha_per_m=Fraction(1, 1000)),),
    )
    assert headline(sheet(near)).startswith("ε has no bound (whole record), ε = 0.6 (within 600 m)")


def test_losses_that_no_decimal_writes_are_rounded_up():
    thirds = Guarantee(
        relation=Relation.REPLACE,
        delta=Fraction(1, 3 * 10**6),
        terms=(Term(cap=Fraction(4, 3), alpha_per_m=Fraction(1, 9000)),),
    )
    assert sheet(thirds)["epsilon"] == "4/3"
    assert headline(sheet(thirds)) == (
        "ε = 1.333333333334 (whole record), ε = 0.066666666667 (within 600 m), δ = 0.000000333333333334"
    )


def test_a_whole_record_is_exchanged_for_one_as_far_away_as_the_data_reach():
    """Also where the map covers a small part of their region only."""
    growing = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=INFINITY, alpha_per_m=Fraction(1, 1000)),))
    farthest = math.floor(OCEAN.diameter_m) + 1
    assert sheet(growing)["epsilon"] == exact_text(Fraction(farthest, 1000))
    corner = Rectangle(0, 0, LINES // 1000, LINES // 1000)
    part = sheet(
        growing, region=corner.region(OCEAN), whole_region=OCEAN, data_slice=DataSlice(rectangle=corner)
    )
    assert part["epsilon"] == exact_text(Fraction(farthest, 1000))


def test_it_says_what_part_of_the_data_it_is_about():
    part = Rectangle(0, 0, LINES // 2, LINES // 2)
    asked = DataSlice(since=0, until=86_400, rectangle=part)
    found = sheet(region=part.region(OCEAN), whole_region=OCEAN, data_slice=asked)
    assert found["period"] == {"since": "1970-01-01T00:00:00Z", "until": "1970-01-02T00:00:00Z"}
    assert found["region"]["west"] == found["part_of_region"]["west"] == OCEAN.west
    assert found["region"]["east"] == (OCEAN.west + OCEAN.east) / 2
    assert found["part_of_region"]["east"] == OCEAN.east
    said = dict(facts(found))
    assert said["Period"].startswith(
        "from 1970-01-01 00:00 to before 1970-01-02 00:00 UTC; check-ins without"
    )
    assert f"{OCEAN.east:g}°" in said["A part of the data’s region"]
    assert (sheet()["period"], sheet()["part_of_region"]) == (None, None)
    assert {"Period", "A part of the data’s region"}.isdisjoint(dict(facts(sheet())))


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


def test_it_says_at_which_rate_it_errs():
    said = dict(in_words(sheet()).lists)["How far off values are"]
    assert said == (
        (
            "The intervals of squares hold the truth in 95 of 100; "
            "standard errors are such that 2.12 of them to either side do."
        ),
        "Of the squares drawn as distinguishable from zero on average at most 5 % are empty.",
    )


def test_it_says_that_nothing_is_said_about_errors():
    made = dataclasses.replace(make_heatmap(), standard_errors=np.full(4, np.nan), significant=None)
    (said,) = sheet(result=made)["errors"]
    assert said.startswith("nothing is known about errors of single squares")


def test_it_names_the_map_that_a_map_began_from():
    guide = {"title": "Built-up area", "source": "Hazel Institute", "licence": "CC0", "sha256": "ab" * 32}
    guide |= {"unchecked": UNCHECKED, "file_sha256": "cd" * 32}
    words = in_words(sheet(mechanism="adaptive", mechanism_version=2, guide=guide, statements=[UNCHECKED]))
    told = dict(words.facts)
    assert told["Started from"] == "Built-up area; Hazel Institute, CC0"
    assert told["SHA-256 of what was read"] == guide["sha256"]
    assert told["SHA-256 of the file"] == guide["file_sha256"]
    assert words.headline.endswith(", if the file behind it was not made from these people")
    assert UNCHECKED in dict(words.lists)["What is promised"]
    paid = {"title": "A map of another dataset", "epsilon": "0.5", "sha256": "ab" * 32}
    words = in_words(sheet(mechanism="adaptive", guide=paid))
    assert dict(words.facts)["Started from"] == "A map of another dataset; ε 0.5"
    assert UNCHECKED not in dict(words.lists)["What is promised"]


def test_the_version_is_told_of_mechanisms_that_have_had_several():
    told = {
        (name, version): dict(facts(sheet(mechanism=name, mechanism_version=version)))["Mechanism"]
        for name, version in (("adaptive", 1), ("adaptive", 2), ("sparse-emd", 1))
    }
    assert told["adaptive", 1].endswith(", version 1")
    assert told["adaptive", 2].endswith(", version 2")
    assert "version" not in told["sparse-emd", 1]
    before = sheet(mechanism="adaptive")
    del before["mechanism_version"]
    assert dict(facts(before))["Mechanism"] == told["adaptive", 1]
