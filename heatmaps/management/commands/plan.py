"""`manage.py plan --protect PART,METRES,EPSILON …`: finds the loss per metre for protection goals."""

from argparse import ArgumentParser
from typing import Any

from heatmaps.management.parsing import PureCommand
from heatmaps.releases.epsilon.for_protection import PlannedAlpha, plan, rounded_down, wish
from heatmaps.wording.goals import plan_sentences, wish_sentence
from mechanisms.check import ParameterError
from mechanisms.metric.protection_planner import Wish


class Command(PureCommand):
    help = (
        "Find the loss per metre of earth mover's distance that meets every goal, such as: any day of a "
        "month within 1,000 miles and the whole month within 100 miles at 0.2 each: "
        "--protect 1/30,1609344,0.2 --protect 1,160934.4,0.2. Reads no data."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add(
            "--protect",
            action="append",
            required=True,
            metavar="PART,METRES,EPSILON",
            help="a part of a record (1/30, 1), how far it may have moved, and what that may cost",
        )
        add("--radius-m", metavar="R", help="a dataset's radius: prints the epsilon to ask for at it")
        add("--json", action="store_true", help="print one JSON object")

    def run_on(self, options: dict[str, Any]) -> None:
        planned_alpha = plan([_wish(text) for text in options["protect"]], options["radius_m"])
        self.tell(options, _result(planned_alpha), _lines(planned_alpha))


def _wish(text: str) -> Wish:
    parts = text.split(",")
    if len(parts) != 3:
        raise ParameterError("protect", text, "PART,METRES,EPSILON such as 1/30,1000,0.2")
    return wish(*parts)


def _lines(planned_alpha: PlannedAlpha) -> list[str]:
    lines = [wish_sentence(each) for each in planned_alpha.wishes]
    lines.append(f"alpha per metre: {rounded_down(planned_alpha.alpha_per_m)}")
    lines += plan_sentences(planned_alpha.alpha_per_m, planned_alpha.wishes)
    if planned_alpha.epsilon is not None:
        lines.append(f"epsilon at the radius: {rounded_down(planned_alpha.epsilon)}")
    return lines


def _result(planned_alpha: PlannedAlpha) -> dict[str, object]:
    return {
        "alpha_per_m": rounded_down(planned_alpha.alpha_per_m),
        "epsilon": None if planned_alpha.epsilon is None else rounded_down(planned_alpha.epsilon),
        "sentences": list(plan_sentences(planned_alpha.alpha_per_m, planned_alpha.wishes)),
    }
