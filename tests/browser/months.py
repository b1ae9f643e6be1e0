"""Two public maps of two months: in May fewer people are in the north-west, and as many in the south-east.

python -m tests.browser.months: their ids, as JSON.
"""

import json
from datetime import UTC, datetime
from uuid import uuid4

import django

django.setup()

import numpy as np  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

from heatmaps.ingest.versions.advance import next_version  # noqa: E402
from heatmaps.models import Upload, UploadState  # noqa: E402
from heatmaps.releases import clock, lifecycle, publication  # noqa: E402
from heatmaps.releases.lifecycle import ReleaseRequest  # noqa: E402
from mechanisms.space.grid import FINEST_LEVEL, morton_encode  # noqa: E402
from tests.services import seed  # noqa: E402

NORTH_WEST, SOUTH_EAST = (0.2, 0.8), (0.8, 0.2)  # shares of the region, from the south-west
CROWDS = {4: {NORTH_WEST: 600, SOUTH_EAST: 400}, 5: {NORTH_WEST: 100, SOUTH_EAST: 400}}


def main():
    steward = User.objects.create_user("months-steward")
    limits = {"presence": "20"}
    dataset = seed.make_dataset(steward, "months", limits=limits, expected_persons=1_000)
    add_crowds(dataset)
    made = {}
    for month in CROWDS:
        bounds = {"since": f"2026-0{month}-01", "until": f"2026-0{month + 1}-01"}
        question = ReleaseRequest(mechanism="adaptive", epsilon="4", resolution=64, **bounds)
        release = lifecycle.request_release(steward, dataset, question)
        clock.complete(release.pk)
        publication.set_public(steward, release, public=True)
        made[f"2026-0{month}"] = str(release.pk)
    print(json.dumps(made))


def add_crowds(dataset):
    """Around each place, 5 km to every side."""
    facts = {"state": UploadState.READY, "uploaded_by": dataset.created_by, "file_name": "checkins.csv"}
    upload = Upload.objects.create(dataset=dataset, size_bytes=1, content_digest=uuid4().hex, **facts)
    random, rows, person = np.random.default_rng(1), [], 0
    for month, crowd in CROWDS.items():
        moment = int(datetime(2026, month, 15, tzinfo=UTC).timestamp())
        for middle, persons in crowd.items():
            shares = np.array(middle) + random.uniform(-0.05, 0.05, (persons, 2))
            places = shares * 2**FINEST_LEVEL
            for column, line in places.astype(np.int64).tolist():
                cell = int(morton_encode(column, line, FINEST_LEVEL))
                rows.append((person, cell, moment))
                person += 1
    seed.store(upload, rows)
    next_version(dataset, actor=dataset.created_by)


if __name__ == "__main__":
    main()
