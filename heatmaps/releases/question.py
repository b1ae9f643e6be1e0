"""Identifies questions: equal questions about one data version have one digest, and one answer."""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from heatmaps.data_slice import DataSlice
from heatmaps.models import Dataset, DataVersion, Release, ReleaseState
from heatmaps.models.fraction_field import fraction_text
from mechanisms.catalogue import registry
from mechanisms.mechanism import Mechanism
from mechanisms.results.distances import Places
from mechanisms.results.zones import Zones

_MOST_DIGITS: Final = 80  # after the point: a text of 40 characters with an exponent of -30 has fewer


def digest(
    version: DataVersion,
    *,
    mechanism: str,
    epsilon: Fraction,
    delta: Fraction,
    resolution: int | None,
    parameters: Mapping[str, int | str],
    mechanism_version: int,
    guide_sha256: str,
    data_slice: DataSlice,
) -> str:
    """Returns the SHA-256 of a question about a data version: equal questions have equal answers."""
    body = {
        "dataset": version.dataset_id,
        "version": version.number,
        "mechanism": mechanism,
        "epsilon": fraction_text(epsilon),
        "resolution": resolution,
        "parameters": parameters,
        **({"delta": fraction_text(delta)} if delta else {}),
        **({"guide": guide_sha256} if guide_sha256 else {}),
        # Left out as in questions of before, which only the first versions answered.
        **({"mechanism_version": mechanism_version} if mechanism_version > 1 else {}),
        **data_slice.facts(),
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def question_of(release: Release) -> str:
    """Returns the digest of a stored release's question, from its other columns."""
    return digest(
        release.version,
        mechanism=release.mechanism,
        epsilon=release.epsilon,
        delta=release.delta,
        resolution=release.resolution,
        parameters=release.parameters,
        mechanism_version=release.mechanism_version,
        guide_sha256=release.guide_sha256,
        data_slice=data_slice_of(release),
    )


def check_delta(release: Release) -> None:
    """Errors: `ParameterError` where a stored release's mechanism takes no such δ."""
    registry.get(release.mechanism).delta(release.delta)


def data_slice_of(release: Release) -> DataSlice:
    """Returns the slice of the data that a stored release asks about."""
    return DataSlice.stored(release.since, release.until, release.rectangle)


def spelled(mechanism: Mechanism) -> dict[str, int | str]:
    """Returns every parameter, also those left to the mechanism: an int, the shortest decimal, or a text."""
    values = {
        parameter.name: getattr(mechanism, parameter.name)
        for parameter in registry.get(mechanism.name).parameters
    }
    return {name: _spelling(value) for name, value in values.items()}


def latest_version(dataset: Dataset) -> DataVersion | None:
    """Returns the newest version; None before the first."""
    return DataVersion.objects.filter(dataset=dataset).order_by("-number").first()


def same_release(dataset: Dataset, question: str) -> Release | None:
    """Returns the first published release that answered the question."""
    published = Release.objects.filter(dataset=dataset, question=question, state=ReleaseState.PUBLISHED)
    return published.order_by("requested_at").first()


def _spelling(value: int | Fraction | Zones | Places) -> int | str:
    if isinstance(value, Zones | Places):
        return value.text
    return value if isinstance(value, int) else _decimal(value)


def _decimal(value: Fraction) -> str:
    """The shortest plain spelling. Errors: ValueError if there is no finite one."""
    units = abs(value) * 10**_MOST_DIGITS
    if units.denominator != 1:
        raise ValueError("a parameter has no finite decimal spelling")
    whole, digits = divmod(units.numerator, 10**_MOST_DIGITS)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{digits:0{_MOST_DIGITS}}".rstrip("0").rstrip(".")
