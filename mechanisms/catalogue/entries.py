"""Describes mechanisms for the catalogue: names, words, parameters, relations and trust."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from mechanisms.check import ParameterError, exact_decimal, power_of_two
from mechanisms.guarantee import Relation, Trust
from mechanisms.mechanism import (
    LARGEST_LENGTH_M,
    CentroidMechanism,
    HeatmapMechanism,
    Target,
)
from mechanisms.results.distances import Places
from mechanisms.results.zones import Zones

if TYPE_CHECKING:  # what an entry describes is loaded when somebody builds it (`loaded`)
    from mechanisms.metric.itemwise.mechanism import EmdItemwise
    from mechanisms.metric.linear.distances import EmdDistances
    from mechanisms.metric.linear.zones import EmdZones

Kind: TypeAlias = Literal["heatmap", "centroid", "zones", "distances"]
RunsOn: TypeAlias = Literal["stored", "devices"]
# What a mechanism draws from: masses of people by cell, means of their records, their records, or sums of
# answers about their records.
Reads: TypeAlias = Literal["masses", "means", "items", "sums"]
Value: TypeAlias = int | Fraction | Zones | Places
Mechanism = TypeVar(
    "Mechanism", HeatmapMechanism, CentroidMechanism, "EmdItemwise", "EmdZones | EmdDistances"
)
BOTH: Final = frozenset(Relation)
# What a release may ask for: the ledger counts no less, and more would no longer be an exception.
SMALLEST_DELTA, LARGEST_DELTA = Fraction(1, 10**18), Fraction(1, 1000)
USUAL_DELTA: Final = "0.000000001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Describes a public parameter of a mechanism, beyond its target and resolution.

    Numbers are decimal texts, so that forms and JSON show what `build` takes; the interval is
    [low, high], or (low, high] with `low_open`.
    """

    name: str
    title: str
    help: str
    kind: Literal["int", "decimal", "zones", "places"]
    default: str = ""  # empty: chosen from public facts
    low: str = ""  # low and high are empty for zones and places
    high: str = ""
    low_open: bool = False

    def parse(self, value: object) -> Value:
        """Returns the exact value. Errors: `ParameterError` naming this parameter."""
        if self.kind == "zones":
            return Zones.parse(value)
        if self.kind == "places":
            return Places.parse(value)
        if not isinstance(value, str | int | Fraction):
            raise ParameterError(self.name, value, "an exact decimal number, not a binary float")
        low, high = Fraction(self.low), Fraction(self.high)
        number = exact_decimal(self.name, value, low=low, high=high, low_open=self.low_open)
        if self.kind == "decimal":
            return number
        if number.denominator != 1:
            raise ParameterError(self.name, value, f"a whole number from {self.low} to {self.high}")
        return int(number)


def length_m(*, name: str, title: str, help: str) -> Parameter:  # noqa: A002 - what it is for people
    """Describes a length in metres that is chosen from public facts where it is not given."""
    return Parameter(
        name=name, title=title, help=help, kind="decimal", low="0", low_open=True, high=str(LARGEST_LENGTH_M)
    )


