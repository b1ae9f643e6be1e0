"""The example of the blur as a page: it reads nothing of its dataset, and nobody has many drawn."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from heatmaps.exports import example_map
from heatmaps.models import CheckIn
from tests.triggers import disabled

ASKED = {"mechanism": "privtree", "epsilon": "1", "resolution": "16"}
OF_ALL_PAGES = {"heatmaps_installation", "heatmaps_peoplerules"}
OF_THE_DATASET = {"heatmaps_dataset", "heatmaps_membership", "heatmaps_restoration", *OF_ALL_PAGES}


@pytest.fixture
def picture(client_of, dataset, settings, tmp_path):
    """Asked for by the analyst; nothing is drawn yet."""
    settings.RENDERED_DIR = tmp_path / "rendered"
    address, analyst = reverse("release-example", args=[dataset.slug]), client_of("analyst")
    return lambda **changes: analyst.get(address, ASKED | changes)


def tables_of(queries):
    read = {name for name in connection.introspection.table_names() if name.startswith("heatmaps_")}
    return {name for name in read for query in queries if f'"{name}"' in query["sql"]}


def test_it_reads_nothing_of_the_dataset(picture, dataset, monkeypatch):
    drawn, draw = [], example_map.draw_example
    monkeypatch.setattr(
        example_map, "draw_example", lambda example, rng: drawn.append(example) or draw(example, rng)
    )
    with CaptureQueriesContext(connection) as full:
        assert picture().status_code == 200
    assert tables_of(full.captured_queries) <= OF_THE_DATASET
    with disabled():
        CheckIn.objects.all().delete()
        dataset.uploads.all().delete()
        dataset.versions.all().delete()
    assert drawn == [example_map.example(dataset, ASKED)]
    with CaptureQueriesContext(connection) as empty:
        again = picture(look="dark")
    assert again.status_code == 200
    assert drawn[0] == drawn[1]
    assert tables_of(empty.captured_queries) == tables_of(full.captured_queries)


def test_who_has_many_drawn_waits(picture, settings):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"example": 1}
    answers = [picture(), picture(epsilon="2"), picture()]  # the third is there already
    assert [answer.status_code for answer in answers] == [200, 429, 200]
    assert 0 < int(answers[1]["Retry-After"]) <= 60
