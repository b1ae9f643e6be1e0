"""`manage.py backup` and `restore`: beside a running server, nothing overwritten, nothing tampered taken."""

import hashlib
import io
import json
import sqlite3
import stat
import tarfile
from contextlib import closing
from types import SimpleNamespace

import pytest

from heatmaps.management import backup, server
from tests.services.installation import Installation

CHARGE = 10**12 // 2


@pytest.fixture(scope="module")
def city(world, tmp_path_factory):
    """An installation with three queued releases of one dataset."""
    made = world.installation(tmp_path_factory.mktemp("city"))
    made.script("killing", "queue", 3, "city")
    made.manage("createdemo", "--empty")
    return made


@pytest.fixture
def empty(tmp_path):
    (tmp_path / "restored").mkdir(mode=0o700)
    return Installation(folder=tmp_path / "restored")


@pytest.fixture(scope="module")
def archive(city, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "backup.tgz"
    city.manage("backup", path)
    return path


@pytest.fixture
def here(empty, monkeypatch, settings):
    """This process restores into the empty folder; the connection of the test run stays out of it."""
    settings.STATE_DIR, settings.KEY_DIR = empty.folder, empty.folder / "keys"
    monkeypatch.setattr(backup, "_place", lambda name: empty.folder / name)
    monkeypatch.setattr(backup, "connection", SimpleNamespace(vendor="sqlite", close=lambda: None))
    return empty


def contents(archive):
    with tarfile.open(archive) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}


