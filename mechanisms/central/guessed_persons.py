"""What the mechanisms share whose grids follow from a public number of persons."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

from mechanisms.calibration import checked_epsilon, level_of, mass_unit
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.interface import Target

HIGHEST_RESOLUTION: Final = 2**16
MOST_PERSONS: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedPersons:
    """Public numbers and their calibration; what is promised and drawn, subclasses say.

    `expected_persons` steers utility only. Errors: `ParameterError`.
    """

    relation: Relation
    epsilon: Fraction
    resolution: int  # cells a side of the map
    expected_persons: int  # a public guess, or the declared number under REPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        checked_persons(self.expected_persons)
        self.unit  # noqa: B018 - an epsilon that integers cannot carry is refused here

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        """`expected_persons` among the parameters stands for the target's."""
        persons = parameters.pop("expected_persons", target.expected_persons)
        return cls(
            relation=target.relation,
            epsilon=target.epsilon,
            resolution=resolution,
            expected_persons=checked_persons(persons),
            **parameters,
        )

    @property
    def unit(self) -> int:
        """Mass units of one person."""
        return mass_unit(self.relation, self.epsilon)

    @property
    def _level(self) -> int:
        return level_of(self.resolution, highest=HIGHEST_RESOLUTION)


def checked_persons(persons: object) -> int:
    """A public number of persons. Errors: `ParameterError` that says what to give."""
    if isinstance(persons, int) and not isinstance(persons, bool) and 1 <= persons <= MOST_PERSONS:
        return persons
    given = "missing" if persons is None else persons
    allowed = f"a whole number from 1 to {MOST_PERSONS}: a public guess of how many persons there are"
    raise ParameterError("expected_persons", given, allowed)
