"""Which maps may guide a question: public already, of exactly the same part of the world."""

from uuid import uuid4

import pytest

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.guides import choices
from heatmaps.models import Release
from heatmaps.regions import region_of
from heatmaps.releases import publication
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

QUARTER = [0, 0, 0.5, 0.5]


def resolved(dataset, guide_id, **asked):
    return choices.resolved(dataset, str(guide_id), DataSlice.parse(region_of(dataset), **asked))


def test_a_map_of_the_dataset_guides_questions_about_the_same_place(dataset, publish, add_checkins):
    release = publish(dataset)
    chosen = resolved(dataset, release.pk)
    assert (chosen.id, chosen.kind, chosen.same_people) == (release.pk, "release", True)
    assert chosen.guide.sha256 == choices.Chosen(release=release, same_people=True).guide.sha256
    assert not resolved(dataset, release.pk, since="2026-01-01").same_people
    add_checkins(dataset, seed=2)
    assert not resolved(dataset, release.pk).same_people


def test_a_map_of_a_rectangle_guides_questions_about_that_rectangle(dataset, publish):
    release = publish(dataset, rectangle=QUARTER)
    assert resolved(dataset, release.pk, rectangle=QUARTER).same_people
    for other in ({}, {"rectangle": [0, 0, 0.5, 0.25]}):
        with pytest.raises(ParameterError, match="exactly the same part"):
            resolved(dataset, release.pk, **other)


def test_a_public_map_of_another_dataset_guides_until_it_is_hidden(dataset, foreign, make_public, steward):
    release, part = foreign, make_public("part", rectangle=QUARTER)
    assert resolved(dataset, release.pk).id == release.pk
    assert resolved(dataset, part.pk, rectangle=QUARTER).id == part.pk
    assert not resolved(dataset, release.pk).same_people
    publication.set_public(steward, release, public=False)
    with pytest.raises(ParameterError):
        resolved(dataset, release.pk)


def test_a_file_guides_questions_about_all_of_the_region(dataset, keep_file):
    file = keep_file(dataset)
    assert resolved(dataset, file.pk, since="2026-01-01").guide.sha256 == file.sha256
    with pytest.raises(ParameterError):
        resolved(dataset, file.pk, rectangle=QUARTER)


@pytest.mark.unguarded
def test_every_refusal_is_the_same(dataset, make_public, publish, keep_file, reserve):
    """Whether a release exists that nobody may see here is not told."""
    hidden, far = make_public(), make_public("far", region=Region(2, 2, 3, 3))
    Release.objects.filter(pk=hidden.pk).update(public_since=None)
    point = publish(dataset)
    spent, failed = publish(dataset, epsilon="2"), publish(dataset, epsilon="2.5")
    Release.objects.filter(pk=spent.pk).update(state="spent")
    Release.objects.filter(pk=failed.pk).update(state="failed")
    Release.objects.filter(pk=point.pk).update(mechanism="exponential")
    queued = reserve(dataset, epsilon="3")
    refused = [hidden, far, queued, spent, failed, point, keep_file(hidden.dataset)]
    told = set()
    for guide_id in [*(str(one.pk) for one in refused), str(uuid4()), "no-such", "", "x" * 10**5]:
        with pytest.raises(ParameterError) as refusal:
            choices.resolved(dataset, guide_id, WHOLE)
        told.add((refusal.value.parameter, refusal.value.allowed))
    assert len(told) == 1


def test_guides_are_offered_newest_first_and_ones_own_before_others(dataset, make_public, publish, keep_file):
    foreign, _ = make_public(), make_public("far", region=Region(2, 2, 3, 3))
    file, first, second = keep_file(dataset), publish(dataset), publish(dataset, epsilon="3")
    part = publish(dataset, rectangle=QUARTER)
    offered = [chosen.id for chosen in choices.fitting(dataset, WHOLE)]
    assert offered == [second.pk, first.pk, file.pk, foreign.pk]
    quarter = DataSlice.parse(region_of(dataset), rectangle=QUARTER)
    assert [chosen.id for chosen in choices.fitting(dataset, quarter)] == [part.pk]


@pytest.mark.unguarded
def test_large_maps_guide_nothing_unless_adaptive_made_them(dataset, publish):
    """They would be read whole while somebody waits."""
    grid = publish(dataset, mechanism="laplace")
    assert resolved(dataset, grid.pk).id == grid.pk
    Release.objects.filter(pk=grid.pk).update(resolution=2 * choices.MOST_CELLS_A_SIDE)
    with pytest.raises(ParameterError, match="at most 1,024 squares a side"):
        resolved(dataset, grid.pk)
    release = publish(dataset)
    Release.objects.filter(pk=release.pk).update(resolution=2**16)
    assert resolved(dataset, release.pk).id == release.pk
