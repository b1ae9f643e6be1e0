"""Asks for releases from a lake and tells what came of them: commands as lines of JSON, answers likewise.

python -m tests.sources.asker
"""

import json
import sys
from pathlib import Path

import django

django.setup()

import numpy as np  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connections  # noqa: E402

from heatmaps import datasets, masses  # noqa: E402
from heatmaps.data_slice import WHOLE  # noqa: E402
from heatmaps.datasets import NewDataset  # noqa: E402
from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.ingest.versions import surveys  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, DataVersion, Drawing, Release, SourceState, SourceSurvey, UserForm  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from heatmaps.releases.request import Plan  # noqa: E402
from mechanisms.guarantee import Relation  # noqa: E402
from mechanisms.space.grid import Region  # noqa: E402
from tests.sources.witness import digest  # noqa: E402

REGION = Region(-98.3, 29.8, -97.3, 31.0)
RESOLUTION = 64


def make(source, *slugs):
    """Datasets that read the lake, and the surveys for their first versions."""
    steward, _ = User.objects.get_or_create(username="steward", is_superuser=True)
    for slug in slugs:
        surveys.advance_by(steward, datasets.create(steward, _new(slug, source=source)))


def state():
    """How many of them have their first version, and what went wrong with the others."""
    failures = SourceSurvey.objects.exclude(failure="").values_list("failure", flat=True)
    return {"versions": DataVersion.objects.exclude(dataset__source="").count(), "failures": list(failures)}


def upload(paths):
    """The digest of the masses that an upload of the same files gives."""
    steward = User.objects.get(username="steward")
    dataset = datasets.create(steward, _new("here"))
    Dataset.objects.filter(pk=dataset.pk).update(user_form=UserForm.AS_SENT)
    dataset.refresh_from_db()
    for path in paths:
        with Path(path).open("rb") as file:
            made = uploads.receive(steward, dataset, file, name="rows.parquet", enqueue=False)
        uploads.run(made.pk)
    version = dataset.versions.order_by("number").last()
    mechanism = Plan.of(dataset, _request("0.6")).draw.mechanism
    level, unit = mechanism.level, mechanism.unit
    assert sum(pq.read_metadata(path).num_rows for path in paths) > 0
    found = masses.read(dataset, version, level=level, unit=unit, data_slice=WHOLE)
    assert np.count_nonzero(found.masses) > 100
    return digest(found)


def ask(slug, epsilon):
    person, dataset = User.objects.get(username="steward"), Dataset.objects.get(slug=slug)
    return str(lifecycle.request_release(person, dataset, _request(epsilon)).pk)


def state_of(release_id):
    return Release.objects.values_list("state", flat=True).get(pk=release_id)


def is_settled(release_id):
    """Whether its draw has an outcome, which may still wait for its moment."""
    drawing = Drawing.objects.filter(pk=release_id, state__in=["drawn", "failed"])
    return drawing.exists() or state_of(release_id) not in ("reserved", "spent")


def rows(slug):
    """Of the first version, as stewards are told."""
    return SourceState.objects.get(dataset__slug=slug).rows


def report(release_id):
    release = Release.objects.get(pk=release_id)
    account = release.dataset.accounts.get(kind="presence")
    kept = Release.objects.filter(dataset=release.dataset).exclude(state="cancelled")
    # What puts a release off moves no budget.
    moves = release.dataset.events.filter(release=release.pk).exclude(kind__in=["late", "postpone"])
    is_published = release.state == "published"
    return {
        "state": release.state,
        "moves": list(moves.order_by("sequence").values_list("kind", flat=True)),
        "level": lifecycle.heatmap_of(release).level if is_published else None,
        "charges": list(release.charges.filter(account=account).values_list("amount", flat=True)),
        "committed": account.committed,
        "charged": sum(kept.filter(charges__account=account).values_list("charges__amount", flat=True)),
        "problem": verify(release.dataset).problem,
    }


def _new(slug, **facts):
    limits = {"presence": "100"}
    return NewDataset(
        slug=slug, title="A city", region=REGION, relation=Relation.ADD_REMOVE, limits=limits, **facts
    )


def _request(epsilon):
    return lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=RESOLUTION)


def main():
    acts = {
        "make": make,
        "state": state,
        "upload": upload,
        "ask": ask,
        "is_settled": is_settled,
        "state_of": state_of,
        "report": report,
        "rows": rows,
    }
    for line in sys.stdin:
        act, *arguments = json.loads(line)
        connections.close_all()  # the database may have been killed meanwhile
        print(json.dumps(acts[act](*arguments)), flush=True)


if __name__ == "__main__":
    main()
