"""Says at which ε a release may name a guide, by public numbers alone."""

import math
from collections.abc import Mapping
from fractions import Fraction

from django.conf import settings

from heatmaps.models import Dataset
from heatmaps.numbers import DOWN, UP, count, number
from mechanisms.calibration import sensitivity
from mechanisms.catalogue import registry
from mechanisms.central.adaptive.mechanism import GUIDED
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation


def persons_of(dataset: Dataset, mechanism: str, parameters: Mapping[str, object]) -> int | None:
    """Returns a question's number of expected people; None without one. Errors: `ParameterError`."""
    persons = registry.get(mechanism).parsed(parameters).get("expected_persons", dataset.public_persons)
    return persons if isinstance(persons, int) else None


def epsilons(
    dataset: Dataset, mechanism: str, parameters: Mapping[str, object]
) -> tuple[Fraction, Fraction] | None:
    """Returns the least and the largest ε of a release that may name a guide; None: there is none.

    Errors: `ParameterError` for a wrong parameter.
    """
    persons = persons_of(dataset, mechanism, parameters)
    if not registry.get(mechanism).takes_guide or not persons:
        return None
    least, most = (
        Fraction(persons_times_epsilon, persons) for persons_times_epsilon in _persons_times_epsilon(dataset)
    )
    least, most = max(least, settings.MIN_EPSILON), min(most, settings.MAX_EPSILON)
    return (least, most) if least <= most else None


def sizes(dataset: Dataset) -> tuple[int, int]:
    """Returns the fewest and the most people for whom there is such an ε."""
    least, most = _persons_times_epsilon(dataset)
    return math.ceil(least / settings.MAX_EPSILON), math.floor(most / settings.MIN_EPSILON)


def refusal(
    guide_id: str, dataset: Dataset, mechanism: str, parameters: Mapping[str, object]
) -> ParameterError:
    """Returns the refusal of a guide, whatever it is. Errors: `ParameterError` for a wrong parameter."""
    allowed = epsilons(dataset, mechanism, parameters)
    if allowed is not None:
        return ParameterError("guide", guide_id, f"none at this epsilon, one at an {in_words(allowed)}")
    fewest, most = sizes(dataset)
    return ParameterError(
        "guide", guide_id, f"none for this number of people, one for {count(fewest)} to {count(most)}"
    )


def in_words(allowed: tuple[Fraction, Fraction]) -> str:
    """Writes an interval as "ε from 2 to 20"; rounded inwards."""
    return f"ε from {number(allowed[0], rounding=UP)} to {number(allowed[1], rounding=DOWN)}"


def _persons_times_epsilon(dataset: Dataset) -> tuple[int, int]:
    least, most = GUIDED
    return least * sensitivity(Relation(dataset.relation)), most * sensitivity(Relation(dataset.relation))
