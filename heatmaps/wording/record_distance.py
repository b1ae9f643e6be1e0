"""Words what a distance in metres is between: records, or single places, as they are read."""

from fractions import Fraction
from typing import Final

from mechanisms.guarantee import Guarantee, Relation

PLACES_AS_READ: Final = (
    "Distances are measured on the ground between places as they are read: a place outside the region counts "
    "at the region's nearest edge."
)
_RECORDS_AS_READ: Final = (
    "Distances are measured on the ground between a person's records as they are read: a place outside the "
    "region counts at the region's nearest edge, and check-ins that opt-outs or retention left out do not "
    "count."
)
_READ: Final = "If several data versions are read, the largest of their distances counts."
_EVER: Final = "The largest distance in any data version counts, of all that the dataset ever has."
_EMPTY: Final = (
    "If a record has check-ins in one case and none in the other, only the whole-record ε covers the change."
)
IN_GENERAL: Final = (
    f"{PLACES_AS_READ} Between a record with check-ins and one without there is no distance: only the "
    "whole-record ε covers that. Release sheets say which data versions count."
)


def as_read(delta: Fraction) -> str:
    """Says how the distance of two records is meant, by the δ of what is promised."""
    return f"{_RECORDS_AS_READ} {_EVER if delta else _READ} {_EMPTY}"


def distance_words(guarantee: Guarantee) -> str:
    """Says how a promise in metres is meant; empty where none is made."""
    return as_read(guarantee.delta) if guarantee.relation is Relation.REPLACE else ""
