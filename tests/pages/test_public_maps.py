"""The gallery of public maps: each with its picture and its facts, and gone as soon as it is hidden."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from heatmaps.models import Release
from heatmaps.releases import publication


@pytest.fixture
def gallery(client_of):
    return lambda name="anonymous": client_of(name).get(reverse("public")).content.decode()


@pytest.fixture
def show(people):
    return lambda release, public=True: publication.set_public(people["steward"], release, public=public)


def test_a_public_map_has_its_picture_its_dataset_and_its_facts(gallery, show, counted):
    Release.objects.update(name="Saturdays", note="for the mayor")
    assert "No map is public yet." in gallery()
    show(counted)
    page = gallery()
    assert f'<img src="{reverse("release-thumbnail", args=[counted.pk])}"' in page
    for fact in (counted.dataset.title, "ε 0.5", "all times", "Error ±"):
        assert fact in page
    assert "Saturdays" not in page  # a steward has not shown it
    Release.objects.update(is_name_public=True)
    assert "Saturdays" in gallery("stranger")
    show(counted, public=False)
    for name in ("anonymous", "stranger", "analyst"):
        assert str(counted.pk) not in gallery(name)


def test_more_maps_cost_no_more_queries(gallery, show, published, counted):
    asked = []
    for release in (published, counted):
        show(release)
        with CaptureQueriesContext(connection) as queries:
            gallery()
        asked.append(len(queries))

    assert asked[0] == asked[1]
