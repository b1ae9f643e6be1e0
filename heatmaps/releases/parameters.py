"""Reads what every question names, whatever its check-ins come from: ε, and how far its promise reaches."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.conf import settings

from heatmaps.models import AccountKind, Dataset
from mechanisms.catalogue.entries import Parameter
from mechanisms.check import exact_decimal
from mechanisms.space.grid import Region


def exact_epsilon(value: str | Fraction) -> Fraction:
    """Returns the exact ε of a question within this server's limits. Errors: `ParameterError`."""
    return exact_decimal("epsilon", value, low=settings.MIN_EPSILON, high=settings.MAX_EPSILON)


def reaching(
    dataset: Dataset, region: Region, own: Sequence[Parameter], parameters: Mapping[str, object]
) -> dict[str, object]:
    """Adds a reach of all of the region where whole records have a limit.

    A mechanism without a bound for whole records would be refused there. own: the mechanism's parameters.
    """
    names = {parameter.name for parameter in own}
    record_limits = dataset.accounts.filter(kind=AccountKind.RECORD, limit__isnull=False)
    if "reach_m" in names - set(parameters) and record_limits.exists():
        return {**parameters, "reach_m": math.floor(region.diameter_m) + 1}
    return dict(parameters)