def written(path, members, *, honest=True, more=()):
    """An archive as somebody else could make it: by default its manifest fits its members."""
    files = {name: content for name, content in members.items() if name != "manifest.json"}
    facts = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    }
    manifest = json.dumps({"format": 1, "members": facts}).encode() if honest else members["manifest.json"]
    with tarfile.open(path, "w:gz") as tar:
        for name, content in {"manifest.json": manifest, **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for entry in more:
            tar.addfile(entry)
    return path


def left_in(installation):
    """Files in a state folder, but for what every command makes."""
    kept = {"django-secret-key", "second-factor-key", "serve.lock"}
    return {path.name for path in installation.folder.rglob("*") if path.is_file()} - kept


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.long
def test_it_saves_beside_a_running_server_and_restores_everything(city, empty, tmp_path):
    with city.serving(program=("-m", "tests.services.killing", "serve")):
        told = city.manage("backup", tmp_path / "backup.tgz").stdout
    assert "keep it private" in told
    assert mode(tmp_path / "backup.tgz") == 0o600
    told = empty.manage("restore", tmp_path / "backup.tgz").stdout
    assert "city: ok," in told
    assert "On hold: this ledger does not know what was released after" in told
    report = empty.script("killing", "report", "city")
    assert (len(report["states"]), report["committed"], report["problem"]) == (3, 3 * CHARGE, "")
    published = report["states"].count("published")  # the server may have drawn before the backup
    for name in ("credentials", "credentials-administrator"):
        assert (empty.folder / name).read_bytes() == (city.folder / name).read_bytes()
    secret = {path.name: path.read_bytes() for path in (city.folder / "keys").iterdir()}
    assert {path.name: path.read_bytes() for path in (empty.folder / "keys").iterdir()} == secret
    files = [path for path in empty.folder.rglob("*") if path.is_file() and path.name != "serve.lock"]
    assert {mode(path) for path in files} <= {0o600}
    said = empty.manage(
        "resume", "--reason", "a test", "--other-copy", "stopped", "--charge", "city:presence=0"
    )
    assert "Resumed 1 datasets" in said.stdout
    report = empty.script("killing", "report", "city")
    assert report["states"].count("published") == published
    assert report["states"].count("failed") == 3 - published
    assert (report["committed"], report["problem"]) == (3 * CHARGE, "")


def test_it_overwrites_nothing(city, archive):
    before = archive.read_bytes()
    again = city.manage("backup", archive, check=False)
    assert (again.returncode, archive.read_bytes()) == (1, before)
    assert "overwrites nothing" in again.stderr
    database = (city.folder / "hazemap.sqlite3").read_bytes()
    over = city.manage("restore", archive, check=False)
    assert over.returncode == 1
    assert "exists already; restore into an empty folder" in over.stderr
    assert (city.folder / "hazemap.sqlite3").read_bytes() == database
    assert [path.name for path in archive.parent.iterdir() if path.name.startswith(".hazemap-")] == []


def test_a_log_left_behind_is_not_replayed_into_it(archive, empty):
    (empty.folder / "hazemap.sqlite3-wal").write_bytes(b"left behind")
    refused = empty.manage("restore", archive, check=False)
    assert "hazemap.sqlite3-wal exists already" in refused.stderr


def refusal(empty, path):
    with pytest.raises(backup.BackupError) as refused, backup.restored(path):
        raise AssertionError("it was restored")
    assert left_in(empty) == set()
    return str(refused.value)


def test_the_archive_itself_is_accepted(archive, here):
    with backup.restored(archive) as saved:
        assert left_in(here) == {"hazemap.sqlite3", "credentials", "credentials-administrator"} | {
            path.name for path in (here.folder / "keys").glob("*.key")
        }
    assert saved.members == len(contents(archive)) - 1


def test_a_damaged_archive_is_refused(archive, here, tmp_path):
    content = archive.read_bytes()
    flipped = bytearray(content)
    flipped[len(flipped) // 2] ^= 0xFF
    for number, damaged in enumerate((bytes(flipped), content[: len(content) // 2], b"", b"no archive")):
        path = tmp_path / f"damaged-{number}"
        path.write_bytes(damaged)
        assert "backup" in refusal(here, path)


def test_a_member_that_was_exchanged_is_refused(archive, here, tmp_path):
    members = contents(archive) | {"credentials": b"username=steward\npassword=mine\n"}
    assert "credentials" in refusal(here, written(tmp_path / "exchanged", members, honest=False))
    absent = {name: content for name, content in contents(archive).items() if name != "credentials"}
    assert "not those of its manifest" in refusal(here, written(tmp_path / "absent", absent, honest=False))


def test_nothing_is_written_outside_of_the_folder(archive, here, tmp_path):
    for number, name in enumerate(("../evil", "/tmp/evil", "keys/../../evil", "keys/.hidden", "uploads/x")):
        path = written(tmp_path / f"outside-{number}", contents(archive) | {name: b"x"})
        assert "a member that no backup writes" in refusal(here, path)
    link = tarfile.TarInfo("keys/link.key")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    assert "a member that no backup writes" in refusal(
        here, written(tmp_path / "link", contents(archive), more=[link])
    )
    assert not list(tmp_path.glob("**/evil"))


def test_a_ledger_that_was_changed_in_the_archive_is_named_and_taken_away(archive, empty, tmp_path):
    """Whoever makes a fitting manifest still has the chain of events against him."""
    database = tmp_path / "changed.sqlite3"
    database.write_bytes(contents(archive)["hazemap.sqlite3"])
    with closing(sqlite3.connect(database, isolation_level=None)) as changed:
        changed.execute("PRAGMA journal_mode=DELETE")
        changed.execute("UPDATE heatmaps_account SET committed = 0 WHERE kind = 'presence'")
    members = contents(archive) | {"hazemap.sqlite3": database.read_bytes()}
    refused = empty.manage("restore", written(tmp_path / "changed", members), check=False)
    assert refused.returncode == 1
    assert "city: BAD, account presence" in refused.stdout
    assert "does not verify; nothing was restored" in refused.stderr
    assert left_in(empty) == set()


def test_a_database_without_its_key_is_refused(archive, empty, tmp_path):
    other = {name: b"00" * 32 for name in contents(archive) if name.endswith(".key")}
    path = written(tmp_path / "other-key", contents(archive) | other)
    refused = empty.manage("restore", path, check=False)
    assert "is not the key this dataset was made with" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (refused.returncode, left_in(empty)) == (1, set())


def test_it_restores_nothing_under_a_running_server(archive, empty):
    # What a server holds while it runs: `test_serve.py` starts a second one beside it.
    with server.only_server(empty.folder):
        refused = empty.manage("restore", archive, check=False)
    assert "another server uses" in refused.stderr
    assert refused.returncode == 1
    assert left_in(empty) == set()


@pytest.mark.parametrize("act", [backup.save, lambda path: backup.restored(path).__enter__()])
def test_postgresql_has_tools_of_its_own(monkeypatch, tmp_path, act):
    monkeypatch.setattr(backup, "connection", SimpleNamespace(vendor="postgresql"))
    with pytest.raises(backup.BackupError, match="for PostgreSQL use pg_dump"):
        act(tmp_path / "file")
