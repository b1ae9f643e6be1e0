"""What the catalogue says of a mechanism: names, words, parameters, relations and trust."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Relation, Trust
from mechanisms.interface import CentroidMechanism, HeatmapMechanism
from mechanisms.metric.itemwise_map import EmdItemwise
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.metric.linear_zones import EmdZones
from mechanisms.places import Places
from mechanisms.zones import Zones

Kind: TypeAlias = Literal["heatmap", "centroid", "zones", "distances"]
Value: TypeAlias = int | Fraction | Zones | Places
# What a release may ask for: the ledger counts no less, and more would no longer be an exception.
SMALLEST_DELTA, LARGEST_DELTA = Fraction(1, 10**18), Fraction(1, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A public parameter of a mechanism, beyond its target and resolution.

    Numbers are decimal texts, so that forms and JSON show what `build` takes; the interval is
    [low, high], or (low, high] with `low_open`.
    """

    name: str
    title: str
    help: str
    kind: Literal["int", "decimal", "zones", "places"]
    default: str  # empty: chosen from public facts
    low: str
    high: str
    low_open: bool = False

    def parse(self, value: object) -> Value:
        """The exact value. Errors: `ParameterError` naming this parameter."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What people need to know to choose a mechanism."""

    kind: ClassVar[Kind]
    name: str
    title: str
    summary: str
    relations: frozenset[Relation]
    max_resolution: int = 0  # cells a side; 0: what is released has no resolution
    trust: Trust = Trust.CENTRAL
    parameters: tuple[Parameter, ...] = ()
    simulates_shuffling: bool = False  # made for a shuffler, run on stored check-ins
    simulates_devices: bool = False  # made for devices that blur their own reports, run on stored check-ins
    flat: bool = False  # under REPLACE only, and yet the same loss for every change of a record
    aside: bool = False  # a baseline, a simulation or for special needs: offered behind the others
    usual_delta: str = ""  # a decimal; empty: it holds without exception and takes no δ

    def delta(self, given: str | int | Fraction | None) -> Fraction:
        """The exact δ that is spent, the usual one where none is given. Errors: `ParameterError`."""
        if not self.usual_delta:
            if given is not None and exact_decimal("delta", given, low=0, high=1):
                raise ParameterError("delta", given, f"0 or nothing: {self.name} holds without exception")
            return Fraction(0)
        if given is None:
            return Fraction(self.usual_delta)
        exact = exact_decimal("delta", given, low=0, high=1)
        if not SMALLEST_DELTA <= exact <= LARGEST_DELTA:
            raise ParameterError(
                "delta", given, f"a decimal number from 1e-18 to 0.001: {self.name} needs one"
            )
        return exact

    def parsed(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Exact values of what is given. Errors: `ParameterError` for a wrong value or an unknown name."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise ParameterError(str(name), given[name], _parameter_names(self))
        return {name: known[name].parse(value) for name, value in given.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapEntry(Entry):
    """A mechanism that releases a map of cells."""

    kind: ClassVar[Kind] = "heatmap"
    mechanism: type[HeatmapMechanism]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidEntry(Entry):
    """A mechanism that releases one central point."""

    kind: ClassVar[Kind] = "centroid"
    mechanism: type[CentroidMechanism]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsEntry(Entry):
    """A mechanism that releases a map of cells, too, from whole records of declared persons."""

    kind: ClassVar[Kind] = "heatmap"
    mechanism: type[EmdItemwise]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonesEntry(Entry):
    """A mechanism that releases shares of persons in zones that are drawn for it."""

    kind: ClassVar[Kind] = "zones"
    mechanism: type[EmdZones]


@dataclass(frozen=True, slots=True, kw_only=True)
class DistancesEntry(Entry):
    """A mechanism that releases mean distances of persons to places that are named for it."""

    kind: ClassVar[Kind] = "distances"
    mechanism: type[EmdDistances]


AnyEntry: TypeAlias = HeatmapEntry | CentroidEntry | ItemsEntry | ZonesEntry | DistancesEntry


def _parameter_names(entry: Entry) -> str:
    names = ", ".join(parameter.name for parameter in entry.parameters)
    return f"no such parameter of {entry.name}, which has {names or 'none'}"
