"""Databases of earlier versions: with all migrations that were replaced, or with some of them."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from heatmaps import schema

# As the last version that had them recorded them.
EARLIER = [
    "0001_tables",
    "0002_event_triggers",
    "0003_request_keys",
    "0004_ingest_options",
    "0005_questions",
    "0006_results",
    "0007_people",
    "0008_allowances",
    "0009_schedules",
    "0010_shards",
    "0011_delta",
    "0015_retention",
    "0014_packed_checkins",
    "0016_queue",
    "0017_packing_attempts",
    "0018_shard_pieces",
]
REPLACING = ["0001_tables_of_2026", "0002_triggers_of_2026"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def recorded():
    """The rows of a database that was made by the last version that had the migrations."""
    rows = MigrationRecorder(connection).migration_qs.filter(app="heatmaps")
    rows.filter(name__in=[*EARLIER, *REPLACING]).delete()
    rows.bulk_create(rows.model(app="heatmaps", name=name) for name in EARLIER)
    return rows


def test_a_database_with_all_earlier_migrations_is_migrated(recorded, capsys):
    assert not schema.is_behind(connection)
    call_command("migrate")
    assert "No migrations to apply" in capsys.readouterr().out
    assert set(recorded.values_list("name", flat=True)) >= {*EARLIER, *REPLACING}


@pytest.mark.parametrize("missing", [EARLIER[-1:], EARLIER[2:], ["0002_event_triggers", "0018_shard_pieces"]])
def test_a_database_with_some_of_them_is_refused_and_told_which_version_it_needs(recorded, missing):
    recorded.filter(name__in=missing).delete()
    assert schema.is_behind(connection)
    with pytest.raises(CommandError, match=rf"lacks .*{missing[-1]}.*of commit {schema.LAST_WITH_ALL} first"):
        call_command("migrate")
    assert not recorded.filter(name__in=[*missing, *REPLACING]).exists()
