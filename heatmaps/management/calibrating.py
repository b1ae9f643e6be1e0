"""Finds a mechanism's parameters for a target, each family in its own units.

A family is a function from `CalibrationOptions` to `FamilyCalibration` under its names in `_FAMILIES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps.management.parsing import whole
from mechanisms.catalogue import local, registry
from mechanisms.central.exponential.mechanism import Exponential
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.local.centroid import GeoLocalCentroid
from mechanisms.local.lattice import MOST_A_SIDE, Lattice
from mechanisms.local.reports import MOST_REPORTS
from mechanisms.mechanism import LARGEST_LENGTH_M, Target
from mechanisms.metric.linear.centroid import EmdLinear
from mechanisms.records.means import MOST_PERSONS
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.protocol import LARGEST_DOMAIN
from mechanisms.shuffle.protocol import MOST_PERSONS as MOST_PARTICIPANTS
from mechanisms.shuffle.rr_shuffle import CHANCES, RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum
from mechanisms.space.grid import Region

_USUAL_SIDE: Final = 64  # cells
_DEGREE_M: Final = 111_320  # along the equator, rounded up


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Holds the command's texts as they were given; None where they were not."""

    epsilon: str
    persons: str | None
    delta: str | None
    radius: str | None
    domain: str | None
    max_reports: str | None

    def target(self, radius: Fraction) -> Target:
        """Returns the target of a pure metric mechanism. Errors: `ParameterError`."""
        if exact_decimal("delta", self.delta or "0", low=0, high=1):
            raise ParameterError("delta", self.delta, "0: this mechanism needs none")
        low, high = 0, settings.MAX_EPSILON
        epsilon = exact_decimal("epsilon", self.epsilon, low=low, low_open=True, high=high)
        return Target(relation=Relation.REPLACE, epsilon=epsilon, radius_m=radius)

    def refuse(self, *names: str) -> None:
        """Raises `ParameterError` for what was given but means nothing here."""
        for name in names:
            if getattr(self, name) is not None:
                option = "n" if name == "persons" else name
                raise ParameterError(option, getattr(self, name), "nothing: it does not matter here")


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyCalibration:
    """Describes a calibrated mechanism; `unit` is what the guarantee's metres stand for."""

    unit: str
    parameters: dict[str, object]
    guarantee: Guarantee
    radius: Fraction  # at which epsilon was asked for
    expected_error: dict[str, float]


def names() -> tuple[str, ...]:
    return tuple(_FAMILIES)


def calibrated(name: str, options: CalibrationOptions) -> FamilyCalibration:
    """Calibrates a mechanism of a family. Errors: `ParameterError` naming the option."""
    if name not in _FAMILIES:
        raise ParameterError("NAME", name, ", ".join(_FAMILIES))
    return _FAMILIES[name](name, options)


def _of_reports_or_their_mean(name: str, options: CalibrationOptions) -> FamilyCalibration:
    """Calibrates, with a number of persons, the central point that is the mean of their reports."""
    return (_of_reports if options.persons is None else _of_a_central_point)(name, options)


def _of_reports(name: str, options: CalibrationOptions) -> FamilyCalibration:
    """Takes radius and domain in cells: cells a side of a square, true places at the centres."""
    options.refuse("persons")
    entry = local.get(name)
    most = min(MOST_A_SIDE, entry.mechanism.most_a_side)
    side = whole("domain", options.domain or str(min(entry.usual_a_side, _USUAL_SIDE)), low=2, high=most)
    radius = exact_decimal("radius", options.radius or "1", low=0, low_open=True, high=2 * most)
    mechanism = entry.mechanism.calibrate(
        options.target(radius),
        lattice=Lattice(columns=side, rows=side),
        max_reports=whole("max_reports", options.max_reports or "1", low=1, high=MOST_REPORTS),
    )
    error = mechanism.expected_error()
    return FamilyCalibration(
        unit="cells",
        parameters={
            "decay_per_cell": f"{float(mechanism.decay_per_m):.12g}",
            "cells_a_side": side,
            "max_reports": mechanism.max_reports,
        },
        guarantee=mechanism.guarantee,
        radius=radius,
        expected_error={"expected": error.expected_m, "within_95_percent": error.within_m},
    )


