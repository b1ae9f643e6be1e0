"""What a monitor is told: a closed list, whose values know nothing of data."""

import io
import re
import shutil
from unittest import mock

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import override_settings

from heatmaps import VERSION
from heatmaps.config.settings import BASE_DIR
from heatmaps.http import health, metrics
from heatmaps.ingest import uploads
from heatmaps.releases import lifecycle
from tests.services import seed
from tests.services.draws import carry_out

GIB = 2**30
ALL = {
    "hazemap_up",
    f'hazemap_info{{version="{VERSION}"}}',
    "hazemap_migrations_pending",
    "hazemap_disk_free_bytes",
    "hazemap_children_confined",
    *(f'hazemap_part_up{{part="{part}"}}' for part in ("database", "clock", "draws", "files")),
    "hazemap_worker_up",
}
METRIC = re.compile(
    r"# HELP (?P<name>\w+) [^\n]+\n# TYPE (?P=name) gauge\n"
    r"(?P<samples>((?P=name)(\{[^}\n]*\})? (\d+|NaN)\n)+)"
)
WELL = dict.fromkeys((health.HealthPart.CLOCK, health.HealthPart.DRAWS, health.HealthPart.FILES), True)


@pytest.fixture
def states(db, monkeypatch):
    """Of clock and workers, as this process knows them."""
    monkeypatch.setattr(health, "FRESH_SECONDS", 0)
    monkeypatch.setattr(health, "_memory", health._Memory())
    states = dict(WELL)
    health.embed(lambda: states)
    return states


@pytest.fixture
def watch(states):
    return metrics.Watch()


def told(watch):
    """Values by their samples, of a text that Prometheus reads."""
    assert METRIC.sub("", watch.text) == ""
    samples = "".join(metric["samples"] for metric in METRIC.finditer(watch.text))
    return dict(line.rsplit(" ", 1) for line in samples.splitlines())


def test_the_list_is_closed(watch):
    assert set(told(watch)) == ALL
    assert told(watch)["hazemap_up"] == "1"


@override_settings(CELERY_TASK_ALWAYS_EAGER=True)
def test_it_says_the_same_while_a_file_is_read_and_a_map_is_drawn(watch, django_user_model):
    steward, said = django_user_model.objects.create_user("steward"), [watch.text]

    def look():
        watch.look()
        said.append(watch.text)

    dataset = seed.make_dataset(steward, "city")
    rows = "".join(f"{at},0.{at % 97:02},0.{at % 89:02}\n" for at in range(50_000))
    upload = uploads.receive(
        steward, dataset, io.BytesIO(f"user,lat,lon\n{rows}".encode()), name="a.csv", enqueue=False
    )
    look()
    uploads.run(upload.pk)
    look()
    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    release = lifecycle.request_release(steward, dataset, request)
    look()
    carry_out(release.pk)
    look()
    release.refresh_from_db()
    assert release.state == "published"
    assert said == [said[0]] * 5


def test_free_room_is_in_whole_gib_and_looked_at_once_an_hour(watch, settings, tmp_path, monkeypatch):
    free = shutil.disk_usage(tmp_path).free
    found = metrics.free_bytes(tmp_path)
    assert found % GIB == 0
    assert free - 2 * GIB < found <= free + GIB  # others write meanwhile
    before = told(watch)["hazemap_disk_free_bytes"]
    settings.STATE_DIR = "/proc"  # where nothing is free
    watch.look()
    assert told(watch)["hazemap_disk_free_bytes"] == before
    monkeypatch.setattr(metrics, "DISK_SECONDS", 0)
    watch.look()
    assert told(watch)["hazemap_disk_free_bytes"] == "0"


def test_it_tells_of_migrations_and_of_a_database_that_is_away(states):
    def pending():
        return told(metrics.Watch())["hazemap_migrations_pending"]

    assert pending() == "0"
    with connection.execute_wrapper(refuse):
        assert pending() == "NaN"
        assert told(metrics.Watch())['hazemap_part_up{part="database"}'] == "0"
    MigrationRecorder(connection).flush()
    assert pending() == "1"


def refuse(*_others):
    raise OperationalError("host=secret")


def test_it_tells_of_each_part_by_its_name(watch, states):
    assert told(watch)["hazemap_worker_up"] == "1"
    states[health.HealthPart.CLOCK], states[health.HealthPart.DRAWS] = None, False
    values = told(watch)
    assert values['hazemap_part_up{part="clock"}'] == "NaN"
    assert values['hazemap_part_up{part="draws"}'] == values["hazemap_worker_up"] == "0"
    assert values['hazemap_part_up{part="files"}'] == "1"


def test_it_looks_on_whatever_a_look_raises(watch, monkeypatch):
    monkeypatch.setattr(metrics, "LOOK_SECONDS", 0)
    looks = [OSError("secret"), None]

    def look():
        if error := looks.pop(0):
            raise error

    monkeypatch.setattr(watch, "look", look)
    watch.run(mock.Mock(wait=lambda _seconds: not looks))
    assert looks == []


def test_there_is_one_page_and_it_is_only_read(watch):
    assert asked(watch, "GET", "/metrics") == ("200 OK", watch.text.encode())
    for path, status in (("/metrics", "200 OK"), ("/", "404 Not Found")):
        assert asked(watch, "HEAD", path) == (status, b"")
    assert asked(watch, "POST", "/metrics")[0] == "405 Method Not Allowed"
    for path in ("/", "/metrics/", "/healthz", "/datasets/"):
        assert asked(watch, "GET", path)[0] == "404 Not Found"


@pytest.mark.parametrize("host", ["maps.example.org", "127.0.0.1:9100", "localhost", "[::1]:9100"])
def test_hosts_of_the_pages_are_answered(watch, settings, host):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "maps.example.org"]

    assert asked(watch, "GET", "/metrics", host) == ("200 OK", watch.text.encode())


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9100", "127.0.0.1.evil.example", "", "a b"])
@pytest.mark.parametrize("path", ["/metrics", "/"])
def test_no_website_reads_them_by_a_name_of_its_own(watch, settings, host, path):
    """Which it lets name this address (DNS rebinding): the browser then sends the website's name as host."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "maps.example.org"]

    status, content = asked(watch, "GET", path, host)

    assert status == "400 Bad Request"
    assert b"hazemap_" not in content
    assert b"evil" not in content


def asked(watch, method, path, host="127.0.0.1"):
    statuses = []
    content = watch.application(
        {"REQUEST_METHOD": method, "PATH_INFO": path, "HTTP_HOST": host},
        lambda status, headers: statuses.append(status),
    )
    return statuses[0], b"".join(content)


def test_the_version_is_that_of_the_project():
    assert f'version = "{VERSION}"\n' in (BASE_DIR / "pyproject.toml").read_text()
