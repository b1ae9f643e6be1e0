"""Calibrates a mechanism and computes its promise from public parameters alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.error_bounds import ExpectedError
from mechanisms.guarantee import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What a quote says of a mechanism."""

    mechanism: Any  # one of the catalogue's
    guarantee: Guarantee
    on_devices: Guarantee | None  # of the same protocol with a shuffler, where this one simulates it
    expected_error: ExpectedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a mechanism cannot be: the parts of a `ParameterError`, which does not travel."""

    parameter: str
    value: Any
    allowed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which mechanism of the catalogue is wanted."""

    name: str
    arguments: Mapping[str, Any]  # of its entry's `calibrated`

    @property
    def key(self) -> str:
        """The same for the same question."""
        return repr((self.name, sorted(self.arguments.items(), key=lambda pair: pair[0])))

    def built(self) -> Any:
        """The mechanism alone. Errors: `ParameterError`."""
        return registry.get(self.name).calibrated(**self.arguments)

    def answer(self) -> Calibrated | Refused:
        """May take seconds."""
        try:
            mechanism = self.built()
        except ParameterError as error:
            return Refused(parameter=error.parameter, value=error.value, allowed=error.allowed)
        return Calibrated(
            mechanism=mechanism,
            guarantee=mechanism.guarantee,
            on_devices=getattr(mechanism, "guarantee_with_shuffler", None),
            expected_error=mechanism.expected_error(),
        )
