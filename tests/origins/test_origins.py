"""Each origin is whole, and each dataset has one."""

from dataclasses import fields
from typing import get_args

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.template.loader import select_template

from heatmaps.models import Dataset, Membership
from heatmaps.origins import COLUMNS, ORIGINS, Origin, of_name, where
from heatmaps.origins.origin import Named
from heatmaps.origins.pages import Words
from heatmaps.people.permissions import Act
from heatmaps.releases.clock import _has_place
from heatmaps.result_kinds.catalogues import CATALOGUES
from mechanisms.catalogue.entries import Reads
from mechanisms.guarantee import Relation
from tests.services import seed

FOLDER = settings.BASE_DIR / "templates" / "origins"


@pytest.fixture
def datasets(db):
    """One of each origin, in the order of `ORIGINS`."""
    steward = User.objects.create_user("steward")
    uploads = seed.make_dataset(steward, "uploads")
    devices = seed.make_collection(steward, "devices")
    lake = seed.make_dataset(steward, "lake")
    Dataset.objects.filter(pk=lake.pk).update(source="trips", source_fingerprint="0" * 64)
    lake.refresh_from_db()
    return [uploads, devices, lake]


@pytest.mark.parametrize("origin", ORIGINS, ids=lambda origin: type(origin).__name__)
def test_all_that_an_origin_names_is_there(origin):
    named = 0
    for field in fields(origin):
        value = getattr(origin, field.name)
        for function in value if isinstance(value, tuple) else (value,):
            if isinstance(function, Named):
                assert callable(function.load())
                named += 1
    assert named >= 4


def test_each_dataset_has_one_origin(datasets):
    for dataset, origin in zip(datasets, ORIGINS, strict=True):
        assert dataset.origin is origin
        assert list(Dataset.objects.filter(origin.filter)) == [dataset]
        assert [membership.dataset for membership in _memberships(origin.of("dataset"))] == [dataset]


def test_a_fact_selects_the_datasets_that_have_it(datasets):
    uploads, devices, lake = datasets
    assert set(Dataset.objects.filter(where("is_asked"))) == {uploads, lake}
    assert set(Dataset.objects.filter(where("has_fixed_moments"))) == {devices}
    assert [row.dataset for row in _memberships(where("has_tables_of_versions", "dataset"))] == [lake]


def test_the_columns_say_the_origin_without_another_query(datasets, django_assert_num_queries):
    with django_assert_num_queries(1):
        rows = Dataset.objects.only(*COLUMNS).order_by("pk")
        assert [row.origin for row in rows] == list(ORIGINS)


def test_a_round_needs_no_place(datasets, settings):
    settings.DRAW_PLACES = dict.fromkeys(settings.DRAW_PLACES, 0)
    settings.SOURCE_PLACES = 0
    assert [_has_place(dataset) for dataset in datasets] == [False, True, False]


def test_an_origin_that_lacks_an_answer_is_refused_when_it_is_made():
    class Nowhere(Origin):
        def reader(self):
            return "nowhere"

    with pytest.raises(TypeError, match=r"has_place.*slot_seconds"):
        Nowhere(name="nowhere", filter=Q(), words=Words(choice="From nowhere"))


@pytest.mark.parametrize("origin", ORIGINS, ids=lambda origin: origin.name)
def test_every_part_of_a_page_has_a_template(origin):
    shared, own = ({path.name for path in (FOLDER / name).iterdir()} for name in ("files", origin.name))
    assert own <= shared  # a part that files lack is shown by no page
    for name in shared:
        assert select_template(origin.parts[name.removesuffix(".html")])


@pytest.mark.parametrize("origin", ORIGINS, ids=lambda origin: origin.name)
def test_what_it_names_of_other_rooms_is_there(origin):
    assert set(origin.refused_acts) <= set(Act)
    assert set(origin.relations) <= set(Relation)
    assert origin.runs_on in CATALOGUES
    assert origin.offer.reads is None or origin.offer.reads <= set(get_args(Reads))
    assert of_name(origin.name) is origin


def _memberships(condition):
    return Membership.objects.filter(condition).select_related("dataset")
