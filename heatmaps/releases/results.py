"""Reads what a release published."""

import hashlib
from datetime import date

from heatmaps.models import Release, Result
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import Result as Released
from mechanisms.results.serialization import result_from_bytes


def result_of(release: Release) -> Released:
    """Returns the published map or point.

    Errors: Result.DoesNotExist without one, ValueError if it was changed.
    """
    return result_from_bytes(content_of_result(release))


def content_of_result(release: Release) -> bytes:
    """Returns a published result, as it is stored. Errors: as `result_of`."""
    result = Result.objects.get(pk=release.pk)
    content = bytes(result.content)
    if hashlib.sha256(content).hexdigest() != result.sha256:
        raise ValueError(f"the stored result of release {release.pk} is not the one that was published")
    return content


def facts_of_result(release: Release) -> tuple[str, date]:
    """Returns (SHA-256, day in UTC) of what was published, which is not read. Errors: Result.DoesNotExist."""
    digest, moment = Result.objects.values_list("sha256", "created_at").get(pk=release.pk)
    return digest, moment.date()


def heatmap_of(release: Release) -> Heatmap:
    """Returns the published map. Errors: as `result_of`; ValueError where what was published is no map."""
    released = result_of(release)
    if not isinstance(released, Heatmap):
        raise ValueError(f"release {release.pk} is no map")
    return released
