"""`manage.py calibrate NAME --epsilon E …`: the parameters, guarantee and error that a target leads to."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.management.calibrating import Asked, Calibrated, calibrated, names
from heatmaps.wording.guarantee import decimal
from mechanisms.check import ParameterError


class Command(BaseCommand):
    help = (
        "Find the parameters of a mechanism that spend at most the target, and nearly that. Reads no data. "
        "Radius and domain are in the mechanism's own units: cells for local mechanisms, metres for "
        "a central point, steps of one axis for sums of shuffled bits."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", help=", ".join(names()))
        add("--epsilon", required=True, metavar="E", help="the loss at the radius, a plain decimal")
        add("--n", metavar="N", help="number of persons, where the mechanism depends on it")
        add("--delta", metavar="D", help="probability bound, for shuffled sums (default 1e-9)")
        add("--radius", metavar="K", help="where epsilon is the loss (cells and steps: default 1)")
        add(
            "--domain",
            metavar="k",
            help="cells a side of a square, its metres, or the largest value in steps",
        )
        add("--max-reports", metavar="M", help="of one person, for local mechanisms (default 1)")
        add("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = Asked(
            epsilon=options["epsilon"],
            persons=options["n"],
            delta=options["delta"],
            radius=options["radius"],
            domain=options["domain"],
            max_reports=options["max_reports"],
        )
        try:
            found = calibrated(options["name"], asked)
        except ParameterError as error:
            raise CommandError(str(error)) from error
        for line in [json.dumps(_result(found))] if options["json"] else _lines(found):
            self.stdout.write(line)


def _result(found: Calibrated) -> dict[str, object]:
    return {
        "unit": found.unit,
        "parameters": found.parameters,
        "guarantee": found.guarantee.to_json(),
        "expected_error": found.expected_error,
    }


def _lines(found: Calibrated) -> list[str]:
    loss = decimal(found.guarantee.loss(found.radius), digits=6)
    delta = decimal(found.guarantee.delta, digits=18)
    return [
        *(f"{name}: {value}" for name, value in found.parameters.items()),
        f"loss at {float(found.radius):g} {found.unit}: ε = {loss}, δ = {delta}",
        *(
            f"error, {name.replace('_', ' ')}: {value:.4g} {found.unit}"
            for name, value in found.expected_error.items()
        ),
    ]
