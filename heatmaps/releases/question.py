"""Identifies questions: equal questions about one data version have one digest, and one answer."""

import hashlib
import json

from heatmaps.data_slice import DataSlice
from heatmaps.models import Dataset, DataVersion, Release, ReleaseState
from heatmaps.models.fraction_field import fraction_text
from mechanisms.catalogue import registry


def question_of(release: Release) -> str:
    """Returns the SHA-256 of a release's question, from its other columns."""
    mechanism_version = release.mechanism_version
    body = {
        "dataset": release.version.dataset_id,
        "version": release.version.number,
        "mechanism": release.mechanism,
        "epsilon": fraction_text(release.epsilon),
        "resolution": release.resolution,
        "parameters": release.parameters,
        **({"delta": fraction_text(release.delta)} if release.delta else {}),
        **({"guide": release.guide_sha256} if release.guide_sha256 else {}),
        # Left out as in questions of before, which only the first versions answered.
        **({"mechanism_version": mechanism_version} if mechanism_version > 1 else {}),
        **data_slice_of(release).facts(),
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def check_delta(release: Release) -> None:
    """Refuses a stored release whose mechanism takes no such δ. Errors: `ParameterError`."""
    registry.get(release.mechanism).delta(release.delta)


def data_slice_of(release: Release) -> DataSlice:
    """Returns the slice of the data that a stored release asks about."""
    return DataSlice.stored(release.since, release.until, release.rectangle)


def latest_version(dataset: Dataset) -> DataVersion | None:
    """Returns the newest version; None before the first."""
    return DataVersion.objects.filter(dataset=dataset).order_by("-number").first()


def same_release(dataset: Dataset, question: str) -> Release | None:
    """Returns the first published release that answered the question."""
    published = Release.objects.filter(dataset=dataset, question=question, state=ReleaseState.PUBLISHED)
    return published.order_by("requested_at").first()
