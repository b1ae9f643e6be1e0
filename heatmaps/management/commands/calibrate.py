"""`manage.py calibrate NAME --epsilon E …`: finds the parameters, guarantee and error for a target."""

from argparse import ArgumentParser
from typing import Any

from heatmaps.management.calibrating import CalibrationOptions, FamilyCalibration, calibrated, names
from heatmaps.management.parsing import PureCommand
from heatmaps.wording.guarantee import decimal


class Command(PureCommand):
    help = (
        "Find the parameters of a mechanism that spend at most the target, and nearly that. Reads no data. "
        "Radius and domain are in the mechanism's own units: cells for local mechanisms, metres for "
        "a central point, steps of one axis for sums of shuffled bits."
    )

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

    def run_on(self, options: dict[str, Any]) -> None:
        texts = CalibrationOptions(
            epsilon=options["epsilon"],
            persons=options["n"],
            delta=options["delta"],
            radius=options["radius"],
            domain=options["domain"],
            max_reports=options["max_reports"],
        )
        calibration = calibrated(options["name"], texts)
        self.tell(options, _result(calibration), _lines(calibration))


def _result(calibration: FamilyCalibration) -> dict[str, object]:
    return {
        "unit": calibration.unit,
        "parameters": calibration.parameters,
        "guarantee": calibration.guarantee.to_json(),
        "expected_error": calibration.expected_error,
    }


def _lines(calibration: FamilyCalibration) -> list[str]:
    loss = decimal(calibration.guarantee.loss(calibration.radius), digits=6)
    delta = decimal(calibration.guarantee.delta, digits=18)
    return [
        *(f"{name}: {value}" for name, value in calibration.parameters.items()),
        f"loss at {float(calibration.radius):g} {calibration.unit}: ε = {loss}, δ = {delta}",
        *(
            f"error, {name.replace('_', ' ')}: {value:.4g} {calibration.unit}"
            for name, value in calibration.expected_error.items()
        ),
    ]