def _of_a_central_point(name: str, options: CalibrationOptions) -> FamilyCalibration:
    """Takes radius and domain in metres: the side of a square region at the equator."""
    options.refuse("max_reports")
    for what, text in (("n", options.persons), ("radius", options.radius), ("domain", options.domain)):
        if text is None:
            raise ParameterError(what, "missing", _NEEDED[what])
    persons = whole("n", options.persons or "", low=1, high=MOST_PERSONS)
    radius_m = exact_decimal("radius", options.radius or "", low=0, low_open=True, high=LARGEST_LENGTH_M)
    half_degrees = whole("domain", options.domain or "", low=100, high=10**7) / _DEGREE_M / 2
    mechanism = registry.build_centroid(
        name,
        target=options.target(radius_m),
        region=Region(-half_degrees, -half_degrees, half_degrees, half_degrees),
        persons=persons,
        parameters={},
    )
    error = mechanism.expected_error()
    own = {
        parameter.name: str(getattr(mechanism, parameter.name)) for parameter in registry.get(name).parameters
    }
    return FamilyCalibration(
        unit="m",
        parameters={"persons": persons, "radius_m": str(radius_m), **own},
        guarantee=mechanism.guarantee,
        radius=radius_m,
        expected_error={"expected": error.expected_m, "within_95_percent": error.within_m},
    )


def _of_shuffled_sums(name: str, options: CalibrationOptions) -> FamilyCalibration:
    """Takes radius and domain in steps of one axis: n devices send whole numbers from 0 to the domain."""
    options.refuse("max_reports")
    for what, text in (("n", options.persons), ("domain", options.domain)):
        if text is None:
            raise ParameterError(what, "missing", _NEEDED_OF_SUMS[what])
    domain = whole("domain", options.domain or "", low=1, high=LARGEST_DOMAIN)
    radius = whole("radius", options.radius or "1", low=1, high=domain)
    persons = whole("n", options.persons or "", low=1, high=MOST_PARTICIPANTS)
    epsilon = exact_decimal("epsilon", options.epsilon, low=0, low_open=True, high=settings.MAX_EPSILON)
    protocol = _SUMS[name].calibrate(
        persons=persons,
        epsilon=epsilon / radius,
        delta=registry.get(name).delta(options.delta),
        radius=radius,
        domain=domain,
    )
    return FamilyCalibration(
        unit="steps",
        parameters={"persons": persons, "domain": domain, **_own(protocol), "bits": protocol.places},
        guarantee=protocol.guarantee,
        radius=Fraction(radius),
        expected_error={"standard_error": protocol.standard_error(persons) / persons},
    )


def _own(protocol: GeoSum | SgdlSum | RrSum) -> dict[str, object]:
    """Returns the noise parameters that a device needs."""
    if isinstance(protocol, RrSum):
        return {"flip": f"{protocol.flips / CHANCES:.12g}"}
    noise = protocol.noise
    return {
        "epsilon_geo": f"{float(noise.epsilon):.12g}",
        "shape": str(noise.shape),
        "padding": noise.padding,
    }


_SUMS: Final[Mapping[str, type[GeoSum] | type[SgdlSum] | type[RrSum]]] = {
    protocol.name: protocol for protocol in (SgdlSum, GeoSum, RrSum)
}

_NEEDED_OF_SUMS: Final = {
    "n": "the least number of honest participants",
    "domain": "the largest value of a participant, in steps",
}

_NEEDED: Final = {
    "n": "the declared number of persons",
    "radius": "the metres at which epsilon is the loss",
    "domain": "the metres of a side of a square region, from 100 to 10000000",
}

_FAMILIES: Final[Mapping[str, Callable[[str, CalibrationOptions], FamilyCalibration]]] = {
    **{entry.name: _of_reports for entry in local.entries()},
    GeoLocalCentroid.name: _of_reports_or_their_mean,
    **dict.fromkeys((Exponential.name, EmdLinear.name), _of_a_central_point),
    **dict.fromkeys(_SUMS, _of_shuffled_sums),
}
