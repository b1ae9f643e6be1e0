"""Defines what every mechanism has: public parameters, a guarantee, a release, a predicted error."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, Self

from mechanisms.calibration import checked_epsilon, level_of, only_replace
from mechanisms.candidate_net import Plane
from mechanisms.check import ParameterError, exact_decimal, in_range, positive, whole
from mechanisms.expected_error import ErrorBound, PointError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.guide import Guide
from mechanisms.randomness import RandomSource
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import MOST_PERSONS, RecordMeans
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import Point
from mechanisms.space.grid import Region

LARGEST_LENGTH_M: Final = 10**8  # more than twice around the earth


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Sets the most that a release may cost."""

    relation: Relation
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    radius_m: Fraction | None = None
    expected_persons: int | None = None  # a public guess or the declared number; steers utility only
    guide: Guide | None = None  # a map that is public already; steers utility only
    version: int | None = None  # of the mechanism; None: the newest

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        in_range(0, 1, delta=self.delta)
        if self.radius_m is not None:
            positive(radius_m=self.radius_m)

    @property
    def needed_radius_m(self) -> Fraction:
        """Returns the radius, for mechanisms that cannot do without.

        Errors: `ParameterError` where there is none.
        """
        if self.radius_m is None:
            raise ParameterError("radius_m", "missing", "the distance in metres at which epsilon is the loss")
        return self.radius_m


class Mechanism(Protocol):
    """Fixes public parameters in a frozen value; data and randomness are arguments of `release` only."""

    name: ClassVar[str]

    @property
    def relation(self) -> Relation: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def guarantee(self) -> Guarantee: ...


class HeatmapMechanism(Mechanism, Protocol):
    """Turns integer masses of persons by cell into a map."""

    highest_resolution: ClassVar[int]  # cells a side

    @property
    def resolution(self) -> int:
        """Returns cells a side, a power of two."""
        ...

    @property
    def unit(self) -> int:
        """Returns mass units of one person: what `release` expects its masses in. From public parameters."""
        ...

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        """Returns the mechanism that spends at most the target, and as much of it as it can."""
        ...

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        """Draws noise once. Total: nothing about the data makes it fail."""
        ...

    def expected_error(self, *, persons: int) -> ErrorBound:
        """Returns a bound from public facts; `persons` is a public guess or the declared number."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GridMechanism:
    """Provides the base of mechanisms that release a map, with one promise for every change of a record.

    Errors: `ParameterError`.
    """

    name: ClassVar[str]
    highest_resolution: ClassVar[int]
    smallest_epsilon: ClassVar[Fraction] = Fraction(0)
    relation: Relation
    epsilon: Fraction
    resolution: int  # cells a side

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon, least=self.smallest_epsilon))
        level_of(self.resolution, highest=self.highest_resolution)

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        return cls(relation=target.relation, epsilon=target.epsilon, resolution=resolution, **parameters)

    @property
    def level(self) -> int:
        """Returns ℓ: of the map's own cells."""
        return level_of(self.resolution, highest=self.highest_resolution)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMechanism:
    """Provides the base of mechanisms about whole records of persons enrolled: `REPLACE` only.

    The number of persons is public.

    Errors: `ParameterError`, also for regions that are too wide for promises in metres (`Plane`).
    """

    name: ClassVar[str]
    smallest_epsilon: ClassVar[Fraction] = Fraction(0)
    most_persons: ClassVar[int] = MOST_PERSONS
    lengths: ClassVar[tuple[str, ...]] = ("radius_m",)  # fields that are metres
    relation: Relation
    epsilon: Fraction  # loss when one person's record moves by `radius_m`
    radius_m: Fraction
    persons: int  # n
    region: Region

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", only_replace(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon, least=self.smallest_epsilon))
        for name in self.lengths:
            exact = exact_decimal(name, getattr(self, name), low=0, low_open=True, high=LARGEST_LENGTH_M)
            object.__setattr__(self, name, exact)
        whole(1, self.most_persons, persons=self.persons)
        Plane(self.region)

    @classmethod
    def restored(cls, **values: Any) -> Self:
        """Returns the mechanism that another process calibrated, without calibrating it again.

        Checked is what this class checks. Errors: `ParameterError`; TypeError where fields are missing.
        """
        names = [field.name for field in fields(cls)]
        if set(values) != set(names):
            raise TypeError(f"fields of {cls.name}: {', '.join(names)}")
        mechanism = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(mechanism, name, value)
        RecordMechanism.__post_init__(mechanism)
        return mechanism

    @classmethod
    def spending(cls, target: Target, **parameters: Any) -> Self:
        """Returns the mechanism of these parameters whose loss
        at `target.radius_m` is at most `target.epsilon`.
        """
        radius_m = target.needed_radius_m
        return cls(relation=target.relation, epsilon=target.epsilon, radius_m=radius_m, **parameters)


class CentroidMechanism(RecordMechanism, ABC):
    """Turns the sum of the record means of declared persons into one point."""

    __slots__ = ()

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        """Returns the mechanism whose loss at `target.radius_m` is
        at most `target.epsilon`, and nearly that.
        """
        return cls.spending(target, region=region, persons=persons, **parameters)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee: ...

    def release(self, means: RecordMeans, rng: RandomSource) -> Point:
        """Draws once. Total: nothing about the data makes it fail."""
        if means.persons != self.persons:
            raise ParameterError("means", f"of {means.persons} persons", f"of {self.persons}")
        lat, lon = self._draw(means, rng)
        error = self.expected_error()
        return Point(lat=lat, lon=lon, expected_m=error.expected_m, within_m=error.within_m)

    @abstractmethod
    def expected_error(self) -> PointError:
        """Returns the error from public facts."""

    @abstractmethod
    def _draw(self, means: RecordMeans, rng: RandomSource) -> tuple[float, float]:
        """Returns (lat, lon) of the released point."""


class ItemsMechanism(RecordMechanism, ABC):
    """Turns whole records of declared persons into a map of cells."""

    __slots__ = ()
    highest_resolution: ClassVar[int]  # cells a side
    resolution: int

    @classmethod
    @abstractmethod
    def calibrate(
        cls, target: Target, *, region: Region, persons: int, resolution: int, **parameters: Any
    ) -> Self:
        """Returns the mechanism whose loss at `target.radius_m` is at most `target.epsilon`."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee: ...

    @abstractmethod
    def release(self, records: ItemRecords, rng: RandomSource) -> Heatmap:
        """Draws once. Total: nothing about the data makes it fail."""

    @abstractmethod
    def expected_error(self) -> ErrorBound:
        """Returns the error from public facts."""