EXPECTED_PERSONS: Final = Parameter(
    name="expected_persons",
    title="Expected number of people",
    help="A public guess of how many people there are, not a count of them: it decides how fine "
    "squares get, never what is promised. Left empty: the number stated for the dataset.",
    kind="int",
    low="1",
    high="1000000000000",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Says what people need to know to choose a mechanism, whatever it runs on."""

    runs_on: ClassVar[RunsOn]
    title: str
    summary: str
    trust: Trust = Trust.CENTRAL
    parameters: tuple[Parameter, ...] = ()
    usual_delta: str = ""  # a decimal; empty: it holds without exception and takes no δ

    def delta(self, delta: str | int | Fraction | None) -> Fraction:
        """Returns the exact δ that is spent, the usual one where none is given. Errors: `ParameterError`."""
        raise NotImplementedError

    def side(self, resolution: int | None) -> int | None:
        """Returns the cells a side; None where what is released has none. Errors: `ParameterError`."""
        raise NotImplementedError

    def parsed(self, parameters: Mapping[str, object]) -> dict[str, Value]:
        """Returns exact values of what is given. Errors: `ParameterError` for a wrong value or name."""
        own = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in own:
                raise ParameterError(str(name), parameters[name], self._parameter_names())
        return {name: own[name].parse(value) for name, value in parameters.items()}

    def _parameter_names(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntry(Entry, Generic[Mechanism]):
    """Describes a mechanism that draws from check-ins that are stored, and builds it."""

    runs_on = "stored"
    kind: ClassVar[Kind]
    reads: ClassVar[Reads]
    name: str  # in the database and in URLs; never used again for something else
    class_path: str  # dotted, of the mechanism's class: it is loaded when somebody builds it or asks about it
    relations: frozenset[Relation] = frozenset({Relation.REPLACE})
    simulates_shuffling: bool = False  # made for a shuffler, run on stored check-ins
    simulates_devices: bool = False  # made for devices that blur their own reports, run on stored check-ins
    flat: bool = False  # under REPLACE only, and yet the same loss for every change of a record
    aside: bool = False  # a baseline, a simulation or for special needs: offered behind the others
    takes_guide: bool = False  # a public map of the same region can help it

    @property
    def mechanism(self) -> type[Mechanism]:
        """Returns the mechanism's class."""
        mechanism: type[Mechanism] = loaded(self.class_path)
        return mechanism

    @property
    def max_resolution(self) -> int:
        """Returns the most cells a side; 0: what is released has no resolution."""
        return getattr(self.mechanism, "highest_resolution", 0)

    def delta(self, delta: str | int | Fraction | None) -> Fraction:
        if not self.usual_delta:
            if delta is not None and exact_decimal("delta", delta, low=0, high=1):
                raise ParameterError("delta", delta, f"0 or nothing: {self.name} holds without exception")
            return Fraction(0)
        if delta is None:
            return Fraction(self.usual_delta)
        exact = exact_decimal("delta", delta, low=0, high=1)
        if not SMALLEST_DELTA <= exact <= LARGEST_DELTA:
            raise ParameterError(
                "delta", delta, f"a decimal number from 1e-18 to 0.001: {self.name} needs one"
            )
        return exact

    def side(self, resolution: int | None) -> int | None:
        if self.max_resolution and resolution is None:
            allowed = f"a power of two from 2 to {self.max_resolution}"
            raise ParameterError("resolution", "missing", allowed)
        if not self.max_resolution and resolution is not None:
            raise ParameterError(
                "resolution", resolution, "none: what is released has no cells; leave it out"
            )
        return resolution

    def calibrated(self, target: Target, parameters: Mapping[str, object], **public: Any) -> Mechanism:
        """Returns the mechanism that spends at most the target. Errors: `ParameterError`.

        public: what its `calibrate` needs of resolution, region and declared persons.
        """
        if target.relation not in self.relations:
            raise ParameterError("relation", target.relation, ", ".join(sorted(self.relations)))
        if target.guide is not None and not self.takes_guide:
            raise ParameterError("guide", "a map", f"none: {self.name} uses no guide")
        if self.max_resolution:
            power_of_two(2, self.max_resolution, resolution=public["resolution"])
        own: dict[str, Any] = {**self.parsed(parameters)}
        return self.mechanism.calibrate(target, **public, **own)

    @property
    def version(self) -> int:
        """Returns the version that draws now; earlier releases were drawn, and are described, by theirs."""
        return getattr(self.mechanism, "newest_version", 1)

    def _parameter_names(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"no such parameter of {self.name}, which has {names or 'none'}"


class HeatmapEntry(StoredEntry[HeatmapMechanism]):
    """Describes a mechanism that releases a map of cells."""

    kind = "heatmap"
    reads = "masses"


class CentroidEntry(StoredEntry[CentroidMechanism]):
    """Describes a mechanism that releases one central point."""

    kind = "centroid"
    reads = "means"


class ItemsEntry(StoredEntry["EmdItemwise"]):
    """Describes a mechanism that releases a map of cells, too, from whole records of declared persons."""

    kind = "heatmap"
    reads = "items"


class AnswersEntry(StoredEntry["EmdZones | EmdDistances"]):
    """Describes a mechanism that answers a few questions that are named for it."""

    reads = "sums"


class ZonesEntry(AnswersEntry):
    """Describes a mechanism that releases shares of persons in zones that are drawn for it."""

    kind = "zones"


class DistancesEntry(AnswersEntry):
    """Describes a mechanism that releases mean distances of persons to places that are named for it."""

    kind = "distances"


AnyEntry: TypeAlias = StoredEntry[Any]


def loaded(class_path: str) -> Any:
    """Returns the class of a dotted path.

    By name, not imported above: each brings parts of scipy that take longer to load than to draw, and most
    processes build one mechanism or none.
    """
    module, _, name = class_path.rpartition(".")
    return getattr(import_module(module), name)


class Named(Protocol):
    """Describes an entry of one of the tables."""

    @property
    def name(self) -> str: ...


NamedEntry = TypeVar("NamedEntry", bound=Named)


def entry_named(name: str, among: Sequence[NamedEntry]) -> NamedEntry:
    """Returns the entry of that name. Errors: `ParameterError` listing the names."""
    for entry in among:
        if entry.name == name:
            return entry
    raise ParameterError("mechanism", name, ", ".join(entry.name for entry in among))
