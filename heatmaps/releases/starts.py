"""Proposes the public map that a new one starts from, by public facts alone."""

from collections.abc import Sequence
from dataclasses import replace

from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset
from heatmaps.releases import quotes
from heatmaps.releases.quotes import ReleaseRequest


def proposed(dataset: Dataset, request: ReleaseRequest, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first of them; None where the same question without a guide was answered, which is free.

    Errors: `ParameterError` for a question that is refused without a guide, too.
    """
    plain, version = quotes.plan(dataset, replace(request, guide=None)), quotes.latest_version(dataset)
    if version is not None and quotes.same_release(dataset, plain.question(version)):
        return None
    return fitting[0] if fitting else None
