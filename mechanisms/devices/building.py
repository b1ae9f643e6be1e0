"""Builds the plan of each mechanism from the public facts of a round."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeVar

import numpy as np

from mechanisms.catalogue.entries import Value
from mechanisms.check import ParameterError, in_range
from mechanisms.devices.cells import AxesPlan, CellPlan, GkrrPlan, OffsetsPlan, RowsPlan
from mechanisms.devices.flips import FlipsPlan
from mechanisms.devices.items import ItemsPlan
from mechanisms.devices.round_facts import RoundFacts
from mechanisms.devices.shares import SharesPlan
from mechanisms.devices.unary import TABLE_PART, UnaryPlan
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.optimal import Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.metric.frequency.gkrr import Gkrr
from mechanisms.metric.itemwise.mechanism import EmdItemwise
from mechanisms.shuffle.centroid import GeoShuffle, RrShuffle, SgdlShuffle
from mechanisms.shuffle.emd_round import EmdRound
from mechanisms.shuffle.lattice import AxisLattice
from mechanisms.shuffle.shuffle_emd import ShuffleEmd

LARGEST_COEFFICIENT: Final = 1e6  # of a report; beyond, a map would be noise alone
_LARGEST_LOSS: Final = 30.0  # of weights of about 60 bits
_DOWN: Final = 1e-12
_WITHIN: Final = 0.5  # of the loss, within a district

AnyCellPlan = TypeVar("AnyCellPlan", bound=CellPlan)


def offsets(facts: RoundFacts, parameters: Mapping[str, Value]) -> OffsetsPlan:  # noqa: ARG001 - has none
    blur = PlanarGeometric.calibrate(facts.target, lattice=_lattice(facts))
    return _checked_plan(OffsetsPlan(**facts.of_map, blur=blur), facts)


def axes(facts: RoundFacts, parameters: Mapping[str, Value]) -> AxesPlan:  # noqa: ARG001 - has none
    blur = GeoLocal.calibrate(facts.target, lattice=_lattice(facts))
    return _checked_plan(AxesPlan(**facts.of_map, blur=blur), facts)


def rows(facts: RoundFacts, parameters: Mapping[str, Value]) -> RowsPlan:  # noqa: ARG001 - has none
    blur = Optimal.calibrate(facts.target, lattice=_lattice(facts))
    return _checked_plan(RowsPlan(**facts.of_map, blur=blur), facts)


def gkrr(facts: RoundFacts, parameters: Mapping[str, Value]) -> GkrrPlan:
    """Returns the plan with the weights nearest to ε, from below: a loss is read off integers."""
    below = int(parameters.get("district_levels", 0))  # type: ignore[arg-type]
    cells = facts.resolution**2
    in_range(0, facts.resolution.bit_length() - 1, district_levels=below)
    epsilon = min(float(facts.target.epsilon), _LARGEST_LOSS)
    shape = {"districts": cells // 4**below, "district_cells": 4**below}
    part = _WITHIN if 0 < below < facts.resolution.bit_length() - 1 else 1.0
    down = _DOWN
    while True:
        loss = epsilon * (1 - down)
        response = Gkrr.of(**shape, loss=loss, within=part * loss)
        if response.loss <= facts.target.epsilon:
            return _checked_plan(GkrrPlan(**facts.of_map, gkrr=response), facts)
        down *= 2


def geo(facts: RoundFacts, parameters: Mapping[str, Value]) -> UnaryPlan:
    return _unary(GeoShuffle, facts, parameters)


def sgdl(facts: RoundFacts, parameters: Mapping[str, Value]) -> UnaryPlan:
    return _unary(SgdlShuffle, facts, parameters)


def flips(facts: RoundFacts, parameters: Mapping[str, Value]) -> FlipsPlan:
    options: dict[str, Any] = {"cell_m": _usual_cell_m(facts, RrShuffle.usual_steps), **parameters}
    randomiser = RrShuffle.calibrate(facts.target, region=facts.region, persons=facts.least_honest, **options)
    return FlipsPlan(randomiser=randomiser, most_reports=facts.most_reports)


def items(facts: RoundFacts, parameters: Mapping[str, Value]) -> ItemsPlan:
    options: dict[str, Any] = {**parameters}
    law = EmdItemwise.calibrate(
        facts.target,
        region=facts.region,
        persons=facts.least_honest,
        resolution=facts.resolution,
        **options,
    )
    return ItemsPlan(law=law, most_reports=facts.most_reports)


def shares(facts: RoundFacts, parameters: Mapping[str, Value]) -> SharesPlan:
    target, options = facts.target, dict[str, Any](parameters)
    law = ShuffleEmd(relation=target.relation, epsilon=target.epsilon, resolution=facts.resolution, **options)
    emd_round = EmdRound.calibrate(
        law,
        delta=target.delta * (1 - TABLE_PART),
        persons=facts.least_honest,
        capacity=facts.most_reports,
    )
    return SharesPlan.calibrate(emd_round, delta=target.delta, diameter_m=facts.region.diameter_m)


def _unary(
    mechanism: type[GeoShuffle] | type[SgdlShuffle], facts: RoundFacts, parameters: Mapping[str, Value]
) -> UnaryPlan:
    target = replace(facts.target, delta=facts.target.delta * (1 - TABLE_PART))
    options: dict[str, Any] = {"cell_m": _usual_cell_m(facts, UnaryPlan.usual_steps), **parameters}
    randomiser = mechanism.calibrate(target, region=facts.region, persons=facts.least_honest, **options)
    return UnaryPlan.calibrate(randomiser, delta=facts.target.delta, most_reports=facts.most_reports)


def _usual_cell_m(facts: RoundFacts, steps: int) -> Fraction:
    """Returns a side of whole millimetres with so many squares in the radius,
    or as many as a region may have.
    """
    finest_mm = math.ceil(AxisLattice.smallest_cell_m(facts.region) * 1000)
    return Fraction(max(math.ceil(facts.target.needed_radius_m * 1000 / steps), finest_mm), 1000)


def _lattice(facts: RoundFacts) -> Lattice:
    return Lattice.of_map(facts.region, facts.resolution)


def _checked_plan(plan: AnyCellPlan, facts: RoundFacts) -> AnyCellPlan:
    """Returns the plan. Errors: `ParameterError`
    where reports say next to nothing about the squares of the map.
    """
    try:
        largest = plan.law.largest(plan.level)
    except (np.linalg.LinAlgError, ParameterError):
        largest = math.inf
    if not largest <= LARGEST_COEFFICIENT:
        allowed = "more, a smaller radius, or fewer cells: reports would not tell the cells apart"
        raise ParameterError("epsilon", float(facts.target.epsilon), allowed)
    return plan
