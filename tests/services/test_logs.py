"""Logs, messages to workers and texts of errors carry nothing that a person, a file or a request said."""

import dataclasses
import importlib
import inspect
import json
import logging
import pkgutil
import sys
import uuid
from http.client import HTTPConnection

import pytest

import heatmaps
import mechanisms
from heatmaps.config.logs import PrivateFormatter
from tests.services.http import health
from tests.services.programs import free_port, wait_until

CSRF = "c" * 32
MARKERS = {
    "person": "marker-person",
    "latitude": "47.1123581",
    "longitude": "8.5432198",
    "file": "marker-file",
    "path": "marker-path",
    "query": "marker-query",
    "host": "marker-host",
    "name": "marker-name",
    "password": "marker-password",
    "token": "marker-token",
    "session": "marker-session",
    "key": "marker-key",
    "body": "marker-body",
}
ROW = f"{MARKERS['person']},{MARKERS['latitude']},{MARKERS['longitude']}\n"
FILES = {
    "fine": "user,lat,lon\n" + ROW,
    "rows": "user,lat,lon\n" + f"{MARKERS['person']},147.1123581,nowhere\n" * 5,
    "header": ROW * 3,
    "database": "user,lat,lon\n" + ROW * 2,
    "program": "user,lat,lon\n" + ROW * 3,
    "binary": "\x00\x01" + ROW,
}


class Browser:
    """A steward's requests, down to headers no browser would send."""

    def __init__(self, port, session):
        self._port = port
        self._cookies = f"sessionid={session}; csrftoken={CSRF}"

    def __call__(self, method, path, body=None, **headers):
        connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
        given = {"Cookie": self._cookies, "X-CSRFToken": CSRF} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        connection.request(method, path, body=body, headers=given)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def upload(self, slug, name, content):
        boundary = "----b"
        part = f'Content-Disposition: form-data; name="file"; filename="{MARKERS["file"]}-{name}.csv"'
        body = f"--{boundary}\r\n{part}\r\n\r\n{content}\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return self("POST", f"/datasets/{slug}/uploads/", body, Content_Type=kind, Accept="application/json")


def bad_requests(browser):
    """(status of each answer) of requests that go wrong in as many places as there are."""
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    sign_in = f"username={MARKERS['name']}&password={MARKERS['password']}&csrfmiddlewaretoken={CSRF}"
    token = {"Authorization": f"Bearer {MARKERS['token']}"}
    query = f"?q={MARKERS['query']}"
    yield browser("GET", f"/{MARKERS['path']}/{query}")
    yield browser("GET", f"/datasets/{MARKERS['path']}/{query}")
    yield browser("GET", f"/healthz{query}", Host=f"{MARKERS['host']}.example")
    yield browser("POST", "/sign-in/", sign_in, **form, Cookie=f"csrftoken={CSRF}")
    yield browser("POST", f"/sign-in/{query}", sign_in, **form, Cookie=f"sessionid={MARKERS['session']}")
    yield browser("DELETE", f"/datasets/{query}")
    yield browser("GET", f"/datasets/hidden-city/ledger/{query}")
    yield browser(
        "POST", "/datasets/hidden-city/uploads/", MARKERS["body"], Content_Type="multipart/form-data"
    )
    yield browser("POST", f"/admin/login/{query}", sign_in, **form, Cookie=f"csrftoken={CSRF}")
    yield browser("GET", f"/api/v1/datasets/{MARKERS['path']}/{query}", **token)
    yield browser(
        "POST", "/api/v1/datasets/", f'{{"{MARKERS["body"]}": ', Content_Type="application/json", **token
    )
    yield browser("GET", f"/uploads/{uuid.uuid4()}/{query}")
    release = f"mechanism={MARKERS['body']}&epsilon={MARKERS['body']}&resolution=16&key={MARKERS['key']}"
    yield browser("POST", f"/datasets/hidden-city/releases/new/{query}", release, **form)


def failure(browser, url):
    wait_until(
        lambda: not json.loads(browser("GET", url, Accept="application/json")[1])["active"],
        seconds=30,
        what="the end of an upload",
    )
    return json.loads(browser("GET", url)[1])["failure"]


def found(text):
    return [kind for kind, marker in MARKERS.items() if marker in text]


@dataclasses.dataclass
class Driven:
    """What one drive leaves behind."""

    logged: str
    messages: str
    statuses: list
    shown: str


@pytest.fixture
def driven(migrated_sqlite, tmp_path):
    """An installation after everything went wrong that may."""
    made = migrated_sqlite.copied_to(tmp_path / "state")
    release, session, port = made.script("web", "ask"), made.script("web", "session"), free_port()
    with made.running("-m", "tests.services.talkative", port):
        wait_until(lambda: health(port)[0] == 200, seconds=60, what="the server's answer")
        browser = Browser(port, session)
        statuses = [status for status, _ in bad_requests(browser)]
        uploads = {}
        for name, content in FILES.items():
            status, told = browser.upload("hidden-city", name, content)
            assert status == 201, told
            uploads[name] = json.loads(told)["url"]
        failures = [failure(browser, uploads[name]) for name in ("rows", "header", "program", "binary")]
        assert all(failures)
        page = f"/releases/{release}/state/"
        wait_until(lambda: "no_result" in browser("GET", page)[1], seconds=30, what="the failure")
        wait_until(lambda: "OperationalError" in made.output(), seconds=30, what="the database's error")
        shown = " ".join([*failures, browser("GET", page)[1]])
    return Driven(made.output(), (made.folder / "messages").read_text(), statuses, shown)


def test_nothing_that_was_said_is_logged_queued_or_shown(driven):
    assert {400, 403, 404, 405, 500} <= set(driven.statuses)
    assert found(driven.logged) == found(driven.messages) == found(driven.shown) == []
    # It did go wrong, and the log says where without saying what.
    for trace in (
        "django.request: status 404",
        "status 500",
        "ValueError",
        "ZeroDivisionError",
        "DisallowedHost",
    ):
        assert trace in driven.logged
    assert "Traceback" not in driven.logged
    assert "heatmaps.ingest" in driven.messages


def test_a_foreign_record_is_told_by_its_place_and_classes_only():
    try:
        raise KeyError(MARKERS["person"])
    except KeyError:
        said = "%s failed: %s", (MARKERS["path"], OSError(MARKERS["body"]))
        record = logging.LogRecord("somewhere", logging.ERROR, __file__, 7, *said, sys.exc_info())
    line = PrivateFormatter().format(record)
    assert found(line) == []
    assert "ERROR somewhere: builtins.OSError, said in test_logs:7 (builtins.KeyError at " in line
    own = logging.LogRecord("heatmaps.x", logging.ERROR, __file__, 7, "upload %s", ("5",), None)
    assert PrivateFormatter().format(own).endswith("ERROR heatmaps.x: upload 5")


def dataclasses_of(*packages):
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "migrations" in module.name or "commands" in module.name or module.name.endswith("wsgi"):
                continue
            for _, kind in inspect.getmembers(importlib.import_module(module.name), dataclasses.is_dataclass):
                if kind.__module__ == module.name:
                    yield kind


DATA = ("NDArray", "Matrix", "bytes", "list[str]")
PUBLIC = {"Typed.texts"}  # names of columns


def test_no_repr_of_the_program_shows_columns_of_data():
    shown = {
        f"{kind.__qualname__}.{field.name}"
        for kind in dataclasses_of(heatmaps, mechanisms)
        if kind.__dataclass_params__.repr
        for field in dataclasses.fields(kind)
        if field.repr and any(word in str(field.type) for word in DATA)
    }
    assert shown - PUBLIC == set()
