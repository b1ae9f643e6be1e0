"""Finds whether today's program keeps the promise that a release was charged for."""

import structlog

from heatmaps.models import Release
from heatmaps.releases import quotes
from heatmaps.releases.readings import Draw
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee

_log = structlog.stdlib.get_logger(__name__)


class BrokenPromise(Exception):  # noqa: N818 - what happened
    """The promise that was charged for cannot be kept."""


def draw_of(release: Release) -> Draw:
    """What draws as promised. Errors: `BrokenPromise`, where another version of the program spent, or nobody
    may ask it: whoever writes rows and events could reserve what `quotes.plan` refuses."""
    try:
        draw = quotes.draw_of(release)
        draw.check(quotes.data_slice_of(release))
    except ParameterError:
        draw = None
    if draw is None or _today(release, draw) != Guarantee.from_json(release.guarantee):
        _log.error("release.promised_by_another_version", release=release.pk)
        raise BrokenPromise
    return draw


def is_kept(release: Release) -> bool:
    """Tells whether `draw_of` finds what draws as promised."""
    try:
        draw_of(release)
    except BrokenPromise:
        return False
    return True


def _today(release: Release, draw: Draw) -> Guarantee:
    return quotes.promise(release.dataset, draw.mechanism.guarantee, quotes.data_slice_of(release))
