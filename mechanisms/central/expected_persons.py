"""Provides the base of the mechanisms whose grids follow from a public number of people."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from mechanisms.calibration import mass_unit
from mechanisms.check import ParameterError
from mechanisms.mechanism import GridMechanism, Target

MOST_PERSONS: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedPersons(GridMechanism):
    """Holds public numbers and their calibration; what is promised and drawn, subclasses say.

    `expected_persons` steers utility only. Errors: `ParameterError`.
    """

    highest_resolution: ClassVar[int] = 2**16
    expected_persons: int  # a public guess, or the declared number under REPLACE

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        checked_persons(self.expected_persons)
        self.unit  # noqa: B018 - an epsilon that integers cannot carry is refused here

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        """Returns the mechanism; `expected_persons` among the parameters stands for the target's."""
        persons = parameters.pop("expected_persons", target.expected_persons)
        return super(GuessedPersons, cls).calibrate(
            target, resolution=resolution, expected_persons=checked_persons(persons), **parameters
        )

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return mass_unit(self.relation, self.epsilon)


def checked_persons(persons: object) -> int:
    """Returns a public number of people. Errors: `ParameterError` that says what to give."""
    if isinstance(persons, int) and not isinstance(persons, bool) and 1 <= persons <= MOST_PERSONS:
        return persons
    allowed = f"a whole number from 1 to {MOST_PERSONS}: a public guess of how many people there are"
    raise ParameterError("expected_persons", "missing" if persons is None else persons, allowed)
