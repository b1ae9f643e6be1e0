"""A published map as files, and its release sheet."""

import io
import json
import zipfile

import numpy as np
import pytest
import yaml
from django.conf import settings
from django.urls import reverse

from heatmaps.exports import FORMATS, Group
from tests.services import seed
from tests.triggers import disabled


@pytest.fixture
def page(client_of):
    def get(release, name="release"):
        return client_of("analyst").get(reverse(name, args=[release.pk]))

    return get


def downloaded(client_of, release, suffix):
    answer = client_of("analyst").get(reverse("release-download", args=[release.pk, suffix]))
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer, content


def test_it_gives_the_map_as_an_array(client_of, published):
    answer, content = downloaded(client_of, published, "npy")

    array = np.load(io.BytesIO(content))
    day = published.result.created_at.date().isoformat()
    assert array.shape == (16, 16)
    assert array.sum() == pytest.approx(1)
    assert answer["Content-Disposition"] == f'attachment; filename="city-{day}-sparse-emd.npy"'


@pytest.mark.parametrize("suffix", [known.name for known in FORMATS.values() if known.name != "html"])
def test_it_gives_the_release_sheet_with_the_map(client_of, published, suffix):
    _, content = downloaded(client_of, published, f"{suffix}.zip")
    _, alone = downloaded(client_of, published, suffix)

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        name, sheet = sorted(archive.namelist(), key=lambda name: name.endswith(".json"))
        facts = json.loads(archive.read(sheet))
        assert archive.read(name) == alone

    assert (facts["epsilon"], facts["delta"], facts["relation"]) == ("0.5", "0", "add_remove")
    assert facts["mechanism"] == "sparse-emd"
    assert any("presence ε = 0.5" in sentence for sentence in facts["statements"])


def test_it_gives_the_sheet_alone(client_of, published):
    answer, content = downloaded(client_of, published, "json")

    assert json.loads(content)["kind"] == "hazemap release sheet"
    assert answer["Content-Disposition"].endswith('.json"')


def test_it_gives_the_sheet_as_yaml_too(client_of, published):
    answer, content = downloaded(client_of, published, "yaml")
    _, other = downloaded(client_of, published, "json")

    assert yaml.safe_load(content) == json.loads(other)
    assert answer["Content-Type"] == "application/yaml"
    assert answer["Content-Disposition"].endswith('.yaml"')


def test_it_shows_the_sheet_to_read(page, published):
    body = page(published, name="release-sheet").content.decode()

    assert "ε = 0.5 (presence), δ = 0" in body
    for heading in ("What is promised", "What is not protected", "What was done after the noise"):
        assert heading in body


def test_it_offers_every_file_in_groups(page, published):
    body = page(published).content.decode()

    places = [body.index(f">{group}</h3>") for group in Group]
    assert places == sorted(places)
    for known in FORMATS.values():
        assert reverse("release-download", args=[published.pk, known.download]) in body
    for suffix in ("json", "yaml"):
        assert reverse("release-download", args=[published.pk, suffix]) in body


@pytest.mark.unguarded
def test_it_does_not_offer_files_that_would_be_too_large(page, published, client_of):
    type(published).objects.filter(pk=published.pk).update(resolution=8192)

    body = page(published).content.decode()

    assert "heatmap.geojson" in body
    assert "heatmap.csv" in body
    for suffix in ("tif", "npy", "cells.csv"):
        assert f"heatmap.{suffix}" not in body
        assert downloaded(client_of, published, suffix)[0].status_code == 404


@pytest.mark.parametrize("known", FORMATS.values(), ids=list(FORMATS))
def test_it_gives_files_as_attachments_of_their_type(client_of, published, known):
    answer, content = downloaded(client_of, published, known.name)

    assert content
    assert answer["Content-Type"] == known.content_type
    assert answer["Content-Disposition"].startswith("attachment; ")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_it_dates_what_is_in_a_zip_by_the_day_of_the_release(client_of, published):
    _, content = downloaded(client_of, published, "csv.zip")

    day = published.result.created_at.date()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        dates = {member.date_time for member in archive.infolist()}
    assert dates == {(day.year, day.month, day.day, 0, 0, 0)}


@pytest.mark.parametrize("suffix", ["exe", "npy.gz", "zip", "json.zip"])
def test_it_gives_no_other_files(client_of, published, suffix):
    assert downloaded(client_of, published, suffix)[0].status_code == 404


def test_the_reference_lists_every_file():
    text = (settings.BASE_DIR / "docs/reference/files.md").read_text()

    for known in FORMATS.values():
        assert f"| `{known.name}` |" in text


EVERY_FILE = [known.download for known in FORMATS.values()] + ["json", "yaml"]


@pytest.mark.unguarded
@pytest.mark.parametrize("suffix", EVERY_FILE)
def test_a_file_does_not_change_with_the_data_or_the_time_of_day(client_of, published, suffix):
    answer, before = downloaded(client_of, published, suffix)
    upload = published.dataset.uploads.get()
    upload.rows_accepted, upload.size_bytes = 987_654, 123_456_789
    with disabled():
        upload.save()
    seed.add_checkins(published.dataset, seed=2)
    noon = published.result.created_at.replace(hour=12, minute=34, second=56)
    type(published.result).objects.filter(pk=published.result.pk).update(created_at=noon)

    again, after = downloaded(client_of, published, suffix)

    assert after == before
    assert again["Content-Disposition"] == answer["Content-Disposition"]
    assert "Last-Modified" not in answer.headers
    assert again["ETag"] == answer["ETag"]  # of the file, which is the same


def test_programs_read_parts_of_the_raster(client_of, published):
    """As they do by HTTP: the length first, then parts, until the file is another one."""
    analyst, address = client_of("analyst"), reverse("release-download", args=[published.pk, "tif"])
    head = analyst.head(address)
    whole = b"".join(analyst.get(address).streaming_content)
    assert (head["Content-Length"], head["Accept-Ranges"]) == (str(len(whole)), "bytes")
    part = analyst.get(address, headers={"range": "bytes=10-19", "if-range": head["ETag"]})
    assert (part.status_code, part.content) == (206, whole[10:20])
    assert part["Content-Range"] == f"bytes 10-19/{len(whole)}"
    assert (part["ETag"], part["Cache-Control"]) == (head["ETag"], "private, no-cache")
    other = analyst.get(address, headers={"range": "bytes=10-19", "if-range": '"other"'})
    assert (other.status_code, b"".join(other.streaming_content)) == (200, whole)
    several = analyst.get(address, headers={"range": "bytes=0-1,4-5"})
    assert (several.status_code, b"".join(several.streaming_content)) == (200, whole)
    beyond = analyst.get(address, headers={"range": f"bytes={len(whole)}-"})
    assert (beyond.status_code, beyond.content) == (416, b"")
    assert analyst.get(address, headers={"if-none-match": head["ETag"]}).status_code == 304


def test_other_files_are_sent_whole(client_of, published):
    answer = client_of("analyst").get(
        reverse("release-download", args=[published.pk, "npy"]), headers={"range": "bytes=0-1"}
    )
    assert answer.status_code == 200
    assert "Accept-Ranges" not in answer.headers
