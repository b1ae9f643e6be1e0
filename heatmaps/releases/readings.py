"""Prepares draws of stored check-ins: which mechanism is calibrated how, what it reads, what may be asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from heatmaps import masses
from heatmaps.children.calibrated import Calibration, MechanismQuestion
from heatmaps.data_slice import ALL_IN_THE_SLICE, RECTANGLE, WHOLE, DataSlice
from heatmaps.models import Dataset, DataVersion, Release
from heatmaps.origins import Offer
from heatmaps.regions import region_of
from heatmaps.releases import calibration
from heatmaps.releases.parameters import reaching
from heatmaps.releases.question import question_of
from heatmaps.releases.request import DrawTerms
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import AnyEntry, Reads
from mechanisms.check import ParameterError
from mechanisms.expected_error import ErrorBound, ExpectedError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.mechanism import Target
from mechanisms.metric.linear.answers import AnswerSums
from mechanisms.randomness import RandomSource
from mechanisms.results.distances import Places
from mechanisms.results.serialization import Result
from mechanisms.results.zones import Zones

_MOST_DIGITS: Final = 80  # after the point: a text of 40 characters with an exponent of -30 has fewer
Build: TypeAlias = Callable[[MechanismQuestion], Calibration | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Says how data are read for a mechanism."""

    read: Callable[[Any, Dataset, DataVersion, DataSlice], object]  # first the mechanism
    whole_records: str = ""  # why no part of the region can be asked about; empty: any can


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Holds a calibrated mechanism of the catalogue, ready to read and draw."""

    entry: AnyEntry
    mechanism: Any  # the entry's
    calibrated: Calibration | None = field(default=None, compare=False, repr=False)  # worked out by a child

    @property
    def name(self) -> str:
        """Returns the mechanism's name in the catalogue."""
        return self.entry.name

    @property
    def version(self) -> int:
        """Returns the version of the mechanism, as it draws now."""
        return self.entry.version

    @property
    def resolution(self) -> int | None:
        """Returns the cells a side; None: what is released has no cells."""
        return self.mechanism.resolution if self.entry.max_resolution else None

    @property
    def parameters(self) -> dict[str, int | str]:
        """Returns all parameters in the one spelling that is stored, also those left to the mechanism."""
        names = [parameter.name for parameter in self.entry.parameters]
        return {name: _spelling(getattr(self.mechanism, name)) for name in names}

    @property
    def guarantee(self) -> Guarantee:
        """Returns the mechanism's promise."""
        guarantee: Guarantee = (
            self.mechanism.guarantee if self.calibrated is None else self.calibrated.guarantee
        )
        return guarantee

    @property
    def with_shuffler(self) -> Guarantee | None:
        """Returns the promise of the same protocol with a shuffler, where this one simulates it."""
        return None if self.calibrated is None else self.calibrated.with_shuffler

    def check(self, data_slice: DataSlice) -> None:
        """Refuses a part of the region where whole records are read. Errors: `ParameterError`."""
        reason = self._reading.whole_records
        if reason and data_slice.rectangle is not None:
            raise ParameterError(RECTANGLE, "a part of the region", f"all of it: {reason}")

    def expected_error(self, dataset: Dataset, data_slice: DataSlice) -> ExpectedError | None:
        """Predicts the error from the declared persons, or a public number of them; None where there is none.

        How many persons have check-ins in a part of the data is not public.
        """
        if self.calibrated is not None:
            return self.calibrated.expected_error
        if self._reading.whole_records:
            error_of_all: ExpectedError = self.mechanism.expected_error()
            return error_of_all
        if dataset.public_persons is None:
            return None
        error: ErrorBound = self.mechanism.expected_error(persons=dataset.public_persons)
        if data_slice == WHOLE:
            return error
        return replace(error, assumptions=f"{error.assumptions} {ALL_IN_THE_SLICE}")

    def question(self, release: Release) -> str:
        """Returns the digest of the question that a release asks, from its other columns."""
        return question_of(release)

    def draw(
        self, dataset: Dataset, version: DataVersion, data_slice: DataSlice, rng: RandomSource
    ) -> Result:
        """Reads the data and draws. Outside of any transaction: reading and drawing may take long."""
        return self.release(self.read(dataset, version, data_slice), rng)

    def read(self, dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> object:
        """Reads what the mechanism needs of the data; draws nothing."""
        return self._reading.read(self.mechanism, dataset, version, data_slice)

    def release(self, read: object, rng: RandomSource) -> Result:
        """Draws."""
        released: Result = self.mechanism.release(read, rng)
        return released

    @property
    def _reading(self) -> Reading:
        return READINGS[self.entry.reads]


def not_beforehand(question: MechanismQuestion) -> None:
    """Works out nothing but what the draw needs: for whoever draws."""
    del question


def draw_for(dataset: Dataset, terms: DrawTerms, *, build: Build = calibration.calibrated) -> Draw:
    """Returns the draw of some terms. Errors: `ParameterError`; Busy, where `build` takes long.

    build: gives what takes long about mechanisms that take long: those of whole records.
    """
    entry: AnyEntry = terms.entry
    check_offer(dataset.origin.offer, entry, terms.resolution)
    target = Target(
        relation=Relation(dataset.relation),
        epsilon=terms.epsilon,
        delta=terms.delta,
        radius_m=None if dataset.radius_m is None else Fraction(dataset.radius_m),
        expected_persons=dataset.public_persons,
        guide=terms.guide,
        version=terms.version,
    )
    side = entry.side(terms.resolution)
    grid = {} if side is None else {"resolution": side}
    if not READINGS[entry.reads].whole_records:
        return Draw(entry=entry, mechanism=entry.calibrated(target, terms.parameters, **grid))
    region = region_of(dataset)
    question = MechanismQuestion(
        name=entry.name,
        target=target,
        region=region,
        # Declared under REPLACE. Under ADD_REMOVE the relation is refused, whatever stands here.
        persons=dataset.persons or 1,
        parameters=reaching(dataset, region, entry.parameters, terms.parameters),
        **grid,
    )
    calibrated = build(question)
    mechanism = question.built() if calibrated is None else calibrated.mechanism
    return Draw(entry=entry, mechanism=mechanism, calibrated=calibrated)


def offered(dataset: Dataset) -> list[AnyEntry]:
    """Returns the mechanisms that a dataset can be asked by, in the order of the catalogue."""
    entries = registry.entries(relation=Relation(dataset.relation))
    reads = dataset.origin.offer.reads
    return [entry for entry in entries if reads is None or entry.reads in reads]


def finest(dataset: Dataset, entry: AnyEntry) -> int:
    """Returns the most cells a side; 0: what is released has no cells."""
    most = dataset.origin.offer.finest
    return entry.max_resolution if most is None else min(entry.max_resolution, most)


def check_offer(offer: Offer, entry: AnyEntry, resolution: int | None) -> None:
    """Refuses what an origin does not offer. Errors: `ParameterError`."""
    # What a lake hands over has a public bound.
    if offer.reads is not None and entry.reads not in offer.reads:
        raise ParameterError("mechanism", entry.name, offer.other_mechanism)
    if resolution is not None and offer.finest is not None and resolution > offer.finest:
        raise ParameterError("resolution", resolution, f"at most {offer.finest}: {offer.finer}")


def _spelling(value: int | Fraction | Zones | Places) -> int | str:
    if isinstance(value, Zones | Places):
        return value.text
    return value if isinstance(value, int) else _decimal(value)


def _decimal(value: Fraction) -> str:
    """Returns the shortest plain spelling. Errors: ValueError if there is no finite one."""
    units = abs(value) * 10**_MOST_DIGITS
    if units.denominator != 1:
        raise ValueError("a parameter has no finite decimal spelling")
    whole, digits = divmod(units.numerator, 10**_MOST_DIGITS)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{digits:0{_MOST_DIGITS}}".rstrip("0").rstrip(".")


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
