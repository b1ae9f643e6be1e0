"""Proposes the public map that a new one starts from, by public facts alone."""

from collections.abc import Sequence
from dataclasses import replace

from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset
from heatmaps.releases import quotes
from heatmaps.releases.quotes import ReleaseRequest


def proposed(dataset: Dataset, request: ReleaseRequest, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first of them that is the dataset's own; None where the question without a guide was answered.

    That answer is free. A map of another dataset is offered, never proposed: who made it may not mean well.

    Errors: `ParameterError` for a question that is refused without a guide, too.
    """
    plain, version = quotes.plan(dataset, replace(request, guide=None)), quotes.latest_version(dataset)
    if version is not None and quotes.same_release(dataset, plain.question(version)):
        return None
    return first_own(dataset, fitting)


def first_own(dataset: Dataset, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first that is a map of the dataset or a file that its stewards stored."""
    own = (one for one in fitting if one.release is None or one.release.dataset_id == dataset.pk)
    return next(own, None)
