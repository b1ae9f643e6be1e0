"""Files of a published release: named before they are made, made once, and never too many at a time."""

import io
import time
from contextlib import ExitStack

import numpy as np
import pytest
from django.urls import reverse
from PIL import Image

from heatmaps.children import turns
from heatmaps.children.turns import turn
from heatmaps.exports import FORMATS, Released, format_of
from heatmaps.exports import release_files as files
from heatmaps.exports.previews import OG_IMAGE, THUMBNAIL
from heatmaps.models import Result
from heatmaps.releases import publication
from tests.api.conftest import ALL_SCOPES, ApiClient, token_of  # noqa: F401
from tests.exports.examples import OCEAN, make_heatmap

pytestmark = pytest.mark.unguarded

FILES = [*(known.name for known in FORMATS.values()), "csv.zip", "json", "yaml"]
IN_A_CHILD = [pytest.param(suffix, marks=[] if suffix == "png" else [pytest.mark.long]) for suffix in FILES]


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.RENDERED_DIR = tmp_path / "rendered"


@pytest.fixture
def page(client_of, published):
    def get(suffix, method="get", **headers):
        address = reverse("release-download", args=[published.pk, suffix])
        return getattr(client_of("analyst"), method)(address, headers=headers)

    return get


def content(answer):
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def lose_the_result():
    """Whoever reads it from now on fails."""
    assert Result.objects.update(content=b"") == 1


@pytest.fixture
def always_in_a_child(monkeypatch):
    monkeypatch.setattr(files, "_SMALL_SIDE", 8)


@pytest.mark.parametrize("suffix", FILES)
def test_who_has_a_file_is_told_so_without_making_it(page, suffix):
    etag = page(suffix, "head")["ETag"]
    lose_the_result()

    again = page(suffix, **{"If-None-Match": etag})
    head = page(suffix, "head")

    assert (again.status_code, again.content) == (304, b"")
    assert (head.status_code, head["ETag"]) == (200, etag)
    assert page(suffix, **{"If-Match": '"another"'}).status_code == 412


@pytest.mark.parametrize("suffix", FILES)
def test_a_file_is_made_once(page, suffix):
    first = page(suffix)
    before = content(first)
    lose_the_result()

    again = page(suffix)

    assert content(again) == before
    assert again["ETag"] == first["ETag"] == page(suffix, "head")["ETag"]
    assert int(page(suffix, "head")["Content-Length"]) == len(before)


def test_pages_of_a_release_are_made_from_what_is_kept(client_of, published):
    names = ("release", "release-map", "release-sheet")

    def statuses():
        return [client_of("analyst").get(reverse(name, args=[published.pk])).status_code for name in names]

    assert statuses() == [200] * 3
    lose_the_result()
    assert statuses() == [200] * 3


def test_a_file_is_another_when_what_it_says_is(page, published):
    before = page("png", "head")["ETag"]
    published.dataset.title = "Another city"
    published.dataset.save()

    assert page("png", "head")["ETag"] != before


def test_a_file_is_another_when_the_code_is(published):
    job = files.download(published, "png").job

    assert job.key("one") != job.key("another")


@pytest.mark.parametrize("suffix", IN_A_CHILD)
def test_a_child_makes_the_same_file(page, suffix, settings, tmp_path, monkeypatch):
    here = content(page(suffix))
    settings.RENDERED_DIR = tmp_path / "other"
    monkeypatch.setattr(files, "_SMALL_SIDE", 8)

    assert content(page(suffix)) == here


@pytest.fixture
def no_turns(always_in_a_child, monkeypatch):
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.01)
    with ExitStack() as taken:
        for _ in range(turns.AT_ONCE):
            taken.enter_context(turn())
        yield


def test_a_busy_server_says_when_to_come_again(no_turns, page):
    answer = page("png")

    assert (answer.status_code, answer["Retry-After"]) == (503, str(turns.RETRY_SECONDS))
    assert "try again in 5 seconds" in answer.content.decode()
    assert page("png", "head").status_code == 200


def test_a_busy_server_says_so_to_programs(no_turns, token_of, published):  # noqa: F811
    api = ApiClient(token_of("analyst", ALL_SCOPES))

    answer = api.get(reverse("api:heatmap", args=[published.pk, "png"]))

    assert (answer.status_code, answer["Retry-After"]) == (503, str(turns.RETRY_SECONDS))
    assert answer.json()["code"] == "busy"


def test_a_file_larger_than_all_room_is_refused(always_in_a_child, page, settings):
    settings.RENDERED_BYTES = 2**10

    answer = page("csv")

    assert answer.status_code == 422
    assert "more memory, time or space" in answer.content.decode()


def test_a_table_of_a_million_cells_is_written_in_seconds(tmp_path):
    squares = {(10, x, x): (x + 1 / 3, 0.1) for x in range(1024)}
    released = Released(result=make_heatmap(squares, 10), region=OCEAN, sheet={})
    before = time.process_time()
    with (tmp_path / "map.cells.csv").open("w+b") as stream:
        format_of(".cells.csv").write(released, stream)
        assert time.process_time() - before < 4  # of the processor; one by one it takes 5

        stream.seek(0)
        table = np.genfromtxt(stream, delimiter=",", skip_header=1, usecols=6, max_rows=1024)
    assert (table == released.heatmap.dense()[0]).all()


@pytest.mark.long
def test_a_child_makes_the_same_small_pictures(client_of, published, settings, tmp_path, monkeypatch):
    names = ("release-thumbnail", "release-og-image")

    def made():
        answers = [client_of("analyst").get(reverse(name, args=[published.pk])) for name in names]
        return [content(answer) for answer in answers]

    here = made()
    settings.RENDERED_DIR = tmp_path / "other"
    monkeypatch.setattr(files, "_SMALL_SIDE", 8)
    assert made() == here


@pytest.mark.parametrize("name", ["release-thumbnail", "release-og-image"])
def test_a_small_picture_is_kept_and_ends_with_hiding(client_of, published, people, name):
    address = reverse(name, args=[published.pk])
    publication.set_public(people["steward"], published, public=True)
    seen = client_of("anonymous").get(address)
    size = OG_IMAGE if name == "release-og-image" else THUMBNAIL
    assert Image.open(io.BytesIO(content(seen))).size == size
    assert seen["Cache-Control"] == "public, no-cache"
    lose_the_result()
    assert content(client_of("analyst").get(address)) != b""
    again = client_of("anonymous").get(address, headers={"If-None-Match": seen["ETag"]})
    assert again.status_code == 304
    assert client_of("anonymous").get(address, {"look": "grey"}).status_code == 404

    publication.set_public(people["steward"], published, public=False)
    hidden = client_of("anonymous").get(address, headers={"If-None-Match": seen["ETag"]})
    assert hidden.status_code == 302


def test_a_picture_has_looks_and_layers_and_a_table_has_none(client_of, published):
    def get(suffix, **query):
        return client_of("analyst").head(reverse("release-download", args=[published.pk, suffix]), query)

    kinds = [{}, {"look": "dark"}, {"layer": "squares"}, {"look": "dark", "layer": "squares"}]
    assert len({get("png", **query)["ETag"] for query in kinds}) == len(kinds)
    assert get("png", look="light", layer="heat")["ETag"] == get("png")["ETag"]
    assert [get("png", layer="x").status_code, get("csv", look="dark").status_code] == [404, 404]
