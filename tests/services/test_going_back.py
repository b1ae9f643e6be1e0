"""No database that goes back draws again: each way of going back, with the record kept, copied and gone."""

import shutil
import subprocess

import pytest

from tests.services.installation import Installation
from tests.services.programs import Postgres, wait_until

QUEUED = 3
HALF = 10**12 // 2
RECORDS = ("kept", "copied along", "gone")


def going_back(installation, act, *arguments):
    return installation.script("going_back", act, *arguments)


@pytest.fixture
def queued(world, tmp_path):
    """An installation with releases in the queue, none of them drawn."""
    made = world.installation(tmp_path)
    made.script("killing", "queue", QUEUED, "city")
    return made


def restored(archive, folder):
    """What the command makes of a backup."""
    folder.mkdir(mode=0o700)
    made = Installation(folder=folder)
    assert "On hold" in made.manage("restore", archive).stdout
    return made


def with_record(made, installation, record):
    """The record of an installation: where it is, copied along, or gone."""
    original = installation.folder.with_name(f"{installation.folder.name}-record")
    made.record = made.folder.with_name(f"{made.folder.name}-record") if record != "kept" else original
    shutil.rmtree(made.record) if record == "gone" and made.record.exists() else None
    if record == "copied along":
        shutil.copytree(original, made.record, dirs_exist_ok=True)
    return made


def assert_draws_nothing(made):
    report = going_back(made, "draw", "city")
    assert (report["drawn"], report["committed"], report["problem"]) == ([], QUEUED * HALF, "")
    assert report["cause"] is not None


def assert_drew_each_once(report, *, cause=None):
    assert (sorted(report["drawn"]), report["cause"]) == (sorted(set(report["drawn"])), cause)
    assert (len(report["drawn"]), report["committed"], report["problem"]) == (QUEUED, QUEUED * HALF, "")


def test_a_restored_backup_draws_nothing_that_was_drawn_since(queued, tmp_path):
    queued.manage("backup", tmp_path / "backup.tgz")
    assert_drew_each_once(going_back(queued, "draw", "city"))
    made = restored(tmp_path / "backup.tgz", tmp_path / "other")
    assert_draws_nothing(with_record(made, queued, "kept"))


@pytest.mark.long
def test_no_copy_of_a_folder_draws_whether_the_first_server_still_runs_or_not(queued, tmp_path):
    queued.manage("backup", tmp_path / "backup.tgz")
    copies = []
    for number, record in enumerate(RECORDS):
        made = restored(tmp_path / "backup.tgz", tmp_path / f"restored-{number}")
        copies.append(with_record(made, queued, record))
        shutil.copytree(queued.folder, tmp_path / f"copied-{number}")
        copies.append(with_record(Installation(folder=tmp_path / f"copied-{number}"), queued, record))
    for made in copies:  # the first server has everything still before it
        assert_draws_nothing(made)
    assert_drew_each_once(going_back(queued, "draw", "city"))
    original = queued.folder.with_name(f"{queued.folder.name}-record")
    share = [made for made in copies if made.record == original]
    assert len(share) == 2
    for made in share:  # it has ended; the others have nothing that it changed
        assert_draws_nothing(made)


@pytest.fixture
def queued_postgres(world, postgres, tmp_path):
    made = world.installation(tmp_path, "postgresql")
    made.script("killing", "queue", QUEUED, "city")
    yield made, made.database
    postgres.drop(made.database)  # replicas copy all that the server has


@pytest.mark.long
def test_a_worker_whose_database_is_restored_under_it_draws_nothing_again(
    queued_postgres, postgres, tmp_path
):
    made, database = queued_postgres
    dump = tmp_path / "dump"
    whose = ["-h", "127.0.0.1", "-p", str(postgres.port), "-U", "hazemap", "-d", database]
    subprocess.run([Postgres._program("pg_dump"), *whose, "-Fc", "-f", dump], check=True)
    with made.running("-m", "tests.services.going_back", "keep", "city"):
        ended = "SELECT count(*) FROM heatmaps_release WHERE state = 'published'"
        wait_until(lambda: postgres.value(ended, database) == QUEUED, seconds=300, what="every draw")
        restore = [Postgres._program("pg_restore"), *whose, "--clean", "--if-exists", "--single-transaction"]
        subprocess.run([*restore, dump], check=True)
        held = "SELECT hold_cause FROM heatmaps_installation"
        wait_until(lambda: postgres.value(held, database) == "older", seconds=300, what="the hold")
    assert_drew_each_once(going_back(made, "report", "city"), cause="older")


@pytest.mark.long
def test_a_replica_that_lagged_when_it_took_over_draws_nothing_again(queued_postgres, postgres, tmp_path):
    made, database = queued_postgres
    with postgres.replica() as replica:
        assert_drew_each_once(going_back(made, "draw", "city"))
        for record in RECORDS:  # each with a database of its own, as the replica had it
            folder = shutil.copytree(made.folder, tmp_path / f"record {record}")
            (folder / "draws").unlink()
            other = Installation(folder=folder, database_url=replica.url(replica.new_database(database)))
            assert_draws_nothing(with_record(other, made, record))


@pytest.mark.long
def test_what_was_drawn_since_is_charged_as_the_record_says(queued, tmp_path):
    queued.manage("createdemo", "--empty")
    queued.manage("backup", tmp_path / "backup.tgz")
    for epsilon in ("0.25", "0.125"):
        going_back(queued, "ask", "city", epsilon)
    assert going_back(queued, "draw", "city")["states"] == ["published"] * (QUEUED + 2)
    made = with_record(restored(tmp_path / "backup.tgz", tmp_path / "other"), queued, "kept")
    words = made.manage("resume", "--reason", "the disk broke", "--other-copy", "stopped").stdout
    assert "charged: what the record says" in words
    assert "/sign-in/new-password/" in words
    after = going_back(made, "draw", "city")
    assert (after["states"], after["cause"], after["problem"]) == (["failed"] * QUEUED, None, "")
    # Those that were queued keep their own charge.
    assert after["committed"] == QUEUED * HALF + HALF // 2 + HALF // 4


@pytest.mark.long
def test_kills_while_electing_hold_nothing_and_draw_nothing_twice(queued):
    report = going_back(queued, "kill", 20)  # the two moments in turn: nothing here is drawn by lot
    assert len(report["outcomes"]) == 20
    assert report["cause"] is None
    assert {tuple(outcome) for outcome in report["outcomes"][::2]} == {(True, False, "failed", False)}
    assert {tuple(outcome) for outcome in report["outcomes"][1::2]} == {(True, False, "running", True)}
