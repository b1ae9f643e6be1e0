"""Computes what a release is charged when it asks about a data slice (`docs/explanation/law.md`, "Mass")."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from heatmaps.data_slice import DataSlice
from heatmaps.regions import region_of
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation, Term

if TYPE_CHECKING:  # commands that work on files load no models
    from heatmaps.models import Dataset


def promise(dataset: "Dataset", guarantee: Guarantee, data_slice: DataSlice) -> Guarantee:
    """Returns the promise of a release about a data slice, by a mechanism of that guarantee."""
    diameter_m = region_of(dataset).diameter_m
    return promised(guarantee, by_period=data_slice.has_period, diameter_m=diameter_m)


def promised(guarantee: Guarantee, *, by_period: bool, diameter_m: float) -> Guarantee:
    """Returns the worth of a mechanism's guarantee for a release: what all its accounts are charged.

    guarantee: the mechanism's own. by_period: whether check-ins are chosen by their time.
    diameter_m: of the *dataset's* region, also where a sub-rectangle is asked about.

    - Flat guarantees stay: a person's choice of check-ins is one more record of that person.
    - Choosing by time is not continuous in distance: two records a metre apart, one check-in a second before
      the period's end, may leave all and nothing. So a metric guarantee becomes its whole-record loss,
      for every distance, the radius included.
    - A sub-rectangle clamps points to its border. In the projection of the *dataset's* region, whose stretch
      the guarantee counts with, that moves no two of them apart (1-Lipschitz), so a metric guarantee stays.
      Records inside the sub-rectangle are less than the region's diameter apart, but releases add up, and
      their sum is stated at one distance for all records of the dataset: the larger one.
    """
    if not by_period or not _is_metric(guarantee):
        return guarantee
    fails = guarantee.if_shuffler_fails
    return replace(
        guarantee,
        max_distance_m=INFINITY,
        terms=(Term(cap=_whole_record_loss(guarantee, diameter_m)),),
        if_shuffler_fails=None
        if fails is None
        else promised(fails, by_period=by_period, diameter_m=diameter_m),
    )


def _is_metric(guarantee: Guarantee) -> bool:
    """Tells whether the loss depends on the distance."""
    return guarantee.max_distance_m != INFINITY or any(
        term.alpha_per_m != INFINITY for term in guarantee.terms
    )


def _whole_record_loss(guarantee: Guarantee, diameter_m: float) -> Exact:
    if guarantee.relation is not Relation.REPLACE:
        return guarantee.loss(INFINITY)
    # The next whole metre covers the rounding of the diameter, as where it is charged.
    return guarantee.exchange_loss(math.floor(diameter_m) + 1)
