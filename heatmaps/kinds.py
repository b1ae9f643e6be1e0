"""What the product does for each kind of result: which mechanism, what it reads, what it draws.

A kind is added by a class here, its entry in `planners`, and its files in `heatmaps.exports`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from heatmaps import masses, slices
from heatmaps.masses import EVERYBODY, Pieces, Share
from heatmaps.models import AccountKind, Dataset, DataVersion
from heatmaps.slices import Slice
from mechanisms import catalogue
from mechanisms.catalogue import CentroidEntry, DistancesEntry, Entry, HeatmapEntry, ItemsEntry, ZonesEntry
from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from mechanisms.interface import (
    CentroidMechanism,
    HeatmapMechanism,
    RandomSource,
    Result,
    Target,
)
from mechanisms.metric.itemwise_map import EmdItemwise
from mechanisms.metric.linear_answers import AnswerSums
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.metric.linear_zones import EmdZones
from mechanisms.prediction import ErrorBound, PointError, ShareError

ExpectedError: TypeAlias = ErrorBound | PointError | ShareError


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDraw:
    """A map of cells, from the masses of persons."""

    mechanism: HeatmapMechanism

    @property
    def resolution(self) -> int | None:
        return self.mechanism.resolution

    def check(self, asked: Slice) -> None:
        """A map can be about any part of the data."""

    def expected_error(self, dataset: Dataset, asked: Slice) -> ExpectedError | None:
        """For all persons: how many of them have check-ins in a part of the data is not public."""
        persons = dataset.public_persons
        if persons is None:
            return None
        error = self.mechanism.expected_error(persons=persons)
        if asked == slices.WHOLE:
            return error
        return replace(error, assumptions=f"{error.assumptions} {slices.ALL_IN_THE_PART}")

    def draw(self, dataset: Dataset, version: DataVersion, asked: Slice, rng: RandomSource) -> Result:
        """Reads the data. Outside of any transaction: reading and drawing may take long."""
        read = masses.read(dataset, version, level=self._level, unit=self.mechanism.unit, asked=asked)
        return self.mechanism.release(read, rng)

    def part(self, dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> Pieces:
        """Partial sums of one share of the persons, in pieces of bytes.

        Nothing is drawn: read again, they are the same.
        """
        unit = self.mechanism.unit
        return masses.read_part(dataset, version, level=self._level, unit=unit, asked=asked, share=share)

    def draw_of_parts(self, parts: Iterable[Pieces], rng: RandomSource) -> Result:
        """As `draw`, from the partial sums of every share."""
        return self.mechanism.release(masses.joined(parts, level=self._level, unit=self.mechanism.unit), rng)

    @property
    def _level(self) -> int:
        return self.mechanism.resolution.bit_length() - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidDraw:
    """One central point, from the means of persons' records."""

    mechanism: CentroidMechanism

    @property
    def resolution(self) -> int | None:
        return None

    def check(self, asked: Slice) -> None:
        """Errors: `ParameterError` for a part of the region: the whole record counts."""
        if asked.part is not None:
            raise ParameterError(
                "within", "a part of the region", "all of it: a central point is of whole records"
            )

    def expected_error(self, dataset: Dataset, asked: Slice) -> ExpectedError | None:
        """The same for any period and all data: everybody enrolled counts."""
        del dataset, asked
        return self.mechanism.expected_error()

    def draw(self, dataset: Dataset, version: DataVersion, asked: Slice, rng: RandomSource) -> Result:
        """Reads the data, as `MapDraw.draw`."""
        enrolled = self.mechanism.persons
        return self.mechanism.release(
            masses.read_means(dataset, version, enrolled=enrolled, asked=asked), rng
        )

    def part(self, dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> Pieces:
        """As `MapDraw.part`."""
        return (masses.read_part_of_means(dataset, version, asked=asked, share=share),)

    def draw_of_parts(self, parts: Iterable[Pieces], rng: RandomSource) -> Result:
        """As `MapDraw.draw_of_parts`."""
        return self.mechanism.release(
            masses.joined_means([*map(b"".join, parts)], enrolled=self.mechanism.persons), rng
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsDraw:
    """A map of cells, from persons' whole records."""

    mechanism: EmdItemwise

    @property
    def resolution(self) -> int | None:
        return self.mechanism.resolution

    def check(self, asked: Slice) -> None:
        """Errors: `ParameterError` for a part of the region, as `CentroidDraw.check`."""
        if asked.part is not None:
            raise ParameterError("within", "a part of the region", "all of it: this map is of whole records")

    def expected_error(self, dataset: Dataset, asked: Slice) -> ExpectedError | None:
        """The same for any period and all data: everybody enrolled counts."""
        del dataset, asked
        return self.mechanism.expected_error()

    def draw(self, dataset: Dataset, version: DataVersion, asked: Slice, rng: RandomSource) -> Result:
        """Reads the data, as `MapDraw.draw`."""
        read = masses.read_items(dataset, version, level=self._level, asked=asked)
        return self.mechanism.release(read, rng)

    def part(self, dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> Pieces:
        """As `MapDraw.part`; nothing is sampled yet."""
        return (masses.read_part_of_items(dataset, version, level=self._level, asked=asked, share=share),)

    def draw_of_parts(self, parts: Iterable[Pieces], rng: RandomSource) -> Result:
        """As `MapDraw.draw_of_parts`."""
        return self.mechanism.release(masses.joined_items([*map(b"".join, parts)], level=self._level), rng)

    @property
    def _level(self) -> int:
        return self.mechanism.resolution.bit_length() - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersDraw:
    """Shares in zones or distances to places, from persons' whole records."""

    mechanism: EmdZones | EmdDistances

    @property
    def resolution(self) -> int | None:
        return None

    def check(self, asked: Slice) -> None:
        """Errors: `ParameterError` for a part of the region, as `CentroidDraw.check`."""
        if asked.part is not None:
            raise ParameterError("within", "a part of the region", "all of it: the question says where")

    def expected_error(self, dataset: Dataset, asked: Slice) -> ExpectedError | None:
        """The same for any period and all data: everybody enrolled counts."""
        del dataset, asked
        return self.mechanism.expected_error()

    def draw(self, dataset: Dataset, version: DataVersion, asked: Slice, rng: RandomSource) -> Result:
        """Reads the data, as `MapDraw.draw`."""
        return self.mechanism.release(self._sums(dataset, version, asked, EVERYBODY), rng)

    def part(self, dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> Pieces:
        """As `MapDraw.part`."""
        return (masses.packed_sums(self._sums(dataset, version, asked, share).sums),)

    def draw_of_parts(self, parts: Iterable[Pieces], rng: RandomSource) -> Result:
        """As `MapDraw.draw_of_parts`."""
        several = [AnswerSums(sums=masses.unpacked_sums(b"".join(part))) for part in parts]
        return self.mechanism.release(AnswerSums.joined(several), rng)

    def _sums(self, dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> AnswerSums:
        read = masses.read_items(dataset, version, level=self.mechanism.level, asked=asked, share=share)
        return self.mechanism.sums(read)


Draw: TypeAlias = MapDraw | CentroidDraw | ItemsDraw | AnswersDraw


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a question asks to spend."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)


def planned(
    dataset: Dataset, name: str, cost: Cost, resolution: int | None, parameters: Mapping[str, object]
) -> Draw:
    """The draw that a question asks for. Errors: `ParameterError`."""
    return _PLANNERS[type(catalogue.get(name))](dataset, name, cost, resolution, parameters)


def _map(
    dataset: Dataset, name: str, cost: Cost, resolution: int | None, parameters: Mapping[str, object]
) -> MapDraw:
    mechanism = catalogue.build(
        name,
        target=_target(dataset, cost),
        resolution=_given(name, resolution),
        parameters=parameters,
    )
    return MapDraw(mechanism=mechanism)


def _items(
    dataset: Dataset, name: str, cost: Cost, resolution: int | None, parameters: Mapping[str, object]
) -> ItemsDraw:
    mechanism = catalogue.build_items(
        name,
        target=_target(dataset, cost),
        region=_region(dataset),
        persons=dataset.persons or 1,  # as in `_centroid`
        resolution=_given(name, resolution),
        parameters=parameters,
    )
    return ItemsDraw(mechanism=mechanism)


def _answers(
    dataset: Dataset, name: str, cost: Cost, resolution: int | None, parameters: Mapping[str, object]
) -> AnswersDraw:
    if resolution is not None:
        raise ParameterError("resolution", resolution, "none: what is released has no cells")
    mechanism = catalogue.build_answers(
        name,
        target=_target(dataset, cost),
        region=_region(dataset),
        persons=dataset.persons or 1,  # as in `_centroid`
        parameters=parameters,
    )
    return AnswersDraw(mechanism=mechanism)


def _given(name: str, resolution: int | None) -> int:
    if resolution is None:
        allowed = f"a power of two from 2 to {catalogue.get(name).max_resolution}"
        raise ParameterError("resolution", "missing", allowed)
    return resolution


def _centroid(
    dataset: Dataset, name: str, cost: Cost, resolution: int | None, parameters: Mapping[str, object]
) -> CentroidDraw:
    if resolution is not None:
        raise ParameterError("resolution", resolution, "none: a central point has no cells; leave it out")
    own = {parameter.name for parameter in catalogue.get(name).parameters}
    if "reach_m" in own - set(parameters) and _limits_whole_records(dataset):
        parameters = {**parameters, "reach_m": math.floor(_region(dataset).diameter_m) + 1}
    mechanism = catalogue.build_centroid(
        name,
        target=_target(dataset, cost),
        region=_region(dataset),
        # Declared under REPLACE. Under ADD_REMOVE the relation is refused, whatever stands here.
        persons=dataset.persons or 1,
        parameters=parameters,
    )
    return CentroidDraw(mechanism=mechanism)


def _region(dataset: Dataset) -> Region:
    return Region(dataset.west, dataset.south, dataset.east, dataset.north)


def _limits_whole_records(dataset: Dataset) -> bool:
    """Then what has no bound for them would be refused."""
    return dataset.accounts.filter(kind=AccountKind.RECORD, limit__isnull=False).exists()


_Planner: TypeAlias = Callable[[Dataset, str, Cost, int | None, Mapping[str, object]], Draw]
_PLANNERS: Final[Mapping[type[Entry], _Planner]] = {
    HeatmapEntry: _map,
    CentroidEntry: _centroid,
    ItemsEntry: _items,
    ZonesEntry: _answers,
    DistancesEntry: _answers,
}


def _target(dataset: Dataset, cost: Cost) -> Target:
    radius_m = None if dataset.radius_m is None else Fraction(dataset.radius_m)
    return Target(
        relation=Relation(dataset.relation),
        epsilon=cost.epsilon,
        delta=cost.delta,
        radius_m=radius_m,
        expected_persons=dataset.public_persons,
    )
