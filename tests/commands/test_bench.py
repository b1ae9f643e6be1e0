"""Every group of `make bench` runs, on tiny inputs; what one measured outlives the failure of a later one.

What takes processes, servers or seconds of sealing is in the long suite, on the servers that it has anyway.
"""

import json

import pytest
from django.contrib.auth.models import User
from django.utils.module_loading import import_string

from heatmaps.models import Dataset
from tests.benchmarks import __main__ as bench
from tests.benchmarks import collections, groups, ingest, lake, reserve, scale
from tests.benchmarks.groups import GROUPS
from tests.benchmarks.measure import Figure, Size
from tests.browser.chromium import Chromium
from tests.services import crowd
from tests.services.programs import found_or_skip
from tests.sources import conftest as sources

spark = sources.spark
# What the others measure with servers of their own is measured below with those of the tests.
OF_SERVERS = {"collections", "databases", "maps in Chromium", "scale", "lakes"}
SLOW = {"collections at published settings"}


def figure(name):
    return Figure(name=name, alternative="bare", seconds=1.0, alternative_seconds=2.0, repeats=1)


@pytest.fixture
def make(postgres, migrated_postgres):
    """A migrated installation in a folder."""
    template, name = migrated_postgres
    return lambda folder: template.copied_to(folder, postgres.url(postgres.new_database(name)))


def measured(figures):
    found = list(figures)
    assert found
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in SLOW))
        for name in GROUPS
        if name not in OF_SERVERS
    ],
)
def test_a_group_runs(name):
    measured(GROUPS[name](Size.TINY))


def test_devices_and_the_analyser_are_measured():
    assert {one.ratio > 0 for one in measured(collections.figures(Size.TINY))} == {True}


@pytest.mark.django_db(transaction=True)
def test_uploads_are_measured():
    measured(ingest.figures(Size.TINY))


@pytest.mark.django_db
@pytest.mark.parametrize("act", crowd.ACTS)
def test_an_analyst_of_the_crowd_acts(act):
    crowd.make("1")
    crowd.ACTS[act](User.objects.get(username="analyst-0"), Dataset.objects.get(slug=crowd.SLUG))()


def test_what_runs_in_a_process_of_its_own_is_there():
    for worker in groups.WORKERS:
        assert callable(import_string(f"tests.benchmarks.{worker}"))


@pytest.mark.long
def test_the_shuffler_is_measured():
    measured(groups.in_own_process(groups.CLOSING, Size.TINY, settings=""))


@pytest.mark.long
@pytest.mark.browser
def test_maps_are_measured():
    found_or_skip(Chromium)
    measured(GROUPS["maps in Chromium"](Size.TINY))


@pytest.mark.long
@pytest.mark.postgres
def test_a_crowd_is_measured(make):
    measured(reserve.figures(make, Size.TINY))


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_many_checkins_are_measured(postgres, redis, make):
    measured(scale.figures(postgres, redis, make, scale.COUNTS[Size.TINY]))


@pytest.mark.long
def test_a_lake_is_measured(spark):
    measured(lake.figures(lake.COUNTS[Size.TINY], running=spark))


# --- the command ---------------------------------------------------------------------------------------


def test_nothing_is_lost_when_a_later_group_fails(monkeypatch, tmp_path, capsys):
    def breaks(_size):
        yield figure("half")
        raise RuntimeError("no more")

    made = {
        "transport": lambda _: [figure("first")],
        "lakes": breaks,
        "databases": lambda _: [figure("last")],
    }
    monkeypatch.setattr(bench, "GROUPS", made)
    monkeypatch.setenv("HAZEMAP_STATE", str(tmp_path))

    assert bench.main() == 1

    told = capsys.readouterr()
    assert "RuntimeError: no more" in told.err
    assert "failed: lakes" in told.err
    rows = json.loads((tmp_path / "bench" / "figures.json").read_text())["figures"]
    assert [(row["group"], row["name"]) for row in rows] == [
        ("transport", "first"),
        ("lakes", "half"),
        ("databases", "last"),
    ]
    assert sorted(path.name for path in (tmp_path / "bench").glob("*.png")) == [
        "databases.png",
        "transport.png",
    ]


def test_a_group_is_printed_as_it_ends(monkeypatch, tmp_path, capsys):
    def second(_size):
        assert "first" in capsys.readouterr().out
        return [figure("second")]

    monkeypatch.setattr(bench, "GROUPS", {"transport": lambda _: [figure("first")], "databases": second})
    monkeypatch.setenv("HAZEMAP_STATE", str(tmp_path))
    assert bench.main() == 0
    assert bench.main("transport") == 0
    assert "second" not in capsys.readouterr().out.split("written")[-1]
