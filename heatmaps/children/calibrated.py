"""Calibrates a mechanism and computes its promise from public parameters alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from mechanisms.catalogue import registry
from mechanisms.check import ParameterError, printable
from mechanisms.expected_error import ExpectedError
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region

_STATED: Final = ("relation", "epsilon", "delta", "radius_m", "region", "persons", "resolution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Holds a calibrated mechanism with its promise and its predicted error, for a quote."""

    mechanism: Any  # one of the catalogue's
    guarantee: Guarantee
    with_shuffler: Guarantee | None  # of the same protocol with a shuffler, where this one simulates it
    expected_error: ExpectedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Says why a mechanism cannot be: the parts of a `ParameterError`, which does not travel."""

    parameter: str
    value: str
    allowed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismQuestion:
    """Asks for a mechanism of whole records."""

    name: str
    target: Target
    region: Region
    persons: int
    resolution: int | None = None  # None: what is released has no cells
    parameters: Mapping[str, object] = field(default_factory=dict)  # as a person gave them

    @property
    def key(self) -> str:
        """Returns the same text for the same question."""
        return repr(self)

    @property
    def stated(self) -> dict[str, Any]:
        """Returns the fields of the mechanism that the question says itself. Errors: `ParameterError`."""
        entry, target = registry.get(self.name), self.target
        values = {
            "relation": target.relation,
            "epsilon": target.epsilon,
            "delta": target.delta,
            "radius_m": target.radius_m,
            "region": self.region,
            "persons": self.persons,
            "resolution": self.resolution,
            **entry.parsed(self.parameters),
        }
        return {part.name: values[part.name] for part in fields(entry.mechanism) if part.name in values}

    @property
    def free_fields(self) -> dict[str, Any]:
        """Returns the other fields of the mechanism with their types: what its calibration chooses."""
        stated = {*_STATED, *self.parameters}
        parts = fields(registry.get(self.name).mechanism)
        return {part.name: part.type for part in parts if part.name not in stated}

    def built(self) -> Any:
        """Builds the mechanism alone. Errors: `ParameterError`."""
        public: dict[str, Any] = {"region": self.region, "persons": self.persons}
        if self.resolution is not None:
            public["resolution"] = self.resolution
        return registry.get(self.name).calibrated(self.target, self.parameters, **public)

    def answer(self) -> Calibration | Refused:
        """Calibrates the mechanism, which may take seconds."""
        try:
            mechanism = self.built()
        except ParameterError as error:
            # A name that is no parameter's may be any text.
            parameter = printable(error.parameter)
            return Refused(parameter=parameter, value=error.value, allowed=error.allowed)
        return Calibration(
            mechanism=mechanism,
            guarantee=mechanism.guarantee,
            with_shuffler=getattr(mechanism, "guarantee_with_shuffler", None),
            expected_error=mechanism.expected_error(),
        )
