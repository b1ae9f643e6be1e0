"""Provides the origins of check-ins: uploads, lakes and devices.

Each is one object, which the rooms above ask.
"""

from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Q

from heatmaps.origins.devices import DEVICES
from heatmaps.origins.lake import LAKE
from heatmaps.origins.origin import Offer, Origin
from heatmaps.origins.uploads import UPLOADS

__all__ = ["COLUMNS", "ORIGINS", "Offer", "Origin", "of_columns", "of_name", "where"]

COLUMNS: Final = ("is_collection", "source")  # of a dataset: they say its origin
ORIGINS: Final[tuple[Origin, ...]] = (UPLOADS, DEVICES, LAKE)  # as forms offer them


def of_columns(*, is_collection: bool, source: str) -> Origin:
    """Returns the origin of a dataset by its columns."""
    if is_collection:
        return DEVICES
    return LAKE if source else UPLOADS


def of_name(name: str) -> Origin:
    """Returns the origin that a form names; uploads where it names none."""
    return next((origin for origin in ORIGINS if origin.name == name), UPLOADS)


def where(fact: str, prefix: str = "") -> Q:
    """Selects datasets, or rows that name one, whose origin has a fact, such as `is_asked`."""
    having = [origin for origin in ORIGINS if getattr(origin, fact)]
    return reduce(or_, (origin.of(prefix) if prefix else origin.filter for origin in having))
