"""Proposes the public map that a new one starts from, by public facts alone."""

from collections.abc import Sequence
from dataclasses import replace

from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset
from heatmaps.releases.question import latest_version, same_release
from heatmaps.releases.request import Plan, ReleaseRequest


def proposed(dataset: Dataset, request: ReleaseRequest, fitting: Sequence[Chosen]) -> Chosen | None:
    """Returns the first that may be proposed; None where the question without a guide was answered.

    That answer is free. Errors: `ParameterError` for a question that is refused without a guide, too.
    """
    plain, version = Plan.of(dataset, replace(request, guide=None)), latest_version(dataset)
    if version is not None and same_release(dataset, plain.question(version)):
        return None
    return first_proposable(fitting, request.resolution)


def first_proposable(fitting: Sequence[Chosen], resolution: int | None) -> Chosen | None:
    """Returns the first map of the same people whose measured squares can be counted in; None: there is none.

    The same people: by data version and slice. resolution: of the new map; None: not known yet.
    """
    # Any other start is offered alone: it is taken for where people are inside of measured rectangles, so
    # sums have no stated error.
    for start in fitting:
        measured = start.guide.measured if start.same_people else None
        if measured is None or measured.shares is not None:
            continue
        if resolution is None or resolution**2 >= 1 << measured.deepest:
            return start
    return None
