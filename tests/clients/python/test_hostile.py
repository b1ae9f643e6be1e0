"""Whatever a server answers, the client says so in its own words, asks nobody else and shows no token."""

import io
import json
import logging
import pickle
import traceback
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
import rasterio
from hazemap_client import Client, HazemapError, calls
from hazemap_client import connection as connection_module
from hazemap_client.datasets import Dataset
from hazemap_client.errors import (
    BadAnswer,
    Conflict,
    ConnectionFailed,
    NotFound,
    RateLimited,
    Refusal,
    ServerFailed,
    WaitedTooLong,
)

from tests.clients.python.hostile import answering
from tests.services.programs import found_or_skip, free_port
from tests.services.tls import Tls

TOKEN = "a1b2c3d4" * 8
JSON = {"Content-Type": "application/json"}
NEW = {"title": "A", "bbox": (0, 0, 1, 1), "relation": "add_remove", "limits": {"presence": 1}}
PROBLEM = {"Content-Type": "application/problem+json"}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(connection_module, "PAUSES_S", (0, 0, 0))


def refused(url, error, act=lambda client: client.dataset("town"), **options):
    """The error of an act; neither it nor what a traceback shows of the client has the token."""
    with Client(url, TOKEN, **options) as client, pytest.raises(error) as caught:
        act(client)
    assert TOKEN not in "\n".join([shown_by_us(caught.value), repr(client), repr(vars(client))])
    return caught.value


