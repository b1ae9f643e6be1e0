"""Promises in metres on pages: what distances are between, and regions that are too wide for them."""

from html import escape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from mechanisms.guarantee import Relation
from tests import metres
from tests.metres import TOO_WIDE

AS_READ = escape(metres.AS_READ)


@pytest.fixture
def wide(make_dataset):
    return metres.wide_dataset(make_dataset)


def new_release(client, dataset, **typed):
    return client.get(reverse("release-new", args=[dataset.slug]), {"epsilon": "0.5"} | typed)


@pytest.mark.parametrize("mechanism", ["emd-linear", "sgdl-shuffle"])
def test_a_region_too_wide_for_metres_is_refused_beside_the_mechanism(client_of, wide, mechanism):
    answer = new_release(client_of("analyst"), wide, mechanism=mechanism)
    assert answer.status_code == 422
    (said,) = answer.context["form"].errors["mechanism"]
    assert TOO_WIDE in said
    assert TOO_WIDE in answer.content.decode()


def test_a_file_of_such_a_region_is_not_blurred(client_of, wide):
    typed = {"mechanism": "planar-geometric", "epsilon": "2", "radius_m": "20000", "max_reports": "2"}
    typed["file"] = SimpleUploadedFile("rows.csv", b"user,lat,lon\nanna,45,-80\n")
    answer = client_of("steward").post(reverse("blur", args=[wide.slug]), typed)
    assert answer.status_code == 422
    assert TOO_WIDE in answer.content.decode()


def test_a_quote_says_what_distances_are_between(client_of, make_dataset):
    limits = {"record": "9", "radius": "9"}
    panel = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits=limits)
    page = new_release(client_of("analyst"), panel, mechanism="emd-linear", act="more").content.decode()
    assert AS_READ in page
    assert "only the whole-record ε covers the change" in page


def test_the_page_of_words_says_it(client, db):
    page = client.get(reverse("help-topic", args=["privacy"])).content.decode()
    assert AS_READ in page
    assert 'id="distance"' in page
    assert "180 degrees of longitude, or a stretch above 2.5" in page
