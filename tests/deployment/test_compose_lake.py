"""The profile `lake` of the compose file: its worker, and a Spark as `heatmaps.sources.engine` demands it."""

import re
from pathlib import Path

import pytest

from heatmaps.config import settings
from heatmaps.config.celery import app
from heatmaps.sources import engine, sources_file
from tests.deployment.test_compose import in_bytes
from tests.services import compose
from tests.services.installation import ROOT
from tests.services.programs import found_or_skip
from tests.services.rehearsal import Rehearsal
from tests.sources.spark import HOME, Spark

FILE = compose.parsed()
WORKER, SURVEYOR, SPARK = (FILE["services"][name] for name in ("lakes", "surveys", "spark"))
SETTINGS = dict(line.split(" ", 1) for line in FILE["configs"]["spark_settings"]["content"].splitlines())


def queues(command):
    return command[command.index("-Q") + 1].split(",")


def test_each_worker_takes_from_a_queue_that_nobody_else_takes_from():
    """A draw never waits for Spark, nor one from a lake for a look at another lake."""
    workers = [service["command"] for service in FILE["services"].values() if "celery" in service["command"]]
    taken = [queue for command in workers for queue in queues(command)]
    assert sorted(taken) == sorted(queue.name for queue in app.conf.task_queues)
    assert queues(WORKER["command"]) == ["lakes"]
    assert queues(SURVEYOR["command"]) == ["surveys"]


def test_what_asks_a_lake_is_sent_to_a_worker_of_its_own():
    assert {task: route["queue"] for task, route in settings.CELERY_TASK_ROUTES.items()} == {
        "heatmaps.release": "draws",
        "heatmaps.source_release": "lakes",
        "heatmaps.survey": "surveys",
    }


@pytest.mark.parametrize("worker", [WORKER, SURVEYOR])
def test_its_workers_take_nothing_that_they_do_not_begin(worker):
    command = worker["command"]
    assert command[command.index("--prefetch-multiplier") + 1] == "1"
    assert command[command.index("--concurrency") + 1] == "2"


def test_spark_is_told_all_that_is_demanded():
    for key, value in engine.REQUIRED.items():
        assert SETTINGS[key] == value
    assert SETTINGS["spark.log.level"] in engine.QUIET
    assert not set(SETTINGS) & set(engine.LISTENERS)
    assert "rootLogger.level = error" in FILE["configs"]["spark_logs"]["content"]
    # Of an error its class alone: messages may hold rows.
    pattern = re.search(r"layout.pattern = (.*)", FILE["configs"]["spark_logs"]["content"])[1]
    assert "%m" not in pattern
    assert "%ex{0}" in pattern


def test_spark_is_of_the_clients_version():
    client = re.search(
        r"^pyspark-client==([\d.]+)", (ROOT / "heatmaps/sources/spark.lock").read_text(), re.M
    )[1]
    assert SPARK["image"].startswith(f"spark:{client}-")


def test_spark_keeps_nothing_and_is_reached_by_its_workers_alone():
    assert "ports" not in SPARK
    assert SPARK["networks"] == ["inside"]
    assert all(volume.endswith(":ro") for volume in SPARK["volumes"])
    scratch = [each for each in SPARK["tmpfs"] if each.startswith("/scratch:")]
    assert SPARK["environment"]["SPARK_LOCAL_DIRS"] == "/scratch"
    assert "mode=0700" in scratch[0]
    # Executors of such a Spark keep their output below its own folder, which is read-only else.
    assert any(each.startswith("/opt/spark/work:") for each in SPARK["tmpfs"])
    assert set(SPARK["secrets"]) == {"spark_token", "spark_secret"}
    holders = {name for name, each in FILE["services"].items() if "spark_token" in each["secrets"]}
    assert holders == {"lakes", "surveys", "spark"}


def test_workers_and_spark_see_the_lake_at_one_path_and_cannot_change_it():
    (lake,) = set(WORKER["volumes"]) & set(SURVEYOR["volumes"]) & set(SPARK["volumes"])
    assert lake.endswith(":/lake:ro")
    others = [each for each in FILE["services"].values() if each not in (WORKER, SURVEYOR, SPARK)]
    assert not [each for each in others if lake in each.get("volumes", [])]


def test_what_spark_keeps_in_memory_fits_its_limit():
    executors, _, each = re.search(r"local-cluster\[(\d+),(\d+),(\d+)\]", SPARK["command"][-1]).groups()
    scratch = next(part for part in SPARK["tmpfs"] if part.startswith("/scratch:"))
    held = in_bytes(re.search(r"size=(\w+)", scratch)[1]) + int(executors) * int(each) * 2**20
    assert held + in_bytes(SETTINGS["spark.driver.memory"]) < in_bytes(SPARK["mem_limit"])
    assert in_bytes(SETTINGS["spark.executor.memory"]) + 256 * 2**20 < int(each) * 2**20


def test_it_is_said_how_much_more_memory_it_takes():
    more = sum(in_bytes(each["mem_limit"]) for each in (WORKER, SURVEYOR, SPARK)) // 2**30
    assert f"three services and {more} GiB more" in (ROOT / "docker-compose.yml").read_text()
    assert f"({more} GiB in all)" in (ROOT / "docs/how-to/lake.md").read_text()


@pytest.mark.long
def test_the_commands_spark_is_found_safe(tmp_path):
    """The very command and settings, as a process here."""
    found_or_skip(Spark)
    for name in ("spark.conf", "log4j2.properties"):
        assert any(each["target"] == f"/etc/spark/{name}" for each in SPARK["configs"])
    with Rehearsal(tmp_path, FILE | {"services": {"spark": SPARK}}) as rehearsal:
        rehearsal.start()
        source = sources_file.read(toml(tmp_path, rehearsal))["trips"]
        with engine.lake(source) as lake:
            assert lake.ask("SELECT 1 AS one").to_pylist() == [{"one": 1}]
        children = [Path(f"/proc/{pid}/cmdline") for pid in pids()]
        token = (tmp_path / "secrets" / "spark_token").read_text().strip()
        secret = (tmp_path / "secrets" / "spark_secret").read_text().strip()
        told = [path.read_text() for path in children if path.exists()]
        assert any(str(HOME) in line for line in told)
        assert not [line for line in told if token in line or secret in line]


def pids():
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def toml(folder, rehearsal):
    path = folder / "sources.toml"
    path.write_text(
        f"""
        [[source]]
        name = "trips"
        kind = "parquet"
        table = "/lake/checkins"
        connect = "sc://localhost:{rehearsal.port("15002")}"
        token_file = "{folder / "secrets" / "spark_token"}"
        columns = {{ user = "user", lat = "lat", lon = "lon" }}
        opt_outs = {{ table = "/lake/opt_outs", user = "user" }}
        """
    )
    return path
