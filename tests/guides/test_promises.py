"""What maps that start from others promise: whatever those tell is in them, too."""

from heatmaps.exports import release_files
from heatmaps.exports.sheet_words import citation, facts, headline
from heatmaps.releases import publication
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.views.releases.quote_words import quote_words
from heatmaps.wording.guides import file_facts
from heatmaps.wording.release import for_release, promise_of
from heatmaps.wording.unchecked_files import UNCHECKED, UNCHECKED_BEFORE
from mechanisms.guarantee import Guarantee


def said(release):
    return " ".join((promise_of(release), *for_release(release)))


def test_a_map_promises_what_it_and_the_maps_before_it_cost(dataset, publish):
    first = publish(dataset, epsilon="8")
    second = publish(dataset, epsilon="3", guide=str(first.pk))
    third = publish(dataset, epsilon="2", guide=str(second.pk))
    for release, together, own in ((first, 8, None), (second, 11, 3), (third, 13, 2)):
        assert f"ε = {together}" in promise_of(release)
        assert ("and those it started from" in said(release)) == (own is not None)
        assert (f"ε = {own} is what this map adds" in said(release)) == (own is not None)


def test_what_is_cited_is_what_both_cost(dataset, publish):
    first = publish(dataset, epsilon="8")
    second = publish(dataset, epsilon="3", guide=str(first.pk))
    sheets = [release_files.sheet_of(one) for one in (first, second)]
    assert headline(sheets[0]) == "ε = 8 (presence), δ = 0"
    assert "together" not in sheets[0]
    assert headline(sheets[1]) == "ε = 11 (presence), δ = 0, with the maps it started from"
    assert headline(sheets[1]) in citation(sheets[1], "")
    told = dict(facts(sheets[1]))
    assert told["Privacy loss"] == headline(sheets[1])
    assert told["Of this, of this map alone"] == "ε = 3 (presence), δ = 0"
    losses = {name: sheets[1]["together"][name] for name in ("epsilon", "radius_epsilon", "delta")}
    assert losses == {"epsilon": "11", "radius_epsilon": None, "delta": "0"}
    assert Guarantee.from_json(sheets[1]["together"]["guarantee"]).loss(1) == 11
    assert sheets[1]["epsilon"] == "3"


def test_a_map_of_another_dataset_adds_up_for_people_in_both(dataset, foreign, publish):
    release = publish(dataset, epsilon="3", guide=str(foreign.pk))
    assert "ε = 3" in promise_of(release)
    assert "for people who are in both" in promise_of(release)
    assert "for people who are in both" in said(publish(dataset, epsilon="2", guide=str(release.pk)))


def test_maps_behind_one_of_another_dataset_count(dataset, make_dataset, add_checkins, publish, steward):
    """Its people are in the first map, whose people are told of by the second and so by the third."""
    first = publication.set_public(steward, publish(dataset, epsilon="8"), public=True)
    other = make_dataset("other")
    add_checkins(other)
    second = publication.set_public(steward, publish(other, guide=str(first.pk)), public=True)
    third = publish(dataset, epsilon="3", guide=str(second.pk))
    assert "ε = 11" in promise_of(third)
    assert "for people who are in both" in promise_of(third)


def test_a_file_further_back_is_said(dataset, keep_file, publish):
    first = publish(dataset, guide=str(keep_file(dataset).pk))
    second = publish(dataset, epsilon="3", guide=str(first.pk))
    third = publish(dataset, epsilon="2", guide=str(second.pk))
    assert file_facts(first)["unchecked"] == UNCHECKED
    assert file_facts(second)["unchecked"] == file_facts(third)["unchecked"] == UNCHECKED_BEFORE
    plain = publish(dataset, epsilon="2.5")
    assert "unchecked" not in file_facts(publish(dataset, epsilon="2.25", guide=str(plain.pk)))


def test_a_file_makes_the_promise_depend_on_what_it_was_made_from(dataset, keep_file, publish):
    plain = publish(dataset, epsilon="4.0")
    first = publish(dataset, guide=str(keep_file(dataset).pk))
    second = publish(dataset, epsilon="3", guide=str(first.pk))
    only_if = "This holds only if the file behind it was not made from these people."
    assert promise_of(first) == f"{promise_of(plain)} {only_if}"
    assert only_if in promise_of(second)
    assert only_if not in promise_of(plain)
    for release, told in ((first, UNCHECKED), (second, UNCHECKED_BEFORE)):
        assert for_release(release)[-1] == told
        assert release_files.sheet_of(release)["statements"].count(told) == 1


def test_a_quote_says_the_same(dataset, publish, analyst):
    first = publish(dataset, epsilon="8")
    asked = ReleaseRequest(mechanism="adaptive", epsilon="3", resolution=16, guide=str(first.pk))
    words = quote_words(analyst, dataset, asked)
    assert words.promise == promise_of(publish(dataset, epsilon="3", guide=str(first.pk)))
    assert "ε = 11" in words.promise