def shown_by_us(error):
    """An error with its causes, and the frames of the client with their variables."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames = [frame for frame in told.stack if "hazemap_client" in frame.filename]
    assert frames
    causes = [error.__cause__, error.__context__]
    return repr((error, vars(error), causes, [(frame.line, frame.locals) for frame in frames]))


@pytest.mark.parametrize(
    "body",
    [
        b"<html>", b"", b"\xff\xfe", b"[" * 200_000, b"[]", b"null", b"{}", b'{"slug": 5}', b'"town"',
        b'{"slug": "a", "title": "a", "bbox": [1, "2"]}',
    ],
)  # fmt: skip
def test_an_answer_that_is_no_dataset_is_refused(body):
    with answering(lambda _: (200, JSON, body)) as (url, _):
        assert "server" in str(refused(url, BadAnswer))


@pytest.mark.parametrize(
    "wrong",
    [
        {"late": True}, {"resolution": "16"}, {"public": 0}, {"charges": {}}, {"charges": [{"account": "a"}]},
        {"requested_at": "soon"},
        {"visible_at": "2026-03-01T00:00:00"}, {"epsilon": "NaN"},
        {"epsilon": 0.5}, {"epsilon": "1/0"}, {"links": []}, {"title": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_field_of_another_kind_is_refused_by_its_name(wrong):
    body = json.dumps(queued(datetime.now(UTC)) | wrong).encode()
    with answering(lambda _: (200, JSON, body)) as (url, _):
        assert next(iter(wrong)) in str(refused(url, BadAnswer, lambda client: client.release("a")))


def test_a_list_that_is_none_is_refused():
    with answering(lambda _: (200, JSON, b'{"results": {}, "next": null}')) as (url, _):
        refused(url, BadAnswer, lambda client: list(client.datasets()))


def test_pages_without_rows_come_to_an_end():
    with answering(lambda _: (200, JSON, b'{"results": [], "next": "more"}')) as (url, asked):
        with Client(url, TOKEN) as client:
            assert list(client.datasets()) == []
        assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((504, {}, b""), ServerFailed),
        ((500, PROBLEM, b"{}"), ServerFailed),
        ((202, JSON, b"<html>"), BadAnswer),
        ((202, JSON, b"[]"), BadAnswer),
        ((302, {"Location": "http://["}, b""), BadAnswer),
        ((409, PROBLEM, b"{}"), Conflict),
    ],
)
def test_who_asked_for_a_release_keeps_its_key_whatever_came_back(answer, error):
    """It may have been paid: without the key, asking again would pay once more."""
    with answering(lambda _: answer) as (url, asked):
        found = refused(url, error, lambda client: town(client).release(mechanism="laplace", epsilon=1))
    assert {one[2]["Idempotency-Key"] for one in asked} == {found.idempotency_key}
    assert (found.idempotency_key in "".join(getattr(found, "__notes__", ()))) == (error is not Conflict)


def test_files_of_another_kind_are_refused(tmp_path):
    """A virtual raster would have files of this machine opened, or other servers asked."""
    path = tmp_path / "here.tif"
    with rasterio.open(path, "w", driver="GTiff", width=1, height=1, count=1, dtype="uint8") as raster:
        raster.write(np.full((1, 1, 1), 42, np.uint8))
    source = f"<SimpleSource><SourceFilename>{path}</SourceFilename><SourceBand>1</SourceBand></SimpleSource>"
    band = f'<VRTRasterBand dataType="Byte" band="1">{source}</VRTRasterBand>'
    virtual = f'<VRTDataset rasterXSize="1" rasterYSize="1">{band}</VRTDataset>'.encode()
    several = io.BytesIO()
    np.savez(several, values=np.ones(2))
    files = {
        "tif": virtual,
        "npy": several.getvalue(),
        "csv": b"\xff",
        "png": b"GIF89a",
        "json": b'{"statements": 5}',
    }
    release = json.dumps(
        queued(datetime.now(UTC)) | {"state": "published", "links": {"heatmap": {}}}
    ).encode()

    def answer(handler):
        suffix = handler.path.partition("?")[0].rpartition(".")[2]
        return 200, JSON, files.get(suffix, release)

    with answering(answer) as (url, _), Client(url, TOKEN) as client:
        found = client.release("a")
        for read in (found.raster, found.array, found.rows, found.picture):
            with pytest.raises(BadAnswer):
                read()
        assert "data:image/png" in found._repr_html_()


def test_a_token_is_not_stored():
    with Client("https://hazemap.example", TOKEN) as client:
        for kept in (client, client._http._auth):
            with pytest.raises(TypeError):
                pickle.dumps(kept)


def test_an_answer_without_end_is_left(monkeypatch):
    monkeypatch.setattr(connection_module, "MOST_JSON_BYTES", 1 << 20)
    with answering(lambda _: (200, JSON, b'"' + b" " * (2 << 20) + b'"')) as (url, asked):
        assert "larger than 1048576 bytes" in str(refused(url, BadAnswer))
    assert len(asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_to_where_a_server_points(status):
    with (
        answering(lambda _: (200, JSON, b"{}")) as (there, never),
        answering(lambda _: (status, {"Location": f"{there}/api/v1/datasets/town/"}, b"")) as (url, _),
    ):
        assert there in str(refused(url, BadAnswer))
    assert never == []


def test_answers_that_pass_are_asked_for_again_and_others_are_not():
    body = b'{"code": "unavailable", "detail": "The database does not answer"}'
    with answering(lambda _: (503, {**PROBLEM, "Retry-After": "0"}, body)) as (url, asked):
        found = refused(url, ServerFailed)
        assert (found.status, found.code, len(asked)) == (503, "unavailable", 4)
    with answering(lambda _: (429, {**PROBLEM, "Retry-After": "3600"}, b"{}")) as (url, asked):
        assert refused(url, RateLimited).retry_after_s == 3600
        assert len(asked) == 1
    with answering(lambda _: (503, PROBLEM, b"{}")) as (url, asked):
        refused(url, ServerFailed, lambda client: client.create_dataset("a", **NEW))
        assert len(asked) == 1
    with answering(lambda _: (404, PROBLEM, b"{}")) as (url, asked):
        refused(url, NotFound)
        assert len(asked) == 1


@pytest.mark.parametrize(
    "body", [b"<html>", b"[1]", b'{"code": 5, "errors": [1, {"field": 2}]}', b"[" * 9999]
)
def test_a_refusal_without_its_details_is_one_all_the_same(body):
    with answering(lambda _: (418, {}, body)) as (url, _):
        found = refused(url, Refusal)
    assert (found.status, found.code, found.detail) == (418, "", "I'm a Teapot")


def test_what_a_server_says_does_not_steer_a_terminal():
    with answering(lambda _: (409, PROBLEM, b'{"code": "a", "detail": "\\u001b[2Jgone\\u202e"}')) as (url, _):
        assert str(refused(url, Refusal)) == "[2Jgone (409 a)"


def test_no_server_is_told_as_such():
    refused(f"http://127.0.0.1:{free_port()}", ConnectionFailed)


def test_a_server_that_nobody_vouches_for_is_not_asked():
    found_or_skip(Tls)
    with answering(lambda _: (200, JSON, b"{}")) as (url, asked), Tls.before(int(url[-5:])) as proxy:
        refused(f"https://localhost:{proxy.port}", ConnectionFailed)
        assert asked == []


def test_a_proxy_of_the_environment_does_not_see_what_stays_on_this_machine(monkeypatch):
    with (
        answering(lambda _: (200, JSON, b"{}")) as (proxy, seen),
        answering(lambda _: (404, {}, b"")) as (url, _),
    ):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        refused(url, NotFound)
    assert seen == []


def test_a_file_whose_end_is_lost_is_not_left_behind(tmp_path):
    def cut_off(handler):
        handler.close_connection = True
        return 200, {"Content-Length": "100"}, b"[half"

    with answering(cut_off) as (url, asked):
        refused(url, ConnectionFailed, lambda client: town(client).save_ledger(tmp_path / "ledger.json"))
    assert len(asked) == 4
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_asked_for_again_at_its_moment_by_the_servers_clock():
    """The server's clock is an hour ahead, and its release appears in a second: one question is enough."""
    moment = datetime.now(UTC) + timedelta(hours=1, seconds=1)

    def by_another_clock(handler):
        now = datetime.now(UTC) + timedelta(hours=1)
        handler.date_time_string = lambda: format_datetime(now, usegmt=True)
        state = "queued" if now < moment else "published"
        return 200, JSON, json.dumps(queued(moment) | {"state": state}).encode()

    with answering(by_another_clock) as (url, asked), Client(url, TOKEN) as client:
        began = client.release("a")
        assert began.wait().state == "published"
        assert len(asked) <= 4  # a moment of the header Date is up to a second old
        with pytest.raises(WaitedTooLong):
            replace(began, visible_at=moment + timedelta(hours=1)).wait(timeout_s=0)


