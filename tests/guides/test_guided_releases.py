"""Releases that begin from a public map: what binds it, and what does not change any more."""

import json
from fractions import Fraction

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from heatmaps import queries
from heatmaps.guides import choices
from heatmaps.ledger.errors import IdempotencyConflict
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, GuideFile, Release
from heatmaps.releases import clock, lifecycle, publication
from heatmaps.releases.engine import draw_of
from heatmaps.releases.epsilon import that_fits
from heatmaps.releases.publication import GuideNotPublic, GuidesPublicMap
from heatmaps.releases.question import latest_version
from heatmaps.releases.request import Plan
from heatmaps.wording.guides import line_of
from mechanisms.check import ParameterError
from mechanisms.guide import Guide
from tests.services.draws import carry_out


@pytest.fixture
def guided(dataset, publish):
    """A map, and one that it guided."""
    guide = publish(dataset)
    return guide, publish(dataset, guide=str(guide.pk))


def reserved_facts(release):
    return json.loads(Event.objects.get(release=release.pk, kind="reserve").after)["release"]


@pytest.mark.unguarded
def test_the_row_and_the_event_name_the_guide_and_its_hash(dataset, guided):
    guide, release = guided
    digest = choices.Chosen(release=guide, same_people=True).guide.sha256
    assert (release.guide_release_id, release.guide_file_id, release.guide_sha256) == (guide.pk, None, digest)
    told = reserved_facts(release)
    assert (told["guide"], told["guide_sha256"], told["mechanism_version"]) == (str(guide.pk), digest, 2)
    assert "guide" not in reserved_facts(guide)
    assert verify(dataset).problem == ""
    Release.objects.filter(pk=release.pk).update(guide_release=release.pk)
    assert "its question was changed" in verify(dataset).problem


def test_a_file_guides_too(dataset, keep_file, publish):
    file = keep_file(dataset)
    release = publish(dataset, guide=str(file.pk))
    assert (release.guide_release_id, release.guide_file_id) == (None, file.pk)
    assert draw_of(release).mechanism.guide.sha256 == release.guide_sha256 == file.sha256


def test_the_draw_has_the_guide_and_the_version_of_the_row(guided):
    guide, release = guided
    assert draw_of(release).mechanism.guide.sha256 == release.guide_sha256
    assert draw_of(release).mechanism.version == 2
    guide.mechanism_version = 1
    assert (draw_of(guide).mechanism.version, draw_of(guide).mechanism.guide) == (1, None)


@pytest.mark.unguarded
def test_another_guide_than_the_reserved_one_draws_nothing(dataset, publish, reserve):
    guide = publish(dataset)
    release = reserve(dataset, guide=str(guide.pk))
    Release.objects.filter(pk=release.pk).update(guide_sha256="0" * 64)
    with pytest.raises(ParameterError, match="the guide that was reserved"):
        draw_of(Release.objects.get(pk=release.pk))
    assert not lifecycle.is_as_promised(Release.objects.get(pk=release.pk))
    carry_out(release.pk)
    clock.tick()
    release.refresh_from_db()
    assert release.state == "failed"


def test_a_stored_file_that_was_changed_guides_nothing(dataset, keep_file):
    file = keep_file(dataset)
    GuideFile.objects.filter(pk=file.pk).update(shares=keep_file(dataset, "Another", seed=2).shares)
    with pytest.raises(ParameterError, match="as it was stored"):
        choices.Chosen(file=GuideFile.objects.get(pk=file.pk)).guide  # noqa: B018 - reads it


