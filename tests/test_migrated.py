"""What was migrated once and copied is what migrations make."""

import re
import sqlite3
from contextlib import closing

import pytest
from django.core.management import call_command
from django.db import connection

from tests import migrated

# A word of each dump's own; casts of lists of texts, which a restored database writes otherwise.
OWN = re.compile(r"^\\(?:un)?restrict .*$|::(?:text|character varying)(?:\[\])?|[()]", re.MULTILINE)


def schema(path, *, uri=False):
    with closing(sqlite3.connect(path, uri=uri)) as database:
        return database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.mark.postgres
def test_a_restored_database_is_dumped_as_the_one_before(postgres, migrated_postgres, tmp_path):
    installation, name = migrated_postgres
    postgres.dump(name, tmp_path / "again.sql")
    before, again = (
        OWN.sub("", path.read_text())
        for path in (installation.folder / migrated.DUMP, tmp_path / "again.sql")
    )
    assert before.count("CREATE TRIGGER") > 10
    assert before == again


def test_the_database_of_the_tests_has_the_tables_of_the_copy(db, migrated_sqlite):
    """And no migration is left for it."""
    if connection.vendor != "sqlite":
        pytest.skip("copied as a template")
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master ORDER BY name")
        assert cursor.fetchall() == schema(migrated_sqlite.folder / "hazemap.sqlite3")
    call_command("migrate", "--check", verbosity=0)


def test_other_code_is_migrated_again(tmp_path, monkeypatch):
    runs = []

    def migrate(folder):
        runs.append(folder)
        (folder / "state").write_text(str(len(runs)))

    kept = tmp_path / "sqlite"
    for code, count in (("a", 1), ("a", 1), ("b", 2)):
        monkeypatch.setattr(migrated, "fingerprint", lambda code=code: code)
        migrated._renew(kept, migrate)
        assert (len(runs), (kept / "state").read_text()) == (count, str(count))


def test_what_was_begun_and_broken_off_is_not_taken(tmp_path):
    def migrate(folder):
        (folder / "half").touch()
        raise KeyboardInterrupt

    kept = tmp_path / "sqlite"
    with pytest.raises(KeyboardInterrupt):
        migrated._renew(kept, migrate)
    assert not kept.exists()
    migrated._renew(kept, lambda folder: (folder / "whole").touch())
    assert [path.name for path in kept.iterdir()] == ["whole"]
