"""Shares in zones: gathered on a page of their own, quoted, released, drawn, and written as files."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps import kinds, quotes, releases
from heatmaps.masses import Share
from heatmaps.models import Event, Release
from mechanisms.experiments.seeded import SeededSource
from mechanisms.guarantee import Relation
from tests.services import seed

NAME = "</script><b>=Old & new"
RING = [[0.1, 0.1], [0.6, 0.1], [0.6, 0.6], [0.1, 0.6], [0.1, 0.1]]
GEOJSON = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": NAME},
            "geometry": {"type": "Polygon", "coordinates": [RING]},
        }
    ],
}
BOX = {"west": "0.7", "south": "0.7", "east": "0.9", "north": "0.9", "zone_name": "Harbour"}


@pytest.fixture
def panel(make_dataset):
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits={"record": "90", "radius": "9"})
    seed.add_checkins(made)
    return made


@pytest.fixture
def send(client_of, panel):
    def send(**typed):
        return client_of("analyst").post(
            reverse("release-zones", args=[panel.slug]), {"epsilon": "2", "zones": ""} | typed
        )

    return send


@pytest.fixture
def release(people, panel):
    request = releases.ReleaseRequest(mechanism="emd-zones", epsilon="2", parameters={"zones": GEOJSON})
    made = releases.request_release(people["analyst"], panel, request)
    releases.run(made.pk)
    return Release.objects.get(pk=made.pk)


def test_rectangles_files_and_text_are_gathered_into_one_text(send):
    added = send(act="add", **BOX)
    assert added.status_code == 200
    text = added.context["form"]["zones"].value()
    assert [zone.name for zone in added.context["gathered"]] == ["Harbour"]
    assert added.context["form"]["west"].value() is None
    file = SimpleUploadedFile("zones.geojson", json.dumps(GEOJSON).encode())
    both = send(act="add", zones=text, file=file)
    assert [zone.name for zone in both.context["gathered"]] == ["Harbour", NAME]
    assert not Event.objects.filter(kind__contains="release").exists()


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({}, "zones"),
        ({"zones": "{"}, "zones"),
        ({"zones": json.dumps(GEOJSON), "margin_m": "0.5"}, "margin_m"),
        ({"zones": json.dumps(GEOJSON), "epsilon": "x"}, "epsilon"),
        (BOX | {"east": "0.5"}, "east"),
        (BOX | {"north": ""}, "north"),
        (BOX | {"west": "40", "east": "41"}, "zones"),  # not in the region
        ({"file": SimpleUploadedFile("zones.geojson", b"\xff")}, "file"),
    ],
)
def test_errors_are_beside_their_fields(send, typed, field):
    answer = send(act="quote", **typed)
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert answer.context["quote"] is None


def test_it_quotes_and_then_spends_the_same(send, panel):
    quoted = send(act="quote", zones=json.dumps(GEOJSON))
    page = quoted.content.decode()
    assert "percentage points" in page
    assert "Cost: whole record" in page
    assert not Release.objects.exists()
    spent = send(**dict(quoted.context["typed"]), key="k1")
    made = Release.objects.get()
    assert spent["Location"] == reverse("release", args=[made.pk])
    assert made.parameters["margin_m"] == "10000"
    assert quotes.draw_of(made).mechanism.zones.zones[0].name == NAME


def test_the_result_is_drawn_and_told_beside_the_map(client_of, release):
    assert release.public_state == "published"
    analyst = client_of("analyst")
    page = analyst.get(reverse("release", args=[release.pk])).content.decode()
    assert "The zones in numbers" in page
    assert "&lt;/script&gt;&lt;b&gt;=Old &amp; new" in page
    drawn = analyst.get(reverse("release-map", args=[release.pk])).content.decode()
    assert "hazemap.rings(" in drawn
    assert "Share of all persons in a zone" in drawn
    assert "<b>" not in page + drawn


def files(client, release, suffix):
    answer = client.get(reverse("release-download", args=[release.pk, suffix]))
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def test_it_is_written_as_files(client_of, release):
    analyst, found = client_of("analyst"), releases.result_of(release)
    rows = list(csv.DictReader(io.StringIO(files(analyst, release, "csv").decode())))
    assert [float(row["share"]) for row in rows] == list(found.shares)
    assert rows[0]["name"] == NAME
    collection = json.loads(files(analyst, release, "geojson"))
    facts = {"zone": 1, "name": NAME, "share": found.shares[0], "standard_error": found.standard_error}
    assert collection["features"][0]["properties"] == facts
    assert collection["features"][0]["geometry"]["coordinates"] == [RING]
    assert collection["release_sheet"]["zones"][0]["share"] == found.shares[0]
    assert "zones" not in collection["release_sheet"]["parameters"]
    assert files(analyst, release, "png").startswith(b"\x89PNG")
    page = files(analyst, release, "html").decode()
    assert "<b>" not in page
    assert "of all persons" in page


def test_shares_of_the_persons_add_up_to_the_same_draw(panel, release):
    draw = quotes.draw_of(release)
    asked, version = quotes.asked_of(release), release.version
    parts = [draw.part(panel, version, asked, Share(number, 3)) for number in range(3)]
    whole = draw.draw(panel, version, asked, SeededSource(5))
    assert isinstance(draw, kinds.AnswersDraw)
    assert draw.draw_of_parts(parts, SeededSource(5)) == whole
    assert any(part != parts[0] for part in parts)


def test_the_answer_is_near_the_truth(panel, people):
    """seed's check-ins; at a very large ε the share is that of the records."""
    request = releases.ReleaseRequest(
        mechanism="emd-zones", epsilon="20", parameters={"zones": GEOJSON, "margin_m": "20000"}
    )
    drawn = quotes.plan(panel, request).draw
    version = quotes.latest_version(panel)
    exact = drawn.draw(panel, version, quotes.slices.WHOLE, SeededSource(5))
    sums = drawn.part(panel, version, quotes.slices.WHOLE, Share(0, 1))
    truth = int.from_bytes(sums, "little") / 2**30 / panel.persons
    assert abs(exact.shares[0] - truth) < 6 * exact.standard_error
    assert 0 < truth < 1
