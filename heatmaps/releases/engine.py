"""Makes what draws a stored release, as long as today's program keeps the promise that was charged for."""

from fractions import Fraction

import structlog

from heatmaps.guides import choices
from heatmaps.models import Release
from heatmaps.releases import readings, slice_guarantee
from heatmaps.releases.question import data_slice_of
from heatmaps.releases.readings import Draw
from heatmaps.releases.request import DrawTerms
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee
from mechanisms.randomness import SystemSource
from mechanisms.results.serialization import Result

_log = structlog.stdlib.get_logger(__name__)


class BrokenPromise(Exception):  # noqa: N818 - what happened
    """Says that the promise that was charged for cannot be kept."""


def draw_of(release: Release) -> Draw:
    """Returns the draw that a stored release asked for, with its guide and by its version.

    Errors: `ParameterError` if it is gone by now.
    """
    entry = registry.get(release.mechanism)
    texts = [parameter.name for parameter in entry.parameters if parameter.kind in ("zones", "places")]
    terms = DrawTerms(
        entry=entry,
        epsilon=release.epsilon,
        delta=release.delta,
        resolution=release.resolution,
        parameters={
            name: value if name in texts else Fraction(value) for name, value in release.parameters.items()
        },
        guide=choices.bound_guide(release),
        version=release.mechanism_version,
    )
    return readings.draw_for(release.dataset, terms, build=readings.not_beforehand)


def promised_draw_of(release: Release) -> Draw:
    """Returns the draw that keeps a release's promise.

    Errors: `BrokenPromise`, where another version of the program spent, or nobody may ask it: whoever writes
    rows and events could reserve what `Plan.of` refuses.
    """
    try:
        draw, data_slice = draw_of(release), data_slice_of(release)
        draw.check(data_slice)
    except ParameterError:
        draw = None
    if draw is None or slice_guarantee.promise(
        release.dataset, draw.mechanism.guarantee, data_slice
    ) != Guarantee.from_json(release.guarantee):
        _log.error("release.promised_by_another_version", release=release.pk)
        raise BrokenPromise
    return draw


def result_of(release: Release) -> Result:
    """Reads the data and draws. Errors: `BrokenPromise`."""
    draw = promised_draw_of(release)
    return draw.draw(release.dataset, release.version, data_slice_of(release), SystemSource())


def is_kept(release: Release) -> bool:
    """Tells whether `promised_draw_of` finds what draws as promised."""
    try:
        promised_draw_of(release)
    except BrokenPromise:
        return False
    return True
