"""Each origin is whole, and each dataset has one."""

from dataclasses import fields

import pytest
from django.contrib.auth.models import User

from heatmaps.models import Dataset, Membership
from heatmaps.origins import COLUMNS, ORIGINS, where
from heatmaps.origins.origin import Named
from heatmaps.releases.clock import _has_place
from tests.services import seed


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


def _memberships(condition):
    return Membership.objects.filter(condition).select_related("dataset")
