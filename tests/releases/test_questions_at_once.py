"""Questions that one person asks of several datasets at the same moment are counted one after the other."""

from threading import Event, Thread

import pytest
from django.db import connection, transaction

from heatmaps.ledger.errors import TooManyQuestions
from heatmaps.models import Release
from heatmaps.releases import lifecycle
from tests.ingest import conftest as ingest

for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

ON_POSTGRESQL = [pytest.param("postgresql", marks=pytest.mark.postgres)]  # SQLite has one writer at a time
LONG_ENOUGH_SECONDS = 1


@pytest.fixture
def db(database):
    """Real commits, seen by every thread."""


@pytest.mark.parametrize("database", ON_POSTGRESQL, indirect=True)
def test_nobody_asks_more_by_asking_two_datasets_at_once(make_dataset, add_checkins, analyst, ask, settings):
    settings.MOST_QUESTIONS_A_DAY = {"person": 1, "dataset": 10}
    city, village, told, tried = make_dataset("city"), make_dataset("village"), [], Event()
    add_checkins(city)
    add_checkins(village)

    def ask_the_other():
        try:
            told.append(lifecycle.request_release(analyst, village, ask()))
        except TooManyQuestions:
            told.append("refused")
        finally:
            tried.set()
            connection.close()

    other = Thread(target=ask_the_other)
    with transaction.atomic():
        lifecycle.request_release(analyst, city, ask())
        other.start()
        tried.wait(LONG_ENOUGH_SECONDS)
    other.join()

    assert told == ["refused"]
    assert Release.objects.count() == 1
