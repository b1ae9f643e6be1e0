"""Proposes the public map that a new one starts from, by public facts alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from heatmaps.guides.choices import Chosen
from heatmaps.models import Dataset
from heatmaps.releases import quotes
from heatmaps.releases.quotes import ReleaseRequest
from mechanisms.calibration import sensitivity
from mechanisms.catalogue import registry
from mechanisms.central.adaptive.mechanism import GUIDED
from mechanisms.guarantee import Relation


def epsilons(
    dataset: Dataset, mechanism: str, parameters: Mapping[str, object]
) -> tuple[Fraction, Fraction] | None:
    """The least and the largest ε at which a map by that mechanism may start from another one.

    None where it never may. Errors: `ParameterError` for a wrong parameter.
    """
    entry = registry.get(mechanism)
    persons = entry.parsed(parameters).get("expected_persons", dataset.public_persons)
    if not entry.takes_guide or not isinstance(persons, int):
        return None
    least, most = (Fraction(scales * sensitivity(Relation(dataset.relation)), persons) for scales in GUIDED)
    return least, most


def proposed(dataset: Dataset, request: ReleaseRequest, fitting: Sequence[Chosen]) -> Chosen | None:
    """The first of them; None where the same question without a guide was answered, which is free.

    Errors: `ParameterError` for a question that is refused without a guide, too.
    """
    plain, version = quotes.plan(dataset, replace(request, guide=None)), quotes.latest_version(dataset)
    if version is not None and quotes.same_release(dataset, plain.question(version)):
        return None
    return fitting[0] if fitting else None
