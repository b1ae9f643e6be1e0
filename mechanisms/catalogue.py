"""Every mechanism by the name it has in the database and in URLs; names are never reused."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from mechanisms.central.laplace import HIGHEST_RESOLUTION as HIGHEST_DENSE_RESOLUTION
from mechanisms.central.laplace import Laplace
from mechanisms.central.laplace_top import LaplaceTop
from mechanisms.central.sparse_emd import HIGHEST_RESOLUTION, HIGHEST_WIDTH, SparseEmd
from mechanisms.check import ParameterError, exact_decimal, power_of_two
from mechanisms.guarantee import Relation, Trust
from mechanisms.interface import HeatmapMechanism, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A public parameter of a mechanism, beyond its target and resolution.

    Numbers are decimal texts, so that forms and JSON show what `build` takes; the interval is
    [low, high], or (low, high] with `low_open`.
    """

    name: str
    title: str
    help: str
    kind: Literal["int", "decimal"]
    default: str
    low: str
    high: str
    low_open: bool = False

    def parse(self, value: object) -> int | Fraction:
        """The exact value. Errors: `ParameterError` naming this parameter."""
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
    """What people need to know to choose a mechanism, and the class that carries it out."""

    name: str
    title: str
    summary: str
    mechanism: type[HeatmapMechanism]
    relations: frozenset[Relation]
    max_resolution: int  # cells a side
    trust: Trust = Trust.CENTRAL
    kind: str = "heatmap"
    parameters: tuple[Parameter, ...] = ()


def entries(*, relation: Relation | None = None, kind: str | None = None) -> tuple[Entry, ...]:
    """All entries in the order they are offered, or those for one relation or kind."""
    return tuple(
        entry for entry in _ENTRIES if relation in {None, *entry.relations} and kind in {None, entry.kind}
    )


def get(name: str) -> Entry:
    """The entry of that name. Errors: `ParameterError` listing the names."""
    for entry in _ENTRIES:
        if entry.name == name:
            return entry
    raise ParameterError("mechanism", name, ", ".join(entry.name for entry in _ENTRIES))


def build(
    name: str, *, target: Target, resolution: int, parameters: Mapping[str, object]
) -> HeatmapMechanism:
    """The calibrated mechanism; everything that can be wrong without data is refused here.

    Parameters that are not given have their defaults. Errors: `ParameterError`.
    """
    entry = get(name)
    if target.relation not in entry.relations:
        raise ParameterError("relation", target.relation, ", ".join(sorted(entry.relations)))
    power_of_two(2, entry.max_resolution, resolution=resolution)
    known = {parameter.name: parameter for parameter in entry.parameters}
    for given in parameters:
        if given not in known:
            raise ParameterError(str(given), parameters[given], _parameter_names(entry))
    parsed = {given: known[given].parse(value) for given, value in parameters.items()}
    return entry.mechanism.calibrate(target, resolution=resolution, **parsed)


def _parameter_names(entry: Entry) -> str:
    names = ", ".join(parameter.name for parameter in entry.parameters)
    return f"no such parameter of {entry.name}, which has {names or 'none'}"


_BOTH: Final = frozenset(Relation)

_ENTRIES: Final = (
    Entry(
        name="sparse-emd",
        title="Sparse reconstruction",
        summary="Finds the busiest squares from coarse to fine and spends the budget on those only. "
        "The right choice for most maps; its quality hardly depends on the resolution.",
        mechanism=SparseEmd,
        relations=_BOTH,
        max_resolution=HIGHEST_RESOLUTION,
        parameters=(
            Parameter(
                name="width",
                title="Squares kept a level",
                help="How many squares are followed to the next finer level (w in the paper). "
                "Larger finds more places, with more noise in each.",
                kind="int",
                default="20",
                low="1",
                high=str(HIGHEST_WIDTH),
            ),
            Parameter(
                name="decay",
                title="Budget of the next finer level",
                help="Part of a level's budget that the next finer level gets (γ in the paper, 1/√2). "
                "Smaller favours coarse levels; no unit.",
                kind="decimal",
                default="0.70710678118654752440",
                low="0.5",
                high="1",
            ),
        ),
    ),
    Entry(
        name="laplace-top",
        title="Noise in every square, largest kept",
        summary="Adds noise to every square of the grid and keeps only the largest values. "
        "A baseline for comparison: useful when very few squares hold nearly everybody.",
        mechanism=LaplaceTop,
        relations=_BOTH,
        max_resolution=HIGHEST_DENSE_RESOLUTION,
        parameters=(
            Parameter(
                name="keep_percent",
                title="Squares kept",
                help="Percentage of all squares of the grid that are kept, rounded up to a whole number "
                "of squares (0.01 % of a 256 by 256 grid are 7).",
                kind="decimal",
                default="0.01",
                low="0",
                low_open=True,
                high="100",
            ),
        ),
    ),
    Entry(
        name="laplace",
        title="Noise in every square",
        summary="Adds noise to every square of the grid. "
        "A baseline for comparison: good only when squares are few and persons many.",
        mechanism=Laplace,
        relations=_BOTH,
        max_resolution=HIGHEST_DENSE_RESOLUTION,
    ),
)