@pytest.mark.unguarded
def test_a_row_has_one_guide_and_its_hash_or_none(guided, keep_file, dataset):
    _, release = guided
    for wrong in ({"guide_sha256": ""}, {"guide_release": None}, {"guide_file": keep_file(dataset)}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Release.objects.filter(pk=release.pk).update(**wrong)


def test_the_same_question_is_free_with_the_same_guide_only(dataset, guided, reserve):
    guide, release = guided
    assert reserve(dataset, guide=str(guide.pk)) == release
    assert reserve(dataset, guide=guide.pk.hex.upper()) == release
    assert reserve(dataset) == guide
    again = reserve(dataset, guide=str(release.pk))
    assert again not in (guide, release)


def test_maps_of_the_first_version_answer_no_question_of_today(dataset, publish, ask):
    release = publish(dataset)
    version = latest_version(dataset)
    planned = Plan.of(dataset, ask())
    assert planned.question(version) == release.question
    assert Plan.of(dataset, ask(guide=str(release.pk))).question(version) != release.question


def test_a_version_that_comes_between_question_and_reservation_is_looked_at_again(
    guided, add_checkins, reserve, ask, monkeypatch
):
    guide, _ = guided
    dataset = guide.dataset
    # As a guide that counts as a measurement of the same people would be another one.
    measured, other = Guide.of_values(np.eye(64)), Guide.of_values(np.ones((64, 64)))
    monkeypatch.setattr(choices, "_of_release", lambda _id, _digest, same: measured if same else other)
    early = Plan.of(dataset, ask(guide=str(guide.pk)))
    add_checkins(dataset, seed=2)
    later, plans = Plan.of, [early]
    monkeypatch.setattr(Plan, "of", lambda *args: plans.pop() if plans else later(*args))
    release = reserve(dataset, guide=str(guide.pk))
    assert not plans
    assert not choices.bound(release).same_people
    assert draw_of(release).mechanism.guide.sha256 == release.guide_sha256


def test_a_quote_says_what_the_guide_is_worth(dataset, guided, ask):
    guide, release = guided
    quote = lifecycle.quote(dataset, ask(guide=str(guide.pk)))
    assert (quote.guide.id, quote.same_release) == (guide.pk, release)
    assert quote.expected_error_without_guide == lifecycle.quote(dataset, ask()).expected_error
    assert lifecycle.quote(dataset, ask()).expected_error_without_guide is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"mechanism": "laplace"}, "laplace uses no guide"),
        ({"epsilon": "0.5"}, "one at an ε from 2 to 20"),
        ({"guide": "no-such"}, "the id of a published map"),
    ],
)
def test_it_is_refused_where_it_cannot_help(dataset, publish, ask, changes, told):
    guide = publish(dataset)
    with pytest.raises(ParameterError, match=told) as refusal:
        lifecycle.quote(dataset, ask(**({"guide": str(guide.pk)} | changes)))
    assert refusal.value.parameter == "guide"


def test_an_epsilon_that_fits_is_one_that_takes_the_guide(make_dataset, add_checkins, foreign, analyst, ask):
    """Which 50 people do from ε = 2 on."""
    for limit, fits in (("2.5", Fraction(5, 2)), ("1", None)):
        town = make_dataset(f"town-{limit[0]}", limits={"presence": limit})
        add_checkins(town)
        assert that_fits.largest_epsilon(town, analyst, ask(guide=str(foreign.pk))) == fits


def test_a_list_of_guided_maps_asks_as_often_as_one_of_a_few(dataset, guided, publish, keep_file):
    file = keep_file(dataset)
    publish(dataset, guide=str(file.pk))

    def count():
        with CaptureQueriesContext(connection) as found:
            assert any([line_of(release) for release in queries.releases_of(dataset)])  # noqa: C419 - all
        return len(found)

    few = count()
    publish(dataset, guide=str(file.pk), epsilon="3")
    publish(dataset, guide=str(guided[0].pk), epsilon="3")
    assert count() == few


def test_a_repeated_request_is_answered_though_its_guide_is_hidden_by_now(dataset, foreign, steward, reserve):
    release = reserve(dataset, key="k", guide=str(foreign.pk))
    publication.set_public(steward, foreign, public=False)
    assert reserve(dataset, key="k", guide=str(foreign.pk)) == release
    with pytest.raises(ParameterError, match="the id of a published map"):
        reserve(dataset, guide=str(foreign.pk))
    with pytest.raises(IdempotencyConflict):
        reserve(dataset, key="k")
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"


def test_a_map_is_public_only_where_its_guide_is(guided, steward):
    guide, release = guided
    with pytest.raises(GuideNotPublic):
        publication.set_public(steward, release, public=True)
    publication.set_public(steward, guide, public=True)
    publication.set_public(steward, release, public=True)
    with pytest.raises(GuidesPublicMap):
        publication.set_public(steward, guide, public=False)
    publication.set_public(steward, release, public=False)
    publication.set_public(steward, guide, public=False)
    assert not publication.public_releases().exists()


def test_maps_further_back_are_public_too_where_they_are_of_the_same_dataset(
    dataset, make_dataset, add_checkins, publish, steward
):
    first, other = publish(dataset), make_dataset("other")
    add_checkins(other)
    publication.set_public(steward, first, public=True)
    between = publish(other, guide=str(first.pk))
    publication.set_public(steward, between, public=True)
    last = publish(dataset, guide=str(between.pk))
    publication.set_public(steward, first, public=False)  # another dataset's map keeps nobody
    with pytest.raises(GuideNotPublic):
        publication.set_public(steward, last, public=True)
    publication.set_public(steward, first, public=True)
    publication.set_public(steward, last, public=True)
    with pytest.raises(GuidesPublicMap):
        publication.set_public(steward, first, public=False)
    publication.set_public(steward, between, public=False)


def test_no_dataset_keeps_another_from_hiding_its_map(dataset, foreign, publish, steward):
    release = publish(dataset, guide=str(foreign.pk))
    publication.set_public(steward, release, public=True)
    publication.set_public(steward, foreign, public=False)
    publication.set_public(steward, release, public=False)
    with pytest.raises(GuideNotPublic):
        publication.set_public(steward, release, public=True)


def test_a_file_is_public_by_declaration(dataset, keep_file, publish, steward):
    release = publish(dataset, guide=str(keep_file(dataset).pk))
    assert publication.set_public(steward, release, public=True).public_since
