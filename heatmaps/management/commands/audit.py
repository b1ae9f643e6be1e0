"""`manage.py audit NAME`: a statistical lower bound on what a mechanism costs, beside what it claims."""

import json
from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.management.parsing import named_values, whole
from heatmaps.management.progress import Progress
from mechanisms import audit, catalogue
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.interface import HeatmapMechanism, SystemSource, Target

# Grid sides: below, neighbours would share cells; above, all runs would not fit in memory.
LOWEST_RESOLUTION, HIGHEST_RESOLUTION = 4, 16
MOST_DRAWS: Final = 200_000
# Defaults that fit a map of millions of squares show next to nothing on a small grid: the bound would be 0.
TELLING: Final = {"laplace-top": {"keep_percent": "50"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`lower_bound` and `claim` are losses at `delta` between two neighbours of `relation`."""

    mechanism: str
    relation: str
    epsilon: str
    delta: float
    claim: float
    lower_bound: float
    confidence: float
    draws: int
    exceeded: bool


class Command(BaseCommand):
    help = (
        "Draw from two neighbouring made-up inputs and bound the loss from below, for each relation the "
        "mechanism allows. Exit with 1 when a bound exceeds the claim. It refutes claims and proves none."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", help="a heatmap mechanism of the catalogue")
        add("--epsilon", nargs="+", default=["1"], metavar="E", help="plain decimals (default 1)")
        add("--draws", default="20000", metavar="N", help="on each of the two inputs (default 20000)")
        add("--resolution", default="8", help="cells a side, a power of two from 4 to 16 (default 8)")
        add("--parameter", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
        add("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rows = self._rows(options)
        except ParameterError as error:
            raise CommandError(str(error)) from error
        lines = [json.dumps({"rows": [asdict(row) for row in rows]})] if options["json"] else _table(rows)
        for line in lines:
            self.stdout.write(line)
        exceeded = sum(row.exceeded for row in rows)
        if exceeded:
            raise CommandError(f"{exceeded} of {len(rows)} claims of {rows[0].mechanism} are refuted")

    def _rows(self, options: dict[str, Any]) -> list[Row]:
        draws = whole("draws", options["draws"], low=100, high=MOST_DRAWS)
        audited = _mechanisms(options)
        counted = _Counted(Progress(self.stderr, "draw"), 2 * draws * len(audited))
        return [_row(mechanism, epsilon, draws, counted) for mechanism, epsilon in audited]


class _Counted:
    """Passes draws on and tells the progress of all of them."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, draw: audit.Draw) -> audit.Draw:
        def counted(*arguments: Any) -> audit.Matrix:
            self._done += 1
            self._progress(self._done, self._total)
            return draw(*arguments)

        return counted


def _mechanisms(options: dict[str, Any]) -> list[tuple[HeatmapMechanism, str]]:
    """Each relation at each epsilon, everything checked before the first draw."""
    entry = catalogue.get(options["name"])
    if entry.kind != "heatmap":
        raise ParameterError("NAME", entry.name, _names())
    side = whole("resolution", options["resolution"], low=LOWEST_RESOLUTION, high=HIGHEST_RESOLUTION)
    parameters = TELLING.get(entry.name, {}) | named_values(options["parameter"])
    return [
        (
            catalogue.build(
                entry.name,
                target=Target(relation=relation, epsilon=_epsilon(text)),
                resolution=side,
                parameters=parameters,
            ),
            text,
        )
        for relation in Relation
        if relation in entry.relations
        for text in options["epsilon"]
    ]


def _row(mechanism: HeatmapMechanism, epsilon: str, draws: int, counted: _Counted) -> Row:
    guarantee = mechanism.guarantee
    claim = guarantee.loss(INFINITY)
    bound = audit.audit(
        counted(audit.private_part(mechanism)),
        *audit.neighbours(mechanism),
        SystemSource(),
        draws=draws,
        delta=float(guarantee.delta),
    )
    return Row(
        mechanism=mechanism.name,
        relation=mechanism.relation,
        epsilon=epsilon,
        delta=float(guarantee.delta),
        claim=float(claim),
        lower_bound=bound.epsilon,
        confidence=bound.confidence,
        draws=draws,
        exceeded=bound.epsilon > claim,
    )


def _epsilon(text: str) -> Fraction:
    return exact_decimal("epsilon", text, low=0, low_open=True, high=settings.MAX_EPSILON)


def _names() -> str:
    return ", ".join(entry.name for entry in catalogue.entries(kind="heatmap"))


def _table(rows: list[Row]) -> list[str]:
    lines = [f"{'mechanism':<12} {'relation':<10} {'epsilon':>7} {'claim':>9} {'lower bound':>11}  verdict"]
    lines += [
        f"{row.mechanism:<12} {row.relation:<10} {row.epsilon:>7} {row.claim:>9.4f} {row.lower_bound:>11.4f}"
        f"  {'REFUTED: it costs more than it claims' if row.exceeded else 'below its claim'}"
        for row in rows
    ]
    lines.append(
        f"Each bound holds except with probability {1 - rows[0].confidence:.0e} "
        f"({rows[0].draws} draws on each of two neighbours); a bound below the claim proves nothing more."
    )
    return lines
