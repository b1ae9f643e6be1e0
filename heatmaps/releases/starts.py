"""Proposes the public map that a new one starts from, by public facts alone."""

from collections.abc import Sequence
from dataclasses import replace

from heatmaps.guides.chain import chain
from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset
from heatmaps.releases import quotes
from heatmaps.releases.quotes import ReleaseRequest


def proposed(dataset: Dataset, request: ReleaseRequest, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first of them that is the dataset's own; None where the question without a guide was answered.

    That answer is free. A map of another dataset is offered, never proposed: who made it may not mean well.
    So are files and what goes back to one: nobody can check what these were made from.

    Errors: `ParameterError` for a question that is refused without a guide, too.
    """
    plain, version = quotes.plan(dataset, replace(request, guide=None)), quotes.latest_version(dataset)
    if version is not None and quotes.same_release(dataset, plain.question(version)):
        return None
    return first_own(dataset, fitting)


def first_own(dataset: Dataset, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first map of the dataset that goes back to no other dataset and to no file."""
    for one in fitting:
        before = list(chain(one.release))
        is_own = all(release.dataset_id == dataset.pk and not release.guide_file_id for release in before)
        if before and is_own:
            return one
    return None
