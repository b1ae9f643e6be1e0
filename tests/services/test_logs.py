"""Logs, messages to workers and texts of errors carry nothing that a person, a file or a request said."""

import dataclasses
import importlib
import inspect
import json
import logging
import pkgutil
import sys
import tempfile
import uuid
from http.client import HTTPConnection

import pytest
import structlog
from structlog.contextvars import clear_contextvars

import heatmaps
import mechanisms
from heatmaps.config.logs import configure, private_formatter
from tests.services.programs import wait_until

CSRF = "c" * 32
PUBLIC_FIELDS = {"timestamp", "level", "logger", "event", "request_id", "page", "method", "status"}
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
        self._port, self.named_by_500 = port, set()
        self._cookies = f"sessionid={session}; csrftoken={CSRF}"

    def __call__(self, method, path, body=None, **headers):
        connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
        given = {"Cookie": self._cookies, "X-CSRFToken": CSRF} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        connection.request(method, path, body=body, headers=given)
        answer = connection.getresponse()
        if answer.status == 500:
            self.named_by_500.add(answer.getheader("X-Request-ID"))
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
    sign_in = f"login={MARKERS['name']}&password={MARKERS['password']}&csrfmiddlewaretoken={CSRF}"
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
    yield browser(
        "POST", f"/places/search/{query}", f"text={MARKERS['body']}&region={MARKERS['name']}", **form
    )
    release = f"mechanism={MARKERS['body']}&epsilon={MARKERS['body']}&resolution=16&key={MARKERS['key']}"
    yield browser("POST", f"/datasets/hidden-city/releases/new/{query}", release, **form)


def failure(browser, url):
    wait_until(
        lambda: not json.loads(browser("GET", url, Accept="application/json")[1])["active"],
        seconds=60,
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
    named_by_500: set


@pytest.fixture(scope="module")
def driven(world, tmp_path_factory):
    """An installation after everything went wrong that may."""
    made = world.installation(tmp_path_factory.mktemp("driven"), log_format="json")
    release, session = made.script("web", "begin")
    with made.serving(program=("-m", "tests.services.talkative")) as server:
        browser = Browser(server.port, session)
        statuses = [status for status, _ in bad_requests(browser)]
        uploads = {}
        for name, content in FILES.items():
            status, told = browser.upload("hidden-city", name, content)
            assert status == 201, told
            uploads[name] = json.loads(told)["files"][0]["url"]
        failures = [failure(browser, uploads[name]) for name in ("rows", "header", "program", "binary")]
        assert all(failures)
        page = f"/releases/{release}/state/"
        wait_until(lambda: "no_result" in browser("GET", page)[1], seconds=60, what="the failure")
        wait_until(lambda: "OperationalError" in made.output(), seconds=60, what="the database's error")
        shown = " ".join([*failures, browser("GET", page)[1]])
    return Driven(
        logged=made.output(),
        messages=(made.folder / "messages").read_text(),
        statuses=statuses,
        shown=shown,
        named_by_500=browser.named_by_500,
    )


def test_nothing_that_was_said_is_logged_queued_or_shown(driven):
    assert {400, 403, 404, 405, 500} <= set(driven.statuses)
    assert found(driven.logged) == found(driven.messages) == found(driven.shown) == []
    # It did go wrong, and the log says where without saying what.
    for trace in (
        "django.request",
        "ValueError",
        "ZeroDivisionError",
        "DisallowedHost",
    ):
        assert trace in driven.logged
    assert "Traceback" not in driven.logged
    assert "heatmaps.ingest" in driven.messages


def test_a_collector_reads_every_line_and_finds_the_request_of_an_error(driven):
    logged = driven.logged.splitlines()
    lines = [json.loads(line) for line in logged if not line.startswith("Hazemap is at")]
    assert {"timestamp", "level", "logger", "event"} <= set.intersection(*map(set, lines))
    broken = {line["request_id"] for line in lines if line.get("status") == 500}
    assert broken == driven.named_by_500
    answered = [line for line in lines if line["event"] == "request.answered"]
    assert {"ledger", "account_login", "upload-new", "admin-sign-in"} <= {line["page"] for line in answered}
    assert all(set(line) <= PUBLIC_FIELDS for line in answered)
    assert {line["task"] for line in lines if line["event"] == "upload.broke"} == {"heatmaps.ingest"}


def test_a_foreign_record_is_told_by_its_place_and_classes_only():
    clear_contextvars()  # of a request that another test made
    try:
        raise KeyError(MARKERS["person"])
    except KeyError:
        said = "%s failed: %s", (MARKERS["path"], OSError(MARKERS["body"]))
        record = logging.LogRecord("somewhere", logging.ERROR, __file__, 7, *said, sys.exc_info())
    line = private_formatter("json").format(record)
    assert found(line) == found(private_formatter("text").format(record)) == []
    told = json.loads(line)
    assert told.pop("cause").startswith(f"builtins.KeyError at {__file__}:")
    assert told.pop("timestamp").endswith("Z")
    assert told == {
        "event": "library",
        "level": "error",
        "logger": "somewhere",
        "place": "test_logs:7",
        "errors": "builtins.OSError",
    }


def test_a_line_of_ours_tells_ids_and_of_an_error_its_class_and_place(caplog):
    number = uuid.uuid4()
    try:
        raise KeyError(MARKERS["person"])
    except KeyError as error:
        structlog.stdlib.get_logger("heatmaps.x").warning(
            "upload.broke", upload=number, cause=error, rows=[MARKERS["person"]], exc_info=True
        )
    assert found(caplog.text) == []
    told = json.loads(private_formatter("json").format(caplog.records[0]))
    assert told["cause"].startswith(f"builtins.KeyError at {__file__}:")
    assert (told["event"], told["upload"], told["rows"]) == ("upload.broke", str(number), "builtins.list")
    assert "upload.broke [heatmaps.x] cause=" in private_formatter("text").format(caplog.records[0])


def test_a_format_that_is_none_is_refused():
    with pytest.raises(RuntimeError, match="HAZEMAP_LOG_FORMAT is 'xml'; allowed: text, json"):
        configure("xml")


def dataclasses_of(*packages):
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "migrations" in module.name or "commands" in module.name or module.name.endswith("wsgi"):
                continue
            try:
                loaded = importlib.import_module(module.name)
            except ModuleNotFoundError as missing:
                if missing.name not in OF_EXTRAS:
                    raise
                continue
            for _, kind in inspect.getmembers(loaded, dataclasses.is_dataclass):
                if kind.__module__ == module.name:
                    yield kind


OF_EXTRAS = {"osmium", "shapely", "mapbox_vector_tile", "pmtiles"}  # of street maps, which are public
DATA = ("NDArray", "Matrix", "bytes", "list[str]")
# Names of columns; sentences of a guarantee; names of the layers of a street map.
PUBLIC = {"Typed.texts", "Job.statements", "OsmFeatures.layers"}


def test_no_repr_of_the_program_shows_columns_of_data(monkeypatch):
    # The shuffler's settings, which are loaded here, move the folder of temporary files.
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    shown = {
        f"{kind.__qualname__}.{field.name}"
        for kind in dataclasses_of(heatmaps, mechanisms)
        if kind.__dataclass_params__.repr
        for field in dataclasses.fields(kind)
        if field.repr and any(word in str(field.type) for word in DATA)
    }
    assert shown - PUBLIC == set()
