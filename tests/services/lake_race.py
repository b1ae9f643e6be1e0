"""Several workers at one survey or one release of a lake, at the same moment; prints who was elected.

And whether the clock waits while a worker enrols the users of a lake.

python -m tests.services.lake_race COUNT FOLDER
"""

import json
import sys
import threading
from datetime import timedelta
from pathlib import Path

import django

django.setup()

import pyarrow as pa  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from heatmaps import sources  # noqa: E402
from heatmaps.ingest.versions import surveys  # noqa: E402
from heatmaps.models import Drawing, SourceReading, SourceState, SourceSurvey  # noqa: E402
from heatmaps.releases import clock, lifecycle, source_readings  # noqa: E402
from mechanisms.guarantee import Relation  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.sources.lake import Lake  # noqa: E402
from tests.sources.reading import Reading  # noqa: E402

REQUEST = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
TIME = pa.array([1], pa.timestamp("us", tz="UTC"))


def at_once(count, work):
    """What each of the threads got."""
    barrier, outcomes = threading.Barrier(count), []

    def run():
        barrier.wait(timeout=60)
        try:
            outcomes.append(work())
        except Exception as error:  # noqa: BLE001 - the test wants to see it
            outcomes.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    crowd = [threading.Thread(target=run) for _ in range(count)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    return outcomes


def elected(outcomes):
    return [each for each in outcomes if each]


def is_waited_for_while_one_enrols(dataset):
    """Whether the clock, to which the version is due, stands still while a worker enrols."""
    enrols, may_go_on, went_on = threading.Event(), threading.Event(), threading.Event()
    enrol, sources.lake = surveys._enrol, Reading().session

    def enrol_slowly(*arguments):
        enrol(*arguments)
        enrols.set()
        may_go_on.wait(60)

    def tell():
        surveys.appear(timezone.now() + timedelta(seconds=60))
        went_on.set()
        connection.close()

    def look():
        surveys.run(dataset.pk)
        connection.close()

    surveys._enrol = enrol_slowly
    surveys.advance_by(dataset.created_by, dataset)
    threads = [threading.Thread(target=work) for work in (look, tell)]
    threads[0].start()
    assert enrols.wait(60)
    threads[1].start()
    is_waiting = not went_on.wait(10)
    may_go_on.set()
    for each in threads:
        each.join()
    assert dataset.enrolments.count() == 2
    return is_waiting


def main(count, folder):
    lake = Lake(Path(folder))
    settings.SOURCES_FILE = lake.sources_file
    settings.SOURCE_SLOT_SECONDS = 0.001
    lake.put(pa.table({"user": ["a"], "lat": [0.5], "lon": [0.5], "time": TIME}))
    steward = User.objects.create(username="steward", is_superuser=True)
    dataset = seed.make_dataset(steward, "lake", source="trips")

    surveys.advance_by(steward, dataset)
    looking = elected(at_once(count, lambda: surveys._begin(dataset.pk)))
    attempts = SourceSurvey.objects.get().attempts
    found = sources.pinned(sources.of(dataset)).store(dataset, rows=1, invalid={})
    SourceSurvey.objects.update(state="done", found=found, appears_at=timezone.now() - timedelta(seconds=1))
    told = elected(at_once(count, lambda: surveys.appear(timezone.now())))
    release = lifecycle.request_release(steward, dataset, REQUEST)
    while release.state == "reserved":
        clock.tick()
        release.refresh_from_db()
    reading = elected(at_once(count, lambda: source_readings.begin(release.pk)))
    tag = SourceReading.objects.get().tag
    drawing = elected(at_once(count, lambda: source_readings.claim(release, tag)))
    facts = {
        "looking": len(looking),
        "attempts": attempts,
        "told": told,
        "versions": dataset.versions.count(),
        "states": SourceState.objects.exclude(version=None).count(),
        "reading": [str(each) for each in reading] == [str(tag)],
        "drawing": drawing,
        "drawings": Drawing.objects.count(),
        "waits_for_enrolments": is_waited_for_while_one_enrols(
            seed.make_dataset(steward, "declared", Relation.REPLACE, source="trips")
        ),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
