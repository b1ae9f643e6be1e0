"""What somebody who writes into the folder of kept files puts there is never served."""

import itertools
import json
import re

import pytest
from django.urls import reverse

from heatmaps.districts.files import DistrictFileFacts, store
from heatmaps.exports import FORMATS, release_files
from heatmaps.exports import job as jobs
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.api.conftest import ALL_SCOPES, ApiClient, token_of  # noqa: F401
from tests.geojson import districts, square
from tests.services.draws import carry_out

MARK = b"planted-by-a-worker"
EVIL = b"<script>fetch('/account/')</script>" + MARK
FILES = [*(known.name for known in FORMATS.values()), "csv.zip", *jobs.SHEETS]


@pytest.fixture
def folder(settings, tmp_path):
    settings.RENDERED_DIR = tmp_path / "rendered"
    return settings.RENDERED_DIR


@pytest.fixture
def answers(folder, people, client_of, counted, token_of):  # noqa: F811
    """Every address that answers with what is kept: {address: how it answers}."""
    client, program = client_of("analyst"), ApiClient(token_of("analyst", ALL_SCOPES))
    request = ReleaseRequest(mechanism="adaptive", epsilon="0.4", resolution=16)
    other = lifecycle.request_release(people["analyst"], counted.dataset, request)
    carry_out(other.pk)
    areas = json.dumps(districts(North=square(0, 0.5, 0.5))).encode()
    halves = store(people["steward"], counted.dataset, areas, DistrictFileFacts(title="Half", source="us"))
    one = [counted.pk]
    pages = [
        *(("release-download", [*one, suffix]) for suffix in FILES),
        *((f"release-{name}", one) for name in (*release_files.PREVIEWS, "map", "sheet")),
        ("release", one),
        ("release-comparison-map", [*one, other.pk]),
        ("release-district-sums", [*one, halves.pk]),
    ]
    programs = [
        ("api:heatmap", [*one, "csv"]),
        *((f"api:release-{name}", one) for name in release_files.PREVIEWS),
        ("gis:tile", [*one, 0, 0, 0]),
        ("gis:tile-2x", [*one, 0, 0, 0]),
        ("gis:items", one),
        ("gis:item", [*one, 1]),
        ("gis:coverage", one),
    ]

    def asked():
        told = {}
        for asker, names in ((client, pages), (program, programs)):
            for name, arguments in names:
                for address in looks(reverse(name, args=arguments)):
                    told[address] = content(asker.get(address))
        return told

    return asked


def looks(address):
    """An address; of tiles, in another look and layer as well."""
    return [address, f"{address}?look=dark&layer=squares"] if "/tiles/" in address else [address]


def content(answer):
    assert answer.status_code == 200
    whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert MARK not in whole
    # What is another at each answer, whatever it is made from.
    return re.sub(
        rb"nonce=\"[^\"]+\"|csrfmiddlewaretoken\" value=\"[^\"]+\"|[0-9]+ (seconds?|minutes?) ago", b"", whole
    )


def overwritten(path, _):
    path.write_bytes(EVIL)


def with_more(path, _):
    path.write_bytes(path.read_bytes() + EVIL)


def with_string(path, _):
    """As it was, but for some bytes of it."""
    path.write_bytes(MARK + path.read_bytes()[len(MARK) :])


def linked(path, secret):
    path.unlink()
    path.symlink_to(secret)


def exchanged(path, _):
    """Another file stands for it, which was sealed as well."""
    path.write_bytes(next(one for one in kept_in(path.parent) if one != path).read_bytes())


def kept_in(folder):
    return sorted(path for path in folder.iterdir() if "." not in path.name)


@pytest.mark.long
def test_no_kind_of_file_is_served_that_the_web_server_did_not_seal(answers, folder, tmp_path, monkeypatch):
    """In its place stand, in turn, a file, a link, and a file that is as good as sealed.

    What a seal holds against is tried in `tests/exports/test_sealed_file.py`.
    """
    secret, made, write = tmp_path / "secret", [], jobs.Job.write
    secret.write_bytes(MARK)
    monkeypatch.setattr(jobs.Job, "write", lambda job, *given: made.append(job.wanted) or write(job, *given))
    before = answers()
    # A new kind of file is tried as soon as there is one.
    assert set(made) == {*FILES, *jobs._WRITERS, jobs.PARTS, jobs.TABLE, jobs.SURFACE}
    kept, count = kept_in(folder), len(made)
    for path, plant in zip(kept, itertools.cycle((overwritten, with_more, with_string, linked, exchanged))):
        plant(path, secret)

    after = answers()

    assert [name for name in before if after[name] != before[name]] == []
    assert sorted(made[:count]) == sorted(made[count:])  # each was made anew
    assert secret.read_bytes() == MARK


def test_an_example_is_drawn_anew_that_somebody_changed(folder, client_of, dataset):
    """Each drawing is another, but a picture."""
    address = reverse("release-example", args=[dataset.slug])
    asked = {"mechanism": "privtree", "epsilon": "1", "resolution": "16"}
    assert content(client_of("analyst").get(address, asked))[:4] == b"\x89PNG"
    (path,) = kept_in(folder)
    path.write_bytes(EVIL)
    assert content(client_of("analyst").get(address, asked))[:4] == b"\x89PNG"


def test_a_part_of_a_file_is_one_of_the_right_file(folder, client_of, counted):
    """Programs read rasters in parts."""
    client, address = client_of("analyst"), reverse("release-download", args=[counted.pk, "tif"])
    first = client.get(address, headers={"Range": "bytes=3-40"})
    for path in kept_in(folder):
        path.write_bytes(EVIL * 100)
    again = client.get(address, headers={"Range": "bytes=3-40"})
    assert (first.status_code, again.status_code) == (206, 206)
    assert again.content == first.content
    assert again["Content-Range"] == first["Content-Range"]
