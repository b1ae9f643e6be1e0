"""Plans draws: which mechanism is calibrated how, what it reads of the data, and what may be asked of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from heatmaps import masses
from heatmaps.children.calibrated import Calibration, MechanismQuestion
from heatmaps.data_slice import ALL_IN_THE_SLICE, RECTANGLE, WHOLE, DataSlice
from heatmaps.models import Dataset, DataVersion
from heatmaps.origins import Offer
from heatmaps.parameters import reaching
from heatmaps.regions import region_of
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import AnyEntry, Reads
from mechanisms.check import ParameterError
from mechanisms.error_bounds import ErrorBound, ExpectedError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.guide import Guide
from mechanisms.mechanism import Target
from mechanisms.metric.linear.answers import AnswerSums
from mechanisms.randomness import RandomSource
from mechanisms.results.serialization import Result

Build: TypeAlias = Callable[[MechanismQuestion], Calibration | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read the data for a mechanism."""

    read: Callable[[Any, Dataset, DataVersion, DataSlice], object]  # first the mechanism
    whole_records: str = ""  # why no part of the region can be asked about; empty: any can


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A calibrated mechanism of the catalogue, ready to read and draw."""

    entry: AnyEntry
    mechanism: Any  # the entry's
    known: Calibration | None = field(default=None, compare=False, repr=False)  # worked out by a child

    @property
    def resolution(self) -> int | None:
        """Cells a side; None: what is released has no cells."""
        return self.mechanism.resolution if self.entry.max_resolution else None

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism promises."""
        found: Guarantee = self.mechanism.guarantee if self.known is None else self.known.guarantee
        return found

    @property
    def with_shuffler(self) -> Guarantee | None:
        """Of the same protocol with a shuffler, where this one simulates it."""
        return None if self.known is None else self.known.with_shuffler

    def check(self, data_slice: DataSlice) -> None:
        """Errors: `ParameterError` for a part of the region where whole records are read."""
        reason = self._reading.whole_records
        if reason and data_slice.rectangle is not None:
            raise ParameterError(RECTANGLE, "a part of the region", f"all of it: {reason}")

    def expected_error(self, dataset: Dataset, data_slice: DataSlice) -> ExpectedError | None:
        """From public facts: the declared persons, or a public number of them, None where there is none.

        How many persons have check-ins in a part of the data is not public.
        """
        if self.known is not None:
            return self.known.expected_error
        if self._reading.whole_records:
            whole: ExpectedError = self.mechanism.expected_error()
            return whole
        if dataset.public_persons is None:
            return None
        error: ErrorBound = self.mechanism.expected_error(persons=dataset.public_persons)
        if data_slice == WHOLE:
            return error
        return replace(error, assumptions=f"{error.assumptions} {ALL_IN_THE_SLICE}")

    def draw(
        self, dataset: Dataset, version: DataVersion, data_slice: DataSlice, rng: RandomSource
    ) -> Result:
        """Reads the data. Outside of any transaction: reading and drawing may take long."""
        return self.release(self.read(dataset, version, data_slice), rng)

    def read(self, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
        """What the mechanism needs of the data; nothing is drawn."""
        return self._reading.read(self.mechanism, dataset, version, data_slice)

    def release(self, read: object, rng: RandomSource) -> Result:
        """Draws."""
        released: Result = self.mechanism.release(read, rng)
        return released

    @property
    def _reading(self) -> Reading:
        return READINGS[self.entry.reads]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a question asks to spend."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """What steers utility only, beside the mechanism's own parameters."""

    guide: Guide | None = None  # a map that is public already
    version: int | None = None  # of the mechanism; None: the newest


UNSTEERED: Final = Steering()


def not_beforehand(asked: MechanismQuestion) -> None:
    """For whoever draws: nothing is worked out but what the draw needs."""
    del asked


def planned(
    dataset: Dataset,
    name: str,
    cost: Cost,
    resolution: int | None,
    parameters: Mapping[str, object],
    *,
    steering: Steering = UNSTEERED,
    build: Build = not_beforehand,
) -> Draw:
    """The draw that a question asks for. Errors: `ParameterError`.

    build: gives what takes long about mechanisms that take long: those of whole records.
    """
    entry = registry.get(name)
    check_offer(dataset.origin.offer, entry, resolution)
    target, side = _target(dataset, cost, steering), entry.side(resolution)
    grid = {} if side is None else {"resolution": side}
    if not READINGS[entry.reads].whole_records:
        return Draw(entry=entry, mechanism=entry.calibrated(target, parameters, **grid))
    region = region_of(dataset)
    question = MechanismQuestion(
        name=name,
        target=target,
        region=region,
        # Declared under REPLACE. Under ADD_REMOVE the relation is refused, whatever stands here.
        persons=dataset.persons or 1,
        parameters=reaching(dataset, region, entry.parameters, parameters),
        **grid,
    )
    calibrated = build(question)
    mechanism = question.built() if calibrated is None else calibrated.mechanism
    return Draw(entry=entry, mechanism=mechanism, known=calibrated)


def offered(dataset: Dataset) -> list[AnyEntry]:
    """What can be asked of a dataset, in the order of the catalogue."""
    entries = registry.entries(relation=Relation(dataset.relation))
    reads = dataset.origin.offer.reads
    return [entry for entry in entries if reads is None or entry.reads in reads]


def finest(dataset: Dataset, entry: AnyEntry) -> int:
    """Most cells a side; 0: what is released has no cells."""
    most = dataset.origin.offer.finest
    return entry.max_resolution if most is None else min(entry.max_resolution, most)


def check_offer(offer: Offer, entry: AnyEntry, resolution: int | None) -> None:
    """Refuses what an origin does not offer: what a lake hands over has a public bound.

    Errors: `ParameterError`.
    """
    if offer.reads is not None and entry.reads not in offer.reads:
        raise ParameterError("mechanism", entry.name, offer.other_mechanism)
    if resolution is not None and offer.finest is not None and resolution > offer.finest:
        raise ParameterError("resolution", resolution, f"at most {offer.finest}: {offer.finer}")


def _target(dataset: Dataset, cost: Cost, steering: Steering) -> Target:
    radius_m = None if dataset.radius_m is None else Fraction(dataset.radius_m)
    return Target(
        relation=Relation(dataset.relation),
        epsilon=cost.epsilon,
        delta=cost.delta,
        radius_m=radius_m,
        expected_persons=dataset.public_persons,
        guide=steering.guide,
        version=steering.version,
    )


def _masses(mechanism: Any, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
    level = mechanism.resolution.bit_length() - 1
    return masses.read(dataset, version, level=level, unit=mechanism.unit, data_slice=data_slice)


def _means(mechanism: Any, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
    return masses.read_means(dataset, version, enrolled=mechanism.persons, data_slice=data_slice)


def _items(mechanism: Any, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
    level = mechanism.resolution.bit_length() - 1
    return masses.read_items(dataset, version, level=level, data_slice=data_slice)


def _sums(mechanism: Any, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
    sums = masses.of_items(dataset, version, mechanism.sums, level=mechanism.level, data_slice=data_slice)
    return AnswerSums.total_of(sums)


READINGS: Final[Mapping[Reads, Reading]] = {
    "masses": Reading(read=_masses),
    "means": Reading(read=_means, whole_records="a central point is of whole records"),
    "items": Reading(read=_items, whole_records="this map is of whole records"),
    "sums": Reading(read=_sums, whole_records="the question says where"),
}
