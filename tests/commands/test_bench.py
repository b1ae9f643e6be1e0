"""Every group of `make bench` runs, on tiny inputs; what one measured outlives the failure of a later one.

What takes processes, servers or seconds of sealing is in the long suite, on the servers that it has anyway.
"""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils.module_loading import import_string

from heatmaps.models import Dataset
from tests.benchmarks import __main__ as bench
from tests.benchmarks import collections, goals, groups, lake, lists, processes, reserve, scale, uploads
from tests.benchmarks.goals import GOALS, Goal
from tests.benchmarks.groups import GROUPS
from tests.benchmarks.measure import Figure, Size, Unit, compare
from tests.browser.chromium import Chromium
from tests.services import crowd
from tests.services.programs import found_or_skip
from tests.sources import conftest as sources

spark = sources.spark
# What the others measure with servers of their own is measured below with those of the tests.
OF_SERVERS = {"collections", "databases", "lists and pages", "maps in Chromium", "scale", "lakes"}
SLOW = {"start", "the command", "collections at published settings"}


def figure(name, *ratios, goal=""):
    """Of a yardstick that takes a second."""
    ours = ratios or (0.5,)
    return Figure(name=name, alternative="bare", ours=ours, theirs=(1.0,) * len(ours), goal=goal)


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
def test_lists_are_measured():
    figures = {figure.goal: figure for figure in measured(lists.figures(Size.TINY))}
    assert {figure.unit for figure in figures.values()} == {Unit.SECONDS, Unit.QUERIES}
    assert figures["lists.releases.queries"].theirs == (2,)  # of the session and whoever is signed in


@pytest.mark.long
def test_uploads_are_measured(migrated_sqlite, tmp_path):
    upload, disk = measured(uploads.figures(migrated_sqlite.copied_to(tmp_path / "state"), Size.TINY))
    assert upload.details["mb_at_most"] >= upload.details["mb_at_rest"] > 30
    assert 20 < disk.theirs[0] < 60
    assert disk.ratio > 0


@pytest.mark.long
@pytest.mark.postgres
def test_uploads_into_postgresql_are_measured(postgres, make, tmp_path):
    _, disk = measured(uploads.figures(make(tmp_path / "state"), Size.TINY, postgres))
    assert 60 < disk.theirs[0] < 100


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


@pytest.fixture
def run(monkeypatch, tmp_path):
    """`make bench` with these groups; its exit code, and what it wrote."""
    monkeypatch.setenv("HAZEMAP_STATE", str(tmp_path))
    monkeypatch.delenv("SCALE", raising=False)

    def run(made, *names):
        monkeypatch.setattr(bench, "GROUPS", made)
        monkeypatch.setattr(bench, "OF_SIZE", dict.fromkeys(Size, tuple(made)))
        code = bench.main(*names)
        return code, json.loads((tmp_path / "bench" / "figures.json").read_text())

    return run


@pytest.fixture
def goal(monkeypatch):
    """A figure may take twice as long as its yardstick."""
    monkeypatch.setattr(goals, "GOALS", {"least": Goal(most=2.0, why="as asked")})
    return "least"


def test_nothing_is_lost_when_a_later_group_fails(run, tmp_path, capsys):
    def breaks(_size):
        yield figure("half")
        raise RuntimeError("no more")

    made = {
        "transport": lambda _: [figure("first")],
        "lakes": breaks,
        "databases": lambda _: [figure("last")],
    }

    code, written = run(made)

    assert code == 1
    printed = capsys.readouterr()
    assert "RuntimeError: no more" in printed.err
    assert "failed: lakes" in printed.err
    assert written["failed"] == ["lakes"]
    assert [(row["group"], row["name"]) for row in written["figures"]] == [
        ("transport", "first"),
        ("lakes", "half"),
        ("databases", "last"),
    ]
    assert sorted(path.name for path in (tmp_path / "bench").glob("*.png")) == [
        "databases.png",
        "transport.png",
    ]


def test_a_figure_is_printed_before_the_next_is_measured(run, capsys):
    def second(_size):
        assert "first" in capsys.readouterr().out
        return [figure("second")]

    made = {"transport": lambda _: [figure("first")], "databases": second}
    assert run(made)[0] == 0
    capsys.readouterr()
    assert run(made, "transport")[0] == 0
    assert "second" not in capsys.readouterr().out


def test_a_missed_goal_fails_the_run_in_a_line(run, goal, capsys):
    made = {"transport": lambda _: [figure("slow", 2.4, 2.2, 2.1, goal=goal)]}

    code, written = run(made)

    assert code == 1
    line = "least: slow: at most 2 x bare, measured 2.2 (noise 2.1 to 2.4)"
    assert f"missed: {line}\n" in capsys.readouterr().err
    assert written["missed"] == [line]
    assert [(row["goal"], row["low"], row["high"]) for row in written["figures"]] == [("least", 2.1, 2.4)]


@pytest.mark.parametrize("ratios", [(1.9, 2.5, 2.2), (2.0, 2.0, 2.0), (0.1, 0.2, 0.1)])
def test_a_goal_that_noise_reaches_is_no_failure(run, goal, ratios):
    made = {"transport": lambda _: [figure("noisy", *ratios, goal=goal)]}
    assert run(made)[0] == 0


def test_one_repetition_of_what_varies_says_nothing_of_a_goal(run, goal, capsys):
    assert run({"transport": lambda _: [figure("once", 0.1, goal=goal)]})[0] == 1
    assert "its noise is not known" in capsys.readouterr().err


def test_bytes_are_counted_once(run, goal):
    def bytes_of(count):
        counted = Figure(
            name="a row", alternative="bare", ours=(count,), theirs=(40,), unit=Unit.BYTES, goal=goal
        )
        return {"databases": lambda _: [counted]}

    assert run(bytes_of(81))[0] == 1
    assert run(bytes_of(80))[0] == 0


def test_a_tiny_run_has_no_goals(run, goal, monkeypatch):
    monkeypatch.setenv("SCALE", "tiny")
    assert run({"transport": lambda _: [figure("slow", 9.0, goal=goal)]})[0] == 0


def test_each_goal_is_named_by_a_benchmark():
    """Formatted names end in what their module has: the first part says which."""
    sources = {path.stem: path.read_text() for path in Path(groups.__file__).parent.glob("*.py")}
    text = "".join(source for name, source in sources.items() if name != "goals")
    for name in GOALS:
        assert f'"{name}"' in text or f'f"{name.split(".")[0]}.{{' in text, name


def test_both_are_run_in_turns():
    order = []
    compare("ours", lambda: order.append("ours"), "bare", lambda: order.append("bare"), repeats=3)
    assert order == ["ours", "bare", "bare", "ours", "ours", "bare"]


def test_a_figure_comes_back_from_its_line():
    counted = Figure(
        name="a", alternative="b", ours=(1.0, 2.0), theirs=(3.0, 4.0), unit=Unit.QUERIES, goal="least"
    )
    assert Figure.of_json(counted.json()) == counted


# --- processes -----------------------------------------------------------------------------------------

CHILD = "import time; held = bytearray(60_000_000); begin = time.process_time()\n"
CHILD += "while time.process_time() - begin < 0.3: pass"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"


def test_a_process_counts_with_what_it_started():
    spent = processes.usage("-c", PARENT, CHILD)
    assert spent.cpu >= 0.3
    assert spent.peak_mb > 55


def test_a_command_that_fails_says_why():
    with pytest.raises(RuntimeError, match="no such thing"):
        processes.usage("-c", "raise SystemExit('no such thing')")