def test_addresses_that_would_send_the_token_unencrypted_are_refused():
    for url in (
        "http://hazemap.example",
        "ftp://hazemap.example",
        "hazemap.example",
        "https://a:b@hazemap.example",
    ):
        with pytest.raises(ValueError, match="is not allowed"):
            Client(url, TOKEN)
    Client("http://hazemap.example", TOKEN, allow_http=True).close()


def test_a_token_that_is_none_is_not_shown():
    with pytest.raises(ValueError, match="token is not allowed") as caught:
        Client("https://hazemap.example", "Bearer hush-hush")
    assert "hush" not in shown_by_us(caught.value)


def test_no_log_has_the_token(caplog):
    caplog.set_level(logging.DEBUG)
    with answering(lambda _: (404, PROBLEM, b"{}")) as (url, asked):
        refused(url, HazemapError)
    assert asked[0][2]["Authorization"] == f"Bearer {TOKEN}"
    assert "GET" in caplog.text
    assert TOKEN not in caplog.text


def town(client):
    """A dataset that no server was asked for."""
    names = [one.name for one in fields(Dataset)]
    return Dataset(**dict.fromkeys(names) | {"slug": "town", "connection": client})


def queued(moment):
    """A release as the API answers it."""
    texts = ("id", "title", "name", "note", "mechanism", "distance")
    objects = ("parameters", "data_slice", "guarantee", "links")
    moments = ("requested_at", "starts_at", "visible_at")
    others = {"resolution": 16, "version": 1, "charges": [], "expected_error": None, "public": False}
    return (
        dict.fromkeys(texts, "a")
        | dict.fromkeys(("epsilon", "delta"), "0.5")
        | {name: {} for name in objects}
        | dict.fromkeys(moments, moment.isoformat())
        | others
        | {"state": "queued", "late": 0, "expires_at": None}
    )


def test_a_file_is_asked_for_by_what_its_name_ends_with(tmp_path):
    names = {
        "town.png": "png",
        "town.v2.csv.zip": "csv.zip",
        "town.cells.csv": "cells.csv",
        "town.cells.csv.zip": "cells.csv.zip",
        "town.cells.csv.png": "png",
    }
    with answering(lambda _: (200, {}, b"a file")) as (url, asked), Client(url, TOKEN) as client:
        for name in names:
            client.save(calls.FILES["heatmap"], tmp_path / name, release_id="5")
    assert [path.rpartition("/heatmap.")[2] for _, path, _ in asked] == [*names.values()]
