"""What emd-linear's mechanisms share: their public parameters, checked, and how they are calibrated."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from mechanisms.calibration import checked_epsilon, only_replace
from mechanisms.check import exact_decimal, whole
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from mechanisms.interface import Target
from mechanisms.point import MOST_PERSONS

LARGEST_LENGTH_M: Final = 10**8  # more than twice around the earth


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearMechanism:
    """About the records of persons enrolled, whose number is public. Errors: `ParameterError`."""

    name: ClassVar[str]
    smallest_epsilon: ClassVar[Fraction]
    relation: Relation
    epsilon: Fraction  # loss when one person's record moves by `radius_m`
    radius_m: Fraction
    persons: int  # n
    region: Region

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", only_replace(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon, least=self.smallest_epsilon))
        radius_m = exact_decimal("radius_m", self.radius_m, low=0, low_open=True, high=LARGEST_LENGTH_M)
        object.__setattr__(self, "radius_m", radius_m)
        whole(1, MOST_PERSONS, persons=self.persons)

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        return cls(
            relation=target.relation,
            epsilon=target.epsilon,
            radius_m=target.needed_radius_m,
            persons=persons,
            region=region,
            **parameters,
        )
