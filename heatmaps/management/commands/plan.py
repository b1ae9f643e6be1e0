"""`manage.py plan --protect PART,METRES,EPSILON …`: what should stay hidden becomes a loss per metre."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.plans import Plan, plan, rounded_down, wish
from heatmaps.wording.plan import wished
from mechanisms.check import ParameterError
from mechanisms.metric.planner import Wish


class Command(BaseCommand):
    help = (
        "Find the loss per metre of earth mover's distance that grants every wish, such as: any day of a "
        "month within 1,000 miles and the whole month within 100 miles at 0.2 each: "
        "--protect 1/30,1609344,0.2 --protect 1,160934.4,0.2. Reads no data."
    )
    requires_system_checks = ()

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

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = plan([_wish(text) for text in options["protect"]], options["radius_m"])
        except ParameterError as error:
            raise CommandError(str(error)) from error
        for line in [json.dumps(_result(found))] if options["json"] else _lines(found):
            self.stdout.write(line)


def _wish(text: str) -> Wish:
    parts = text.split(",")
    if len(parts) != 3:
        raise ParameterError("protect", text, "PART,METRES,EPSILON such as 1/30,1000,0.2")
    return wish(*parts)


def _lines(found: Plan) -> list[str]:
    lines = [wished(each) for each in found.wishes]
    lines += [f"alpha per metre: {rounded_down(found.alpha_per_m)}", *found.sentences]
    if found.epsilon is not None:
        lines.append(f"epsilon at the radius: {rounded_down(found.epsilon)}")
    return lines


def _result(found: Plan) -> dict[str, object]:
    return {
        "alpha_per_m": rounded_down(found.alpha_per_m),
        "epsilon": None if found.epsilon is None else rounded_down(found.epsilon),
        "sentences": list(found.sentences),
    }
