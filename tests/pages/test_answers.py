"""Released shares in zones and mean distances: drawn, told beside the map, and written as files."""

import csv
import io
import json
import re
from dataclasses import dataclass

import pytest
from django.urls import reverse

from heatmaps.models import Release
from heatmaps.releases import lifecycle
from tests import geojson
from tests.pages.questions import PLACES, ZONES, Asked
from tests.pages.word_count import RELEASE, released_words
from tests.services.draws import carry_out


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is to be seen of it, and the numbers of a table and of features."""

    asked: Asked
    heading: str
    legend: str
    entry: str  # of the release sheet
    numbers: str  # of the result
    number: str
    error: str


BOTH = {
    "zones": Answer(
        asked=ZONES,
        heading="The zones in numbers",
        legend="Share of all people in a zone",
        entry="zones",
        numbers="shares",
        number="share",
        error="standard_error",
    ),
    "places": Answer(
        asked=PLACES,
        heading="The distances in numbers",
        legend="Around each place",
        entry="distances",
        numbers="distances_m",
        number="distance_m",
        error="standard_error_m",
    ),
}


@pytest.fixture(params=BOTH)
def answer(request):
    return BOTH[request.param]


@pytest.fixture
def release(people, panel, answer):
    asked = answer.asked
    request = lifecycle.ReleaseRequest(mechanism=asked.mechanism, epsilon="2", parameters=asked.parameters)
    made = lifecycle.request_release(people["analyst"], panel, request)
    carry_out(made.pk)
    return Release.objects.get(pk=made.pk)


def written(client, release, suffix):
    """The bytes of a file."""
    answer = client.get(reverse("release-download", args=[release.pk, suffix]))
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def test_it_is_drawn_and_told_beside_the_map(client_of, release, answer):
    assert release.public_state == "published"
    analyst = client_of("analyst")
    page = analyst.get(reverse("release", args=[release.pk])).content.decode()
    assert answer.heading in page
    assert len(released_words(page)) <= RELEASE
    landmarks = re.findall(r'<(?:section|div|nav)[^>]* aria-label(?:ledby)?="([^"]+)"', page)
    assert len(landmarks) == len(set(landmarks)) > 5
    assert "the last column is 2.12 of them to either side" in page
    assert "&lt;/script&gt;&lt;b&gt;=Old &amp; new" in page
    drawn = analyst.get(reverse("release-map", args=[release.pk])).content.decode()
    assert '"function": "rings"' in drawn
    assert answer.legend in drawn
    assert "<b>" not in page + drawn


def test_it_is_written_as_files(client_of, release, answer):
    analyst, result = client_of("analyst"), lifecycle.result_of(release)
    numbers = list(getattr(result, answer.numbers))
    rows = list(csv.DictReader(io.StringIO(written(analyst, release, "csv").decode())))
    assert rows[0]["name"] == geojson.NAME
    assert [float(row[answer.number]) for row in rows] == numbers
    collection = json.loads(written(analyst, release, "geojson"))
    (feature,) = collection["features"]
    assert feature["geometry"] == answer.asked.thing["geometry"]
    assert feature["properties"] == {
        answer.asked.one: 1,
        "name": geojson.NAME,
        answer.number: numbers[0],
        answer.error: getattr(result, answer.error),
    }
    sheet = collection["release_sheet"]
    assert sheet[answer.entry][0][answer.number] == numbers[0]
    assert answer.asked.parameter not in sheet["parameters"]
    assert written(analyst, release, "png").startswith(b"\x89PNG")
    page = written(analyst, release, "html").decode()
    assert "<b>" not in page
    assert answer.heading in page
    assert answer.legend in page
