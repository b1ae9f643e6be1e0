"""Provides guides for comparisons: who released the map that a trial's map begins from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from mechanisms.central.adaptive.mechanism import Adaptive, takes_guide
from mechanisms.evaluation.places import CheckInPlace, cell_numbers
from mechanisms.evaluation.protocol import Trial
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guide import Guide
from mechanisms.reproduction.check_ins import CheckIns

# Of a trial and the mechanism without a guide, at the epsilon that both maps cost.
MakeGuide: TypeAlias = Callable[[Trial, Adaptive], Guide]
Places: TypeAlias = Mapping[int, Sequence[CheckInPlace]]  # by number of persons

_NEXT: Final = 3  # the place so many further on stands for another city


def release_of_others(trial: Trial, mechanism: Adaptive) -> Guide:
    """Returns an earlier release of other people of the same place."""
    return Guide.of_map(trial.of_others().released(mechanism))


def two_of_others(trial: Trial, mechanism: Adaptive) -> Guide:
    """Returns the mean of two such releases, of two draws of others."""
    maps = [Guide.of_map(trial.of_others(turn).released(mechanism)) for turn in range(2)]
    return Guide(shares=sum((guide.shares for guide in maps), np.zeros_like(maps[0].shares)) // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamePeople:
    """Counts in the same people's own earlier release as a measurement, or takes it as a guide alone."""

    is_counted: bool
    is_guided: bool = False  # it was made with a guide of its own

    def __call__(self, trial: Trial, mechanism: Adaptive) -> Guide:
        before = (
            replace(mechanism, guide=release_of_others(trial, mechanism)) if self.is_guided else mechanism
        )
        rng = SeededSource(trial.seed("before", str(mechanism.epsilon), self.is_guided))
        heatmap = before.release(trial.masses(before.unit), rng)
        return Guide.of_map(heatmap, same_people=self.is_counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Guides by a release of another city."""

    places: Places

    def __call__(self, trial: Trial, mechanism: Adaptive) -> Guide:
        cities = self.places[trial.protocol.persons]
        here = [place.number for place in cities].index(trial.place.number)
        city = cities[(here + _NEXT) % len(cities)]
        there = Trial(place=city, repetition=trial.repetition, protocol=trial.protocol)
        return Guide.of_map(there.of_others().released(mechanism))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OtherService:
    """Guides by a release of all people of another service in the same place."""

    check_ins: CheckIns

    def people(self, number: int) -> int:
        """Returns the number of people it has in a place."""
        persons, lat, lon = self.check_ins
        return int(np.unique(persons[cell_numbers(lat, lon) == number]).size)

    def __call__(self, trial: Trial, mechanism: Adaptive) -> Guide:
        persons, lat, lon = self.check_ins
        here = cell_numbers(lat, lon) == trial.place.number
        place = CheckInPlace.of(trial.place.number, trial.place.region, persons[here], lat[here], lon[here])
        protocol = replace(trial.protocol, persons=place.persons)
        other = Trial(place=place, repetition=trial.repetition, protocol=protocol)
        return Guide.of_map(other.released(replace(mechanism, expected_persons=place.persons)))


def guided(mechanism: Adaptive, trial: Trial, make: MakeGuide) -> Adaptive:
    """Returns the mechanism with the guide, where one may be given."""
    if not takes_guide(mechanism.relation, mechanism.epsilon, mechanism.expected_persons):
        return mechanism
    return replace(mechanism, guide=make(trial, mechanism))
