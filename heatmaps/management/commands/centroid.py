"""`manage.py centroid FILE… --bbox W,S,E,N --mechanism NAME …`: draws a private central point."""

from argparse import ArgumentParser
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from heatmaps.exports.sheet import exact_text
from heatmaps.ingest.formats.left_out import LeftOut
from heatmaps.management.offline import means_in_files
from heatmaps.management.parsing import (
    NO_LEDGER,
    PureCommand,
    add_files,
    add_reading,
    asked_epsilon,
    named_values,
    reading_options,
    whole,
)
from heatmaps.numbers import degrees, error_length
from heatmaps.wording.guarantee import sentences
from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.mechanism import CentroidMechanism, Target
from mechanisms.randomness import SystemSource
from mechanisms.records.means import MOST_PERSONS
from mechanisms.results.point import Point
from mechanisms.space.grid import Region

_LATTICES: Final = ("cell_m", "spacing_m")  # what --cell-m is to a mechanism


class Command(PureCommand):
    help = (
        "Draw one private central point of all persons, each at the mean of their check-ins. The number of "
        "persons is taken to be public. It uses no database and charges no ledger."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_files(parser)
        add_reading(parser)
        add = parser.add_argument
        add("--bbox", required=True, metavar="W,S,E,N", help="the region, in degrees; public")
        names = ", ".join(entry.name for entry in registry.entries(kind="centroid"))
        add("--mechanism", required=True, help=names)
        add("--epsilon", required=True, help="the loss when one person's record moves by the radius")
        add("--radius-m", required=True, metavar="R", help="metres at which epsilon is the loss")
        add("--delta", metavar="D", help="probability bound, for mechanisms that need one (default: theirs)")
        add("--cell-m", metavar="C", help="squares that places are counted in (default: by the radius)")
        add(
            "--persons",
            metavar="N",
            help="all who are enrolled: those without check-ins stand at the region's centre "
            "(default: the persons in the files)",
        )
        add("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the mechanism")
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        region, target, parameters = _parsed_options(options)
        declared = options["persons"]
        persons = None if declared is None else whole("persons", declared, low=1, high=MOST_PERSONS)
        if persons is not None:  # what is wrong is said before the files are read
            _mechanism(options, region, target, persons, parameters)
        read = means_in_files(
            [Path(name) for name in options["files"]],
            region,
            enrolled=persons,
            max_rejected_share=settings.MAX_REJECTED_SHARE,
            options=reading_options(options),
        )
        mechanism = _mechanism(options, region, target, read.means.persons, parameters)
        point = mechanism.release(read.means, SystemSource())
        self._report(point, mechanism, read.left_out, options)

    def _report(
        self, point: Point, mechanism: CentroidMechanism, left_out: LeftOut, options: dict[str, Any]
    ) -> None:
        self.say_left_out(left_out.rejected, left_out.first)
        expected, within = error_length(point.expected_m), error_length(point.within_m)
        lines = [
            f"Expected error: {expected}; with probability 95 % at most {within}.",
            f"Central point (latitude, longitude): {degrees(point.lat)}, {degrees(point.lon)}",
        ]
        notes = [*_promises(mechanism, options), NO_LEDGER]
        self.tell(options, _result(point, mechanism), lines, notes=notes)


def _parsed_options(options: dict[str, Any]) -> tuple[Region, Target, dict[str, object]]:
    """Parses region, target and parameters. Errors: `ParameterError`."""
    entry = registry.get(options["mechanism"])
    target = Target(
        relation=Relation.REPLACE,
        epsilon=asked_epsilon(options),
        delta=entry.delta(options["delta"]),
        radius_m=Fraction(whole("radius_m", options["radius_m"], low=1, high=10**8)),
    )
    parameters: dict[str, object] = dict(named_values(options["parameter"]))
    if options["cell_m"] is not None:
        own = [name for name in _LATTICES if name in {parameter.name for parameter in entry.parameters}]
        if not own:
            raise ParameterError("cell_m", options["cell_m"], f"nothing: {entry.name} counts in no squares")
        parameters.setdefault(own[0], options["cell_m"])
    return Region.parse(options["bbox"]), target, parameters


def _mechanism(
    options: dict[str, Any], region: Region, target: Target, persons: int, parameters: Mapping[str, object]
) -> CentroidMechanism:
    return registry.build_centroid(
        options["mechanism"], target=target, region=region, persons=persons, parameters=parameters
    )


def _promises(mechanism: CentroidMechanism, options: dict[str, Any]) -> tuple[str, ...]:
    radius_m = whole("radius_m", options["radius_m"], low=1, high=10**8)
    return sentences(
        mechanism.guarantee,
        subject="this point",
        radius_m=radius_m,
        diameter_m=mechanism.region.diameter_m,
    )


def _result(point: Point, mechanism: CentroidMechanism) -> dict[str, object]:
    own = {
        parameter.name: getattr(mechanism, parameter.name)
        for parameter in registry.get(mechanism.name).parameters
    }
    exact = {name: exact_text(value) if isinstance(value, Fraction) else value for name, value in own.items()}
    return {
        "centroid": {"lat": point.lat, "lon": point.lon},
        "expected_error_m": point.expected_m,
        "guarantee": mechanism.guarantee.to_json(),
        "parameters": {"persons": mechanism.persons, **exact},
    }
