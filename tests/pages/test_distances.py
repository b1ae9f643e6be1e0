"""Mean distances to places: gathered on a page, quoted, released, drawn, and written as files."""

import csv
import io
import json

import pytest
from django.urls import reverse

from heatmaps import quotes, releases
from heatmaps.lengths import measured_words
from heatmaps.masses import EVERYBODY, Share
from heatmaps.models import Release
from mechanisms.experiments.seeded import SeededSource
from mechanisms.guarantee import Relation
from tests.pages.test_zones import files
from tests.services import seed

NAME = "</script><b>=Old & new"
POINT = [0.25, 0.5]
GEOJSON = {
    "type": "Feature",
    "properties": {"name": NAME},
    "geometry": {"type": "Point", "coordinates": POINT},
}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "90", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def send(client_of, panel):
    def send(**typed):
        return client_of("analyst").post(
            reverse("release-distances", args=[panel.slug]), {"epsilon": "2", "places": ""} | typed
        )

    return send


@pytest.mark.parametrize("page", ["release-distances", "release-zones"])
@pytest.mark.parametrize(
    ("limits", "usual"),
    [
        ({"record": "90", "radius": "9"}, "0.2"),  # 31 times the radius across, 9 / 31 or less
        ({"record": "9000", "radius": "9"}, "0.9"),
        ({"record": "9000", "radius": "90"}, "1"),
        ({"record": None, "radius": "90"}, "1"),
    ],
)
def test_the_epsilon_to_begin_with_costs_a_tenth_of_the_limits_at_most(
    make_dataset, client_of, page, limits, usual
):
    make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits=limits)
    seen = client_of("analyst").get(reverse(page, args=["panel"]))
    assert seen.context["form"]["epsilon"].value() == usual


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({}, "places"),
        ({"places": "{"}, "places"),
        ({"latitude": "0.5"}, "longitude"),
        ({"latitude": "91", "longitude": "0.5"}, "latitude"),
        ({"latitude": "0.5", "longitude": "40"}, "places"),  # not in the region
    ],
)
def test_errors_are_beside_their_fields(send, typed, field):
    answer = send(act="quote", **typed)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert answer.context["quote"] is None


def test_places_are_gathered_quoted_and_paid(send, client_of, panel):
    page = client_of("analyst").get(reverse("release-distances", args=[panel.slug])).content.decode()
    assert "Add a place" in page
    added = send(act="add", places=json.dumps(GEOJSON), latitude="0.5", longitude="0.75", place_name="Quay")
    assert [place.name for place in added.context["gathered"]] == [NAME, "Quay"]
    quoted = send(act="quote", places=added.context["form"]["places"].value())
    page = quoted.content.decode()
    assert "with probability 95 %" in page
    assert "Cost: whole record" in page
    assert not Release.objects.exists()
    spent = send(**dict(quoted.context["typed"]), key="k1")
    made = Release.objects.get()
    assert spent["Location"] == reverse("release", args=[made.pk])
    assert [place.name for place in quotes.draw_of(made).mechanism.places] == [NAME, "Quay"]


def test_the_result_is_drawn_told_and_written(client_of, people, panel):
    request = releases.ReleaseRequest(mechanism="emd-distances", epsilon="2", parameters={"places": GEOJSON})
    made = releases.request_release(people["analyst"], panel, request)
    releases.run(made.pk)
    made = Release.objects.get(pk=made.pk)
    analyst, found = client_of("analyst"), releases.result_of(made)
    page = analyst.get(reverse("release", args=[made.pk])).content.decode()
    assert "The distances in numbers" in page
    assert "&lt;/script&gt;&lt;b&gt;=Old &amp; new" in page
    drawn = analyst.get(reverse("release-map", args=[made.pk])).content.decode()
    assert "hazemap.rings(" in drawn
    assert "Around each place" in drawn
    assert "<b>" not in page + drawn + files(analyst, made, "html").decode()
    rows = list(csv.DictReader(io.StringIO(files(analyst, made, "csv").decode())))
    assert [float(row["distance_m"]) for row in rows] == list(found.distances_m)
    collection = json.loads(files(analyst, made, "geojson"))
    assert collection["features"][0]["geometry"]["coordinates"] == POINT
    assert collection["features"][0]["properties"]["standard_error_m"] == found.standard_error_m
    assert "places" not in collection["release_sheet"]["parameters"]
    assert files(analyst, made, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("length_m", "error_m", "words"),
    [
        (44_335.6, 27.3, "44.34 km"),
        (44_335.6, 2_700, "44 km"),
        (812.36, 0.31, "812.4 m"),
        (812.36, 120, "800 m"),
        (999.7, 1, "1.000 km"),
        (12, 500, "0 m"),
        (3, 0, "3.00 m"),
    ],
)
def test_a_length_is_told_to_the_first_digit_of_its_error(length_m, error_m, words):
    assert measured_words(length_m, error_m) == words


def test_distances_of_the_persons_add_up_to_the_same_draw(panel):
    """And to the mean distance: with 10 absent ones of 50 in the middle, seed's check-ins are as far."""
    request = releases.ReleaseRequest(mechanism="emd-distances", epsilon="20", parameters={"places": GEOJSON})
    draw, version = quotes.plan(panel, request).draw, quotes.latest_version(panel)
    parts = [draw.part(panel, version, quotes.slices.WHOLE, Share(number, 3)) for number in range(3)]
    whole = draw.draw(panel, version, quotes.slices.WHOLE, SeededSource(5))
    assert draw.draw_of_parts(parts, SeededSource(5)) == whole
    sums = int.from_bytes(draw.part(panel, version, quotes.slices.WHOLE, EVERYBODY), "little", signed=True)
    mechanism = draw.mechanism
    mean = (sums / panel.persons + int(mechanism.absent[0])) / 2**30 * float(mechanism.query.reach_m)
    assert abs(whole.distances_m[0] - mean) < 8 * whole.standard_error_m
    assert 20_000 < mean < 60_000
